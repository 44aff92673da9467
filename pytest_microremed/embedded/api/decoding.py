"""Reading an object as its Go type would be read: unknown fields, wrong types, and the form that is stored.

What the API server answers is not the text it was sent: quantities are canonical, and nulls and what is
empty have gone. Errors are worded as its two decoders do: that of JSON (create, replace, JSON and merge
patches), and the converter that strategic merge patches go through.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pytest_microremed.embedded.api.go_format import go_kind, quote
from pytest_microremed.embedded.api.go_types import go_type
from pytest_microremed.embedded.api.quantity import QuantityError, canonical_quantity
from pytest_microremed.embedded.api.schema import Schema
from pytest_microremed.embedded.api.value_formats import KEPT_EMPTY, OMITTED_AT_ZERO

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


class DecodeError(ValueError):
    """The object cannot be read as its type, in the API server's words."""


@dataclass(frozen=True)
class Place:
    """Where the decoder is: the path with indexes, and as Go's errors see it, the struct and its fields."""

    path: str = ""
    struct: str = ""
    fields: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.fields[-1] if self.fields else ""

    def child(self, key: str, struct: str) -> Place:
        return Place(f"{self.path}.{key}" if self.path else key, struct, (*self.fields, key))

    def key(self, key: str) -> Place:
        return Place(f"{self.path}.{key}" if self.path else key, self.struct, self.fields)

    def index(self, index: int) -> Place:
        return Place(f"{self.path}[{index}]", self.struct, self.fields)


Mismatch = Callable[[Any, Schema, Place], str]
"""Words the error for a value that is not of the schema's type."""


def json_mismatch(value: Any, schema: Schema, place: Place) -> str:
    """As Go's JSON decoder says it."""
    received = {bool: "bool", str: "string", list: "array", dict: "object"}.get(type(value), "number")
    if received == "number" and (schema.type == "integer" or schema.format == "int-or-string"):
        received = f"number {value}"
    where = f"{place.struct}.{'.'.join(place.fields)}"
    return f"json: cannot unmarshal {received} into Go struct field {where} of type {go_type(place.name, schema)}"


def converter_mismatch(value: Any, schema: Schema, place: Place) -> str:
    """As the server's converter from maps to objects says it, which knows no path."""
    kind = go_kind(value)
    if schema.type == "object":
        return f"cannot restore struct from: {kind}"
    if schema.type in ("map", "array"):
        return f"cannot restore {'map' if schema.type == 'map' else 'slice'} from {kind}"
    if kind in ("int64", "float64") and schema.type in ("string", "integer"):
        return f"cannot convert {kind} to {go_type(place.name, schema)}"
    return f"unrecognized type: {go_type('', schema)}"


@dataclass
class Decoder:
    """Reads one object; `unknown` then holds the paths of the fields that its type does not have."""

    mismatch: Mismatch = json_mismatch
    unknown: list[str] = field(default_factory=list)
    _error: str | None = None

    def decode(self, obj: dict[str, Any], schema: Schema) -> dict[str, Any]:
        """The object as stored. Raises DecodeError for values of the wrong type."""
        decoded: dict[str, Any] = self._object(obj, schema, Place())
        if self._error is not None:
            raise DecodeError(self._error)
        return decoded

    def _value(self, value: Any, schema: Schema, place: Place) -> Any:
        if schema.type == "object" and isinstance(value, dict):
            return self._object(value, schema, place)
        if schema.type == "map" and isinstance(value, dict):
            return self._map(value, schema, place)
        if schema.type == "array" and isinstance(value, list):
            return self._list(value, schema, place)
        if schema.type in ("object", "map", "array"):
            return self._refuse(value, schema, place)
        return self._scalar(value, schema, place)

    def _object(self, value: dict[str, Any], schema: Schema, place: Place) -> dict[str, Any]:
        decoded = {}
        for key, item in value.items():
            known = schema.properties.get(key)
            if known is None:
                if schema.open or (schema.embedded and key in ("apiVersion", "kind", "metadata")):
                    decoded[key] = item
                else:
                    self.unknown.append(place.key(key).path)
                continue
            if item is None:
                if schema.source is not None and (known.source or {}).get("nullable"):
                    decoded[key] = None
                continue
            kept = self._value(item, known, place.child(key, schema.go_name or place.struct))
            if schema.source is not None or not is_omitted(key, kept, known, schema):
                decoded[key] = kept
        return decoded

    def _map(self, value: dict[str, Any], schema: Schema, place: Place) -> dict[str, Any]:
        return {key: self._item(item, schema.item, place.key(key)) for key, item in value.items()}

    def _list(self, value: list[Any], schema: Schema, place: Place) -> list[Any]:
        return [self._item(item, schema.item, place.index(index)) for index, item in enumerate(value)]

    def _item(self, item: Any, schema: Schema, place: Place) -> Any:
        if item is None and schema.source is None:
            return {"object": {}, "string": "", "integer": 0, "boolean": False}.get(schema.type)
        return self._value(item, schema, place)

    def _scalar(self, value: Any, schema: Schema, place: Place) -> Any:
        if schema.source is not None:
            return value  # custom types are checked against their definition, after defaulting
        if schema.format == "quantity":
            try:
                return canonical_quantity(value)
            except QuantityError as error:
                raise DecodeError(self._error or str(error)) from error
        if schema.format == "int-or-string":
            valid = isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
        elif schema.type == "any":
            valid = True
        elif schema.type == "string":
            if isinstance(value, str) and schema.format:
                return self._formatted_text(value, schema)
            valid = isinstance(value, str)
        elif schema.type == "boolean":
            valid = isinstance(value, bool)
        else:
            valid = _is_number(value, schema)
        return value if valid else self._refuse(value, schema, place)

    def _formatted_text(self, text: str, schema: Schema) -> str:
        if schema.format == "byte":
            try:
                base64.b64decode(text, validate=True)
            except binascii.Error:
                self._error = self._error or f"illegal base64 data at input byte {_bad_byte(text)}"
        elif not _TIME.fullmatch(text):
            raise DecodeError(_time_error(text))
        elif schema.format == "date-time":
            return datetime.fromisoformat(text).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return text

    def _refuse(self, value: Any, schema: Schema, place: Place) -> Any:
        if schema.source is None:
            self._error = self._error or self.mismatch(value, schema, place)
        return value


def _is_number(value: Any, schema: Schema) -> bool:
    if isinstance(value, bool):
        return False
    if schema.type == "number":
        return isinstance(value, int | float)
    return isinstance(value, int) and abs(value) < 2 ** (63 if schema.format == "int64" else 31)


def is_omitted(key: str, value: Any, field_schema: Schema, parent: Schema) -> bool:
    """Whether Go would not write the field (`omitempty`), as it cannot tell this value from none."""
    if key in parent.required:
        return False
    if field_schema.type in ("array", "map"):
        return value in ([], {})
    where = f"{parent.go_name}.{key}"
    if field_schema.type == "string":
        return value == "" and where not in KEPT_EMPTY
    return not value and where in OMITTED_AT_ZERO


def _bad_byte(text: str) -> int:
    valid = re.match(r"[A-Za-z0-9+/]*", text)
    end = valid.end() if valid else 0
    return end if end < len(text) and text[end] != "=" else len(text) - len(text) % 4


def _time_error(text: str) -> str:
    layout = "2006-01-02T15:04:05Z07:00"
    return f"parsing time {quote(text)} as {quote(layout)}: cannot parse {quote(text)} as {quote('2006')}"
