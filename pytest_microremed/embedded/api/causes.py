"""The kinds of broken rules, in the API server's words (`k8s.io/apimachinery/pkg/util/validation/field`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from pytest_microremed.embedded.api.errors import Cause
from pytest_microremed.embedded.api.go_format import format_json, format_value, quote

Causes = Iterator[Cause]

IMMUTABLE = "field is immutable"
NEGATIVE = "must be greater than or equal to 0"


def required(path: str, detail: str = "") -> Cause:
    return Cause(path, _with_detail("Required value", detail), "FieldValueRequired")


def invalid_value(path: str, value: Any, detail: str) -> Cause:
    return Cause(path, _with_detail(f"Invalid value: {_show(value)}", detail), "FieldValueInvalid")


def not_supported(path: str, value: Any, supported: Sequence[str]) -> Cause:
    listed = ", ".join(quote(text) for text in supported)
    message = f"Unsupported value: {_show(value)}: supported values: {listed}"
    return Cause(path, message, "FieldValueNotSupported")


def duplicate(path: str, value: Any) -> Cause:
    return Cause(path, f"Duplicate value: {_show(value)}", "FieldValueDuplicate")


def not_found_value(path: str, value: Any) -> Cause:
    return Cause(path, f"Not found: {_show(value)}", "FieldValueNotFound")


def forbidden_value(path: str, detail: str) -> Cause:
    return Cause(path, _with_detail("Forbidden", detail), "FieldValueForbidden")


def too_long(path: str, most_bytes: int) -> Cause:
    return Cause(path, f"Too long: may not be more than {most_bytes} bytes", "FieldValueTooLong")


def too_many(path: str, count: int, most: int) -> Cause:
    return Cause(path, f"Too many: {count}: must have at most {most} items", "FieldValueTooMany")


def all_invalid(path: str, value: Any, details: Iterable[str]) -> Causes:
    """One cause for each thing that is wrong with a value."""
    for detail in details:
        yield invalid_value(path, value, detail)


def not_negative(path: str, value: Any) -> Causes:
    """The rule of most numbers; a value that is not there is fine."""
    if value is not None and value < 0:
        yield invalid_value(path, value, NEGATIVE)


def one_of(path: str, value: Any, supported: Sequence[str]) -> Causes:
    """The rule of enumerations that must have a value."""
    if not value:
        yield required(path)
    elif value not in supported:
        yield not_supported(path, value, supported)


def unchanged(path: str, new: Any, old: Any) -> Causes:
    """The rule of fields that are set once."""
    if new != old:
        yield invalid_value(path, new, IMMUTABLE)


def _with_detail(text: str, detail: str) -> str:
    return f"{text}: {detail}" if detail else text


def _show(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, str):
        return quote(value)
    return format_json(value) if isinstance(value, dict | list) else format_value(value)
