"""Rules of custom resources: their definition's OpenAPI v3 schema, with the API server's words.

Rules in CEL (`x-kubernetes-validations`) are not evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytest_microremed.embedded.api.causes import (
    Causes,
    invalid_value,
    not_supported,
    required,
    too_long,
    too_many,
)
from pytest_microremed.embedded.api.errors import Cause

_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def custom_causes(value: Any, schema: Mapping[str, Any], path: str = "") -> Causes:
    """What breaks the schema, at every depth. The fields that every object has are not looked at."""
    if value is None and schema.get("nullable"):
        return
    shown = path or "<nil>"
    if not _has_type(value, schema):
        expected, received = _expected(schema), _type_name(value)
        detail = f'{shown} in body must be of type {expected}: "{received}"'
        yield Cause(shown, f'Invalid value: "{received}": {detail}', "FieldValueTypeInvalid")
        return
    if "enum" in schema and value not in schema["enum"]:
        yield not_supported(shown, value, [str(choice) for choice in schema["enum"]])
    if isinstance(value, dict):
        yield from _object_causes(value, schema, path)
    elif isinstance(value, list):
        yield from _list_causes(value, schema, path)
    elif isinstance(value, str):
        yield from _text_causes(value, schema, shown)
    elif not isinstance(value, bool):
        yield from _number_causes(value, schema, shown)
    for branch in schema.get("allOf", ()):
        yield from custom_causes(value, branch, path)
    if schema.get("anyOf") and all(_breaks(value, branch, path) for branch in schema["anyOf"]):
        yield invalid_value(shown, value, f"{shown} in body must validate at least one schema (anyOf)")
    if schema.get("oneOf") and sum(not _breaks(value, branch, path) for branch in schema["oneOf"]) != 1:
        yield invalid_value(shown, value, f"{shown} in body must validate one and only one schema (oneOf)")


def _breaks(value: Any, schema: Mapping[str, Any], path: str) -> bool:
    return any(True for _ in custom_causes(value, schema, path))


def _object_causes(value: dict[str, Any], schema: Mapping[str, Any], path: str) -> Causes:
    for name in schema.get("required", ()):
        if name not in value:
            yield required(_child(path, name))
    properties, values = schema.get("properties", {}), schema.get("additionalProperties")
    for key, item in value.items():
        if not path and key in ("apiVersion", "kind", "metadata"):
            continue
        inner = properties.get(key, values)
        if isinstance(inner, Mapping):
            yield from custom_causes(item, inner, _child(path, key))


def _list_causes(value: list[Any], schema: Mapping[str, Any], path: str) -> Causes:
    if len(value) > schema.get("maxItems", len(value)):
        yield too_many(path, len(value), schema["maxItems"])
    if len(value) < schema.get("minItems", 0):
        detail = f"{path} in body should have at least {schema['minItems']} items"
        yield invalid_value(path, len(value), detail)
    for index, item in enumerate(value):
        yield from custom_causes(item, schema.get("items", {}), f"{path}[{index}]")


def _text_causes(value: str, schema: Mapping[str, Any], path: str) -> Causes:
    if len(value) < schema.get("minLength", 0):
        detail = f"{path} in body should be at least {schema['minLength']} chars long"
        yield invalid_value(path, value, detail)
    if len(value) > schema.get("maxLength", len(value)):
        yield too_long(path, schema["maxLength"])
    pattern = schema.get("pattern")
    if pattern and not re.search(pattern, value):
        yield invalid_value(path, value, f"{path} in body should match '{pattern}'")


def _number_causes(value: float, schema: Mapping[str, Any], path: str) -> Causes:
    for detail in _range_errors(value, schema):
        yield invalid_value(path, value, f"{path} in body should be {detail}")


def _range_errors(value: float, schema: Mapping[str, Any]) -> Iterator[str]:
    lowest, highest = schema.get("minimum"), schema.get("maximum")
    if lowest is not None and (value < lowest or (schema.get("exclusiveMinimum") and value == lowest)):
        yield f"greater than {'' if schema.get('exclusiveMinimum') else 'or equal to '}{lowest}"
    if highest is not None and (value > highest or (schema.get("exclusiveMaximum") and value == highest)):
        yield f"less than {'' if schema.get('exclusiveMaximum') else 'or equal to '}{highest}"


def _has_type(value: Any, schema: Mapping[str, Any]) -> bool:
    if schema.get("x-kubernetes-int-or-string"):
        return isinstance(value, int | str) and not isinstance(value, bool)
    types = _TYPES.get(schema.get("type", ""))
    if types is None:
        return True
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))


def _expected(schema: Mapping[str, Any]) -> str:
    return "integer,string" if schema.get("x-kubernetes-int-or-string") else str(schema.get("type"))


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    names = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array"}
    return names.get(type(value), "object")


def _child(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
