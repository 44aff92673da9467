"""Objects in Kubernetes' protobuf encoding, which kubectl sends when it creates by a typed client.

Source: the Kubernetes documentation on alternate representations (the envelope), and the protobuf wire
format.
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from pytest_microremed.embedded.api.decoding import is_omitted
from pytest_microremed.embedded.api.errors import bad_request
from pytest_microremed.embedded.api.protobuf_fields import numbered_fields
from pytest_microremed.embedded.api.schema import Schema, schema_of_kind
from pytest_microremed.embedded.api.store import Object

_MAGIC = b"k8s\x00"
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_META_KINDS = ("DeleteOptions",)
"""Kinds that every group has, with one and the same type."""

_WireValue = int | bytes


def decode(body: bytes) -> Object:
    """The object in an `application/vnd.kubernetes.protobuf` body.

    Raises:
        ApiError: 400 for what is not such a body, or of a kind that is not known.
    """
    if not body.startswith(_MAGIC):
        raise bad_request("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]")
    try:
        envelope = dict(_fields(body[len(_MAGIC) :]))
        type_meta = dict(_fields(_message(envelope.get(1, b""))))
        api_version, kind = _text(type_meta.get(1, b"")), _text(type_meta.get(2, b""))
        schema = _schema(api_version, kind)
        if schema is None:
            raise bad_request(f'no kind "{kind}" is registered for version "{api_version}" in protobuf')
        content = _read_message(_message(envelope.get(2, b"")), kind, schema)
    except (IndexError, ValueError, struct.error) as error:
        raise bad_request(f"the object provided cannot be read as protobuf: {error}") from error
    return {"apiVersion": api_version, "kind": kind, **content}


def _schema(api_version: str, kind: str) -> Schema | None:
    group, _, version = api_version.rpartition("/")
    if kind in _META_KINDS:
        group, version = "", "v1"
    return schema_of_kind(group, version, kind) if numbered_fields(kind) else None


def _fields(data: bytes) -> Iterator[tuple[int, _WireValue]]:
    """The numbers and raw values of a message's fields."""
    position = 0
    while position < len(data):
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if wire_type == _VARINT:
            value, position = _varint(data, position)
            yield number, value
            continue
        if wire_type == _BYTES:
            length, position = _varint(data, position)
        elif wire_type in (_FIXED64, _FIXED32):
            length = 8 if wire_type == _FIXED64 else 4
        else:
            raise ValueError(f"wire type {wire_type}")
        if position + length > len(data):
            raise ValueError("unexpected EOF")
        yield number, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, position


def _read_message(data: bytes, message: str, schema: Schema) -> Object:
    """A message's fields by JSON name. Those that the table or the schema does not know are left out."""
    numbers = numbered_fields(message) or {}
    content: Object = {}
    for number, raw in _fields(data):
        name = numbers.get(number, "")
        if name.startswith("+"):
            content.update(_read_message(_message(raw), name[1:], schema))
            continue
        field = schema.properties.get(name)
        if field is None:
            continue
        if field.type == "array":
            content.setdefault(name, []).append(_read_value(raw, field.item))
        elif field.type == "map":
            entry = dict(_fields(_message(raw)))
            content.setdefault(name, {})[_text(entry.get(1, b""))] = _read_value(entry.get(2, b""), field.item)
        else:
            value = _read_value(raw, field)
            if value is not None and not is_omitted(name, value, field, schema):
                content[name] = value
    return content


def _read_value(raw: _WireValue, schema: Schema) -> Any:
    if schema.type == "object":
        return _read_message(_message(raw), schema.name, schema)
    if schema.type == "array":  # a list in a map's values is a message of its own
        return [_read_value(item, schema.item) for _, item in _fields(_message(raw))]
    if schema.format == "quantity":
        return _text(dict(_fields(_message(raw))).get(1, b""))
    if schema.format == "int-or-string":
        return _int_or_string(_message(raw))
    if schema.format in ("date-time", "micro-time"):
        return _time(_message(raw), schema.format)
    if schema.type == "string":
        return base64.b64encode(_message(raw)).decode() if schema.format == "byte" else _text(raw)
    if schema.type == "boolean":
        return bool(raw)
    if schema.type == "number":
        number: float = struct.unpack("<d", _message(raw))[0]
        return number
    if schema.type == "integer":
        return _signed(raw)
    return json.loads(_message(dict(_fields(_message(raw))).get(1, b"null")))


def _int_or_string(data: bytes) -> int | str:
    fields = dict(_fields(data))
    return _text(fields.get(3, b"")) if fields.get(1) else _signed(fields.get(2, 0))


def _time(data: bytes, form: str) -> str | None:
    """RFC 3339; None for the zero time, which is an empty message."""
    fields = dict(_fields(data))
    if not fields:
        return None
    moment = _EPOCH + timedelta(seconds=_signed(fields.get(1, 0)), microseconds=_signed(fields.get(2, 0)) // 1000)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ" if form == "micro-time" else "%Y-%m-%dT%H:%M:%SZ")


def _signed(raw: _WireValue) -> int:
    if isinstance(raw, bytes):
        raise ValueError("a number was expected")
    return raw - (1 << 64) if raw >> 63 else raw


def _message(raw: _WireValue) -> bytes:
    if isinstance(raw, int):
        raise ValueError("a message was expected")
    return raw


def _text(raw: _WireValue) -> str:
    return _message(raw).decode()
