"""The OpenAPI v2 document, of which kubectl needs the names alone.

kubectl checks a manifest of kind List against this document, because v3 has no List (kubectl `validation`); it reads
it as protobuf only. Every kind is there with any content allowed: the server checks the fields of what it gets, with
the mode of validation that kubectl passes on. Field numbers: gnostic, `OpenAPIv2.proto`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from pytest_microremed.embedded.api.resources import Resource

PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_DOCUMENT_SWAGGER, _DOCUMENT_INFO, _DOCUMENT_PATHS, _DOCUMENT_DEFINITIONS = 1, 2, 8, 9
_INFO_TITLE, _INFO_VERSION = 1, 2
_MAP_ENTRY = 1
_NAMED_NAME, _NAMED_VALUE = 1, 2
_SCHEMA_EXTENSION = 31
_ANY_YAML = 2
_LENGTH_DELIMITED = 2
_KIND_EXTENSION = "x-kubernetes-group-version-kind"


def document(resources: Iterable[Resource]) -> bytes:
    """The protobuf document that names these resources' kinds."""
    definitions = b"".join(_field(_MAP_ENTRY, _definition(resource)) for resource in resources)
    info = _text(_INFO_TITLE, "Kubernetes") + _text(_INFO_VERSION, "unversioned")
    return (
        _text(_DOCUMENT_SWAGGER, "2.0")
        + _field(_DOCUMENT_INFO, info)
        + _field(_DOCUMENT_PATHS, b"")
        + _field(_DOCUMENT_DEFINITIONS, definitions)
    )


def _definition(resource: Resource) -> bytes:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    extension = _text(_NAMED_NAME, _KIND_EXTENSION)
    extension += _field(_NAMED_VALUE, _text(_ANY_YAML, json.dumps([kind])))
    name = ".".join(filter(None, (resource.group, resource.version, resource.kind)))
    return _text(_NAMED_NAME, name) + _field(_NAMED_VALUE, _field(_SCHEMA_EXTENSION, extension))


def _text(number: int, value: str) -> bytes:
    return _field(number, value.encode())


def _field(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*encoded, value))
