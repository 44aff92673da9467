"""Custom types, from the OpenAPI v3 schema of their CustomResourceDefinition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_microremed.embedded.api.merge_rules import MergeRule
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.schema import Schema, SchemaType, Structure

_TYPES: dict[str, SchemaType] = {
    "array": "array",
    "string": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}


def custom_schema(resource: Resource) -> Schema:
    """The schema of a custom resource's objects: apiVersion, kind and metadata are those of every object."""
    source = resource.schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    inner = _node(source)
    return Schema(
        "object",
        name=f"{resource.version}.{resource.kind}",
        open=inner.open,
        source=source,
        load=lambda: _whole_object(inner),
    )


def _whole_object(inner: Schema) -> Structure:
    from pytest_microremed.embedded.api.model_schema import model_schema

    text = Schema("string")
    common = {"apiVersion": text, "kind": text, "metadata": model_schema("V1ObjectMeta")}
    return Structure({**inner.properties, **common}, inner.required, inner.description)


def _node(source: Mapping[str, Any]) -> Schema:
    """One node of the definition. Lists are atomic and maps granular unless it says otherwise."""
    description = str(source.get("description", ""))
    if source.get("x-kubernetes-int-or-string"):
        return Schema("any", "int-or-string", open=True, description=description, source=source)
    type_ = source.get("type")
    atomic = source.get("x-kubernetes-map-type") == "atomic"
    preserve = bool(source.get("x-kubernetes-preserve-unknown-fields"))
    if type_ == "array":
        items = _node(source.get("items") or {})
        keys = tuple(source.get("x-kubernetes-list-map-keys", ()))
        rule = MergeRule(source.get("x-kubernetes-list-type", "atomic"), keys)
        return Schema("array", items=items, rule=rule, description=description, source=source)
    if type_ in _TYPES:
        return Schema(_TYPES[type_], str(source.get("format", "")), description=description, source=source)
    if type_ != "object":
        return Schema("any", open=True, description=description, source=source)
    values = source.get("additionalProperties")
    if values and "properties" not in source:
        items = _node(values if isinstance(values, Mapping) else {})
        return Schema("map", items=items, atomic=atomic, description=description, source=source)
    embedded = bool(source.get("x-kubernetes-embedded-resource"))
    return Schema(
        "object",
        open=preserve,
        embedded=embedded,
        atomic=atomic,
        description=description,
        source=source,
        load=lambda: _structure(source),
    )


def _structure(source: Mapping[str, Any]) -> Structure:
    properties = {name: _node(node) for name, node in source.get("properties", {}).items()}
    return Structure(properties, tuple(source.get("required", ())))
