"""Quantities (`250m`, `1.5Gi`) as the API server reads and writes them.

It stores the number, not the text, and answers the canonical form: `1` for `1000m`, `1Gi` for `1024Mi`
(Kubernetes: `k8s.io/apimachinery/pkg/api/resource`).
"""

from __future__ import annotations

import re
from decimal import ROUND_CEILING, Decimal
from functools import lru_cache
from typing import Any

_WRONG = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_UNKNOWN_SUFFIX = "unable to parse quantity's suffix"
_FORM = re.compile(r"(?P<number>[+-]?\d*\.?\d*)(?P<suffix>[eEinumkKMGTP]*[-+]?\d*)")
_EXPONENT = re.compile(r"[eE]([-+]?\d+)")
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_SMALLEST = -9
_DECIMAL_SUFFIXES = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_STEP = 1024


class QuantityError(ValueError):
    """Not a quantity, in the API server's words."""


def parse_quantity(value: Any) -> Decimal:
    """The number that a quantity, or a plain JSON number, stands for. Raises QuantityError."""
    return _parse(_text(value))[0]


def canonical_quantity(value: Any) -> str:
    """The form in which the API server answers it. Raises QuantityError."""
    number, family = _parse(_text(value))
    if family == "binary":
        if abs(number) < _STEP or number != number.to_integral_value():
            family = "decimal"
        else:
            whole, power = int(number), 0
            while whole % _STEP == 0:
                whole, power = whole // _STEP, power + 1
            suffix = {exponent // 10: name for name, exponent in _BINARY.items()}.get(power, "")
            return f"{whole}{suffix}"
    digits, exponent = _thousands(number)
    if family == "exponent":
        return f"{digits}e{exponent}" if exponent else f"{digits}"
    return f"{digits}{_DECIMAL_SUFFIXES[exponent]}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise QuantityError(_WRONG)


@lru_cache(maxsize=4096)
def _parse(text: str) -> tuple[Decimal, str]:
    """The number, and which family of suffixes it was written with: `binary`, `decimal` or `exponent`."""
    match = _FORM.fullmatch(text)
    if not text or match is None:
        raise QuantityError(_WRONG)
    number, suffix = match["number"], match["suffix"]
    if not any(character.isdigit() for character in number):
        number = "0"
    exponent = _EXPONENT.fullmatch(suffix)
    if suffix in _BINARY:
        value, family = Decimal(number) * 2 ** _BINARY[suffix], "binary"
    elif suffix in _DECIMAL:
        value, family = Decimal(number).scaleb(_DECIMAL[suffix]), "decimal"
    elif exponent:
        value, family = Decimal(number).scaleb(int(exponent[1])), "exponent"
    else:
        raise QuantityError(_UNKNOWN_SUFFIX)
    return value.quantize(Decimal(1).scaleb(_SMALLEST), ROUND_CEILING) if _is_too_fine(value) else value, family


def _is_too_fine(value: Decimal) -> bool:
    exponent = value.as_tuple().exponent
    return (
        isinstance(exponent, int)
        and exponent < _SMALLEST
        and value != value.quantize(Decimal(1).scaleb(_SMALLEST), ROUND_CEILING)
    )


def _thousands(number: Decimal) -> tuple[int, int]:
    """A whole number, and the highest multiple of three as power of ten that leaves it whole."""
    if number == 0:
        return 0, 0
    exponent = max(_DECIMAL.values())
    while number.scaleb(-exponent) != number.scaleb(-exponent).to_integral_value():
        exponent -= 3
    return int(number.scaleb(-exponent)), exponent
