"""Kubernetes quantities: `500m`, `64Ki`, `1e9` (Kubernetes API reference: Quantity)."""

from __future__ import annotations

import re
from decimal import Decimal

_SUFFIXES: dict[str, Decimal] = {
    "n": Decimal("1e-9"),
    "u": Decimal("1e-6"),
    "m": Decimal("1e-3"),
    "": Decimal(1),
    **{suffix: Decimal(1000) ** power for power, suffix in enumerate("kMGTPE", 1)},
    **{f"{suffix}i": Decimal(1024) ** power for power, suffix in enumerate("KMGTPE", 1)},
}
_FORM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+)|(n|u|m|k|Ki|[MGTPE]i?)|)")


def parse_quantity(text: str | int | float) -> float:
    """The number of cores, bytes or pieces. ValueError for what the API server would refuse."""
    form = _FORM.fullmatch(str(text).strip())
    if form is None:
        raise ValueError(f"{text!r} is not a Kubernetes quantity")
    number, exponent, suffix = form.groups()
    if exponent:
        return float(Decimal(number).scaleb(int(exponent)))
    return float(Decimal(number) * _SUFFIXES[suffix or ""])


def format_quantity(value: float, *, binary: bool = False) -> str:
    """The shortest exact form: `binary` gives bytes (`64Ki`), otherwise `250m`, `2`, down to nano.

    What is finer than a nano is rounded, as the API server does.
    """
    exact = Decimal(str(value)).quantize(_SUFFIXES["n"])
    suffixes = [s for s in _SUFFIXES if len(s) == 2] if binary else list("kMGTPE")
    for suffix in reversed(suffixes):
        if exact and exact % _SUFFIXES[suffix] == 0:
            return f"{int(exact / _SUFFIXES[suffix])}{suffix}"
    for suffix in ("", "m", "u", "n"):
        scaled = exact / _SUFFIXES[suffix]
        if scaled == int(scaled):
            return f"{int(scaled)}{suffix}"
    raise AssertionError("a multiple of a nano has a form")
