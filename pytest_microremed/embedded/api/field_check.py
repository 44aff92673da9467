"""Unknown fields and wrong types: what `fieldValidation` (Strict, Warn, Ignore) decides on."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.decoding import (
    DecodeError,
    Decoder,
    converter_mismatch,
    json_mismatch,
)
from pytest_microremed.embedded.api.errors import ApiError, Cause, bad_request, invalid
from pytest_microremed.embedded.api.go_format import format_json, format_value, quote
from pytest_microremed.embedded.api.patch import STRATEGIC_PATCH
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.schema import schema_of
from pytest_microremed.embedded.api.store import Object

_MOST_ERRORS = 100


def check_fields(
    resource: Resource, obj: Object, mode: str, *, patch: tuple[str, Any] | None = None
) -> tuple[Object, list[str]]:
    """The object as its type has it, without fields that the type does not know, and warnings of those.

    Args:
        mode: `Strict` refuses unknown fields, `Warn` warns of them, `Ignore` drops them silently.
        patch: content type and document, if the object is the result of a patch: errors then blame that.

    Raises:
        ApiError: a value of the wrong type, or Strict and an unknown field: 400, or 422 if by a patch.
    """
    strategic = patch is not None and patch[0] == STRATEGIC_PATCH
    decoder = Decoder(converter_mismatch if strategic else json_mismatch)
    try:
        decoded = decoder.decode(obj, schema_of(resource))
    except DecodeError as error:
        raise _error(resource, obj, str(error), patch) from error
    problems = [f"unknown field {quote(path)}" for path in decoder.unknown]
    if strategic:
        problems.sort()
    if problems and mode == "Strict":
        listed = ", ".join(problems[:_MOST_ERRORS])
        raise _error(resource, obj, f"strict decoding error: {listed}", patch)
    return decoded, problems if mode == "Warn" else []


def _error(resource: Resource, obj: Object, message: str, patch: tuple[str, Any] | None) -> ApiError:
    if patch is None:
        what = f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}'
        return bad_request(f"{what}: {message}")
    shown = format_value(patch[1]) if patch[0] == STRATEGIC_PATCH else format_json(obj)
    return invalid("", "", "", [Cause("patch", f"Invalid value: {quote(shown)}: {message}")])
