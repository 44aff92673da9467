"""Awk's values: numbers, strings, and strings from the input that look like numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeAlias


class Input(str):
    """A string from the input, compared as a number where it looks like one (POSIX: numeric string)."""

    __slots__ = ()


Value: TypeAlias = float | str
_NUMBER = re.compile(r"\s*[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_DIRECTIVE = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?([a-zA-Z%])")


def from_input(text: str) -> Input:
    return Input(text)


def to_number(value: Value) -> float:
    """The number that the value begins with; 0 if there is none."""
    if isinstance(value, float):
        return value
    match = _NUMBER.match(value)
    return float(match[0]) if match else 0.0


def to_text(value: Value) -> str:
    if isinstance(value, str):
        return str(value)
    if value == int(value) if abs(value) < 1e16 else False:
        return str(int(value))
    return f"{value:.6g}"


def looks_numeric(value: Value) -> bool:
    if isinstance(value, float):
        return True
    return isinstance(value, Input) and bool(re.fullmatch(_NUMBER.pattern + r"\s*", value))


def truth(value: Value) -> bool:
    if looks_numeric(value):
        return to_number(value) != 0
    return value != ""


def compare(left: Value, operator: str, right: Value) -> bool:
    """By number if both sides are numbers or look like ones (or are unset), else by text."""
    numeric = [looks_numeric(value) or (isinstance(value, Input) and value == "") for value in (left, right)]
    a: float | str
    b: float | str
    if all(numeric) and not (left == "" and right == ""):
        a, b = to_number(left), to_number(right)
    else:
        a, b = to_text(left), to_text(right)
    order = (a > b) - (a < b)  # type: ignore[operator]
    return {"<": order < 0, "<=": order <= 0, "==": order == 0, "!=": order != 0, ">": order > 0, ">=": order >= 0}[
        operator
    ]


def formatted(form: str, values: Sequence[Value]) -> str:
    """`printf`: missing arguments count as empty."""
    left = list(values)

    def piece(match: re.Match[str]) -> str:
        flags, width, precision, kind = match.groups()
        if kind == "%":
            return "%"
        shape = f"%{flags}" + (_integer(left) if width == "*" else width or "")
        if "." in match[0]:
            shape += "." + (_integer(left) if precision == "*" else precision or "0")
        value = left.pop(0) if left else ""
        if kind == "c":
            return (shape + "s") % (chr(int(value)) if isinstance(value, float) else str(value)[:1])
        if kind in "di":
            return (shape + "d") % int(to_number(value))
        if kind in "oxXu":
            return (shape + kind.replace("u", "d")) % int(to_number(value))
        if kind in "eEfFgG":
            return (shape + kind) % to_number(value)
        return (shape + "s") % to_text(value)

    return _DIRECTIVE.sub(piece, form)


def _integer(values: list[Value]) -> str:
    return str(int(to_number(values.pop(0)))) if values else "0"
