"""Values as Go prints them: the form they have inside the API server's messages."""

from __future__ import annotations

import json
from typing import Any


def format_value(value: Any) -> str:
    """Go's `%v`: `map[a:1 b:[x y]]`, keys sorted, strings bare."""
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{format_value(value[key])}' for key in sorted(value))}]"
    if isinstance(value, list):
        return f"[{' '.join(format_value(item) for item in value)}]"
    if isinstance(value, float):
        return _format_float(value)
    return str(value)


_GO_TYPES: dict[type, str] = {
    dict: "map[string]interface {}",
    list: "[]interface {}",
    str: "string",
    bool: "bool",
    int: "int64",
    float: "float64",
}


def go_type(value: Any) -> str:
    """Go's `%T` of a decoded JSON value."""
    return _GO_TYPES.get(type(value), "<nil>")


def go_kind(value: Any) -> str:
    """Go's `reflect.Kind` of a decoded JSON value."""
    if isinstance(value, dict | list):
        return "map" if isinstance(value, dict) else "slice"
    return go_type(value)


def format_json(value: Any) -> str:
    """Go's `json.Marshal`: no spaces, keys sorted, and `<`, `>` and `&` escaped."""
    text = json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def quote(text: str) -> str:
    """Go's `%q`."""
    return json.dumps(text, ensure_ascii=False)


def _format_float(value: float) -> str:
    exponent = int(f"{value:e}".partition("e")[2])
    if -4 <= exponent < 21:
        text = repr(value) if "e" not in repr(value) else f"{value:f}"
        return text.removesuffix(".0")
    mantissa, _, power = repr(value).partition("e")
    return f"{mantissa.removesuffix('.0')}e{int(power):+03d}"
