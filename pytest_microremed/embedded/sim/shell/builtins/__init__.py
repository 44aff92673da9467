"""Commands that are part of the shell (POSIX 2.14 "Special Built-In Utilities", and some of 2.9.1's others).

Importing a module registers its commands.
"""

from __future__ import annotations

import importlib
from functools import cache


@cache
def load() -> None:
    """Register all built-in commands."""
    for name in ("flow", "variables"):
        importlib.import_module(f"{__name__}.{name}")
