"""The commands that containers have, by subject. Importing a module registers its commands."""

from __future__ import annotations

import importlib
import pkgutil


def load() -> None:
    """Register all commands."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
