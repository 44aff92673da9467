"""Kubernetes quantities (`250m`, `1.5Gi`, `1e3`) as exact numbers.

Source: the serialization format of `resource.Quantity` in the Kubernetes API reference.
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache

_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "Ei": 2**60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_FORM = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:(Ki|Mi|Gi|Ti|Pi|Ei|[numkMGTPE]?)|[eE]([+-]?\d+))")


@lru_cache(maxsize=4096)
def parse_quantity(text: str | int | float) -> Decimal:
    """The number a quantity stands for: cores, bytes, or a count. Raises ValueError."""
    match = _FORM.fullmatch(str(text))
    if match is None:
        raise ValueError(f"not a quantity: {text!r}")
    number, suffix, exponent = match.groups()
    if suffix in _BINARY:
        return Decimal(number) * _BINARY[suffix]
    return Decimal(number).scaleb(int(exponent) if exponent else _DECIMAL[suffix])


def format_quantity(value: Decimal, *, binary: bool = False) -> str:
    """The canonical form: the largest suffix that keeps the number whole."""
    if value == 0:
        return "0"
    if binary and value == value.to_integral_value() and abs(value) >= 1024:
        whole = [suffix for suffix, factor in _BINARY.items() if value % factor == 0]
        return f"{int(value / _BINARY[whole[-1]])}{whole[-1]}" if whole else str(int(value))
    for suffix, exponent in sorted(_DECIMAL.items(), key=lambda item: -item[1]):
        scaled = value.scaleb(-exponent)
        if scaled == scaled.to_integral_value():
            return f"{int(scaled)}{suffix}"
    return f"{int(value.scaleb(9).to_integral_value(ROUND_CEILING))}n"
