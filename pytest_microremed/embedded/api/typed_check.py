"""Whether an applied configuration has the form of its type: what server-side apply refuses, in its words.

Source: `sigs.k8s.io/structured-merge-diff/typed` (validation), whose texts the API server passes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_microremed.embedded.api.field_paths import format_path
from pytest_microremed.embedded.api.go_format import format_json, format_value, go_type
from pytest_microremed.embedded.api.schema import Schema
from pytest_microremed.embedded.api.typed_value import TypedValueError, list_elements


def check_typed(value: Any, schema: Schema) -> None:
    """Raises TypedValueError for fields that the type does not have, and for values not of its form."""
    errors = list(_errors(value, schema, ""))
    if len(errors) == 1:
        raise TypedValueError(errors[0])
    if errors:
        raise TypedValueError("\n".join(["errors:", *(f"  {error}" for error in errors)]))


def _errors(value: Any, schema: Schema, path: str) -> Iterator[str]:
    if value is None or schema.type == "any":
        if schema.format == "int-or-string" and isinstance(value, dict | list):
            yield f"{path}: expected any scalar, got {_go_pointer(value)}"
    elif schema.type in ("object", "map"):
        if isinstance(value, dict):
            yield from _map_errors(value, schema, path)
        else:
            yield f"{path}: expected map, got {_go_pointer(value)}"
    elif schema.type == "array":
        if isinstance(value, list):
            yield from _list_errors(value, schema, path)
        else:
            yield f"{path}: expected list, got {_go_pointer(value)}"
    elif problem := _scalar_problem(value, schema):
        yield f"{path}: {problem}"


def _map_errors(value: dict[str, Any], schema: Schema, path: str) -> Iterator[str]:
    for key, item in value.items():
        here = f"{path}.{key}"
        if schema.type == "object" and key not in schema.properties and not schema.open:
            yield f"{here}: field not declared in schema"
            return
        yield from _errors(item, schema.child(key), here)


def _list_errors(items: list[Any], schema: Schema, path: str) -> Iterator[str]:
    keyed = schema.rule.list_type in ("map", "set")
    try:
        elements = list_elements(items, schema) if keyed else [f"i:{index}" for index in range(len(items))]
    except TypedValueError as error:
        yield f"{path}: {error}"
        return
    seen: set[str] = set()
    for item, element in zip(items, elements, strict=True):
        shown = format_path((element,))
        if element in seen:
            yield f"{path}: duplicate entries for key {shown}"
        seen.add(element)
        yield from _errors(item, schema.item, f"{path}{shown}")


def _scalar_problem(value: Any, schema: Schema) -> str | None:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if schema.format in ("quantity", "date-time", "micro-time"):
        return f"expected any scalar, got {_go_pointer(value)}" if isinstance(value, dict | list) else None
    if schema.type == "string" and not isinstance(value, str):
        return f"expected string, got &value.valueUnstructured{{Value:{format_json(value)}}}"
    if schema.type in ("integer", "number") and not number:
        return f"expected numeric (int or float), got {go_type(value)}"
    if schema.type == "boolean" and not isinstance(value, bool):
        return f"expected boolean, got {_go_pointer(value)}"
    return None


def _go_pointer(value: Any) -> str:
    """Go's `%v` of a pointer to a struct that holds the value."""
    return f"&{{{format_value(value)}}}"
