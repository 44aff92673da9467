"""The commands that containers have, by subject. Importing a module registers its commands."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache


@cache
def load() -> None:
    """Register all commands. Done when the first is looked for: a cluster that has just started has no container."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
