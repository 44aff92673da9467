"""Where the data of the benchmark is: inside the package when installed from a wheel, beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent


def fixtures_dir() -> Path:
    """The folder with systems/, faults/, playbooks/ (`fixtures/` of a checkout, `data/` of a wheel)."""
    packaged = _PACKAGE / "data"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "fixtures"


def cases_dir() -> Path:
    """The folder with the frozen case lists."""
    packaged = _PACKAGE / "cases"
    return packaged if packaged.is_dir() else _PACKAGE.parent / "cases"
