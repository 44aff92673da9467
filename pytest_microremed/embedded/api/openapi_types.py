"""Schemas as OpenAPI v3 writes them, the `x-kubernetes-*` markers included."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.schema import Schema

Definition = dict[str, Any]

_PREFIX = "io.k8s."
_FORMATS: dict[str, tuple[str, Definition]] = {
    "quantity": ("api.resource.Quantity", {"oneOf": [{"type": "string"}, {"type": "number"}]}),
    "int-or-string": (
        "util.intstr.IntOrString",
        {"format": "int-or-string", "oneOf": [{"type": "integer"}, {"type": "string"}]},
    ),
    "date-time": ("meta.v1.Time", {"type": "string", "format": "date-time"}),
    "micro-time": ("meta.v1.MicroTime", {"type": "string", "format": "date-time"}),
}


def definition_name(group: str, schema: Schema) -> str:
    """The name of a kind's own definition: clients show what follows the last dot."""
    return f"{_PREFIX}{group.partition('.')[0] or 'core'}.{schema.name}"


class TypeWriter:
    """Collects the definitions that kinds need."""

    def __init__(self) -> None:
        self.definitions: dict[str, Definition] = {}

    def add_kind(self, name: str, schema: Schema, kind: dict[str, str]) -> None:
        """Define a kind under `name`, and all types it reaches."""
        definition = self._structure(schema) if schema.source is None else self._custom_kind(schema)
        self.definitions[name] = {**definition, "x-kubernetes-group-version-kind": [kind]}

    def _structure(self, schema: Schema) -> Definition:
        properties = {name: self._field(field) for name, field in schema.properties.items()}
        definition: Definition = {"type": "object"}
        if schema.structure.description:
            definition["description"] = schema.structure.description
        if properties:
            definition["properties"] = properties
        if schema.required:
            definition["required"] = list(schema.required)
        if schema.atomic:
            definition["x-kubernetes-map-type"] = "atomic"
        return definition

    def _custom_kind(self, schema: Schema) -> Definition:
        """A custom type is written as it was defined, with the fields that every object has."""
        source = dict(schema.source or {})
        common = {name: self._field(schema.properties[name]) for name in ("apiVersion", "kind", "metadata")}
        source["properties"] = {**source.get("properties", {}), **common}
        return {"type": "object", **source}

    def _field(self, schema: Schema) -> Definition:
        """The definition of a field: its type, what it is for and how it merges."""
        extras = _markers(schema)
        if schema.description:
            extras["description"] = schema.description
        definition = self._type(schema)
        if "$ref" in definition and extras:
            return {"allOf": [definition], **extras}
        return {**definition, **extras}

    def _type(self, schema: Schema) -> Definition:
        if schema.format in _FORMATS:
            name, definition = _FORMATS[schema.format]
            self.definitions.setdefault(f"{_PREFIX}{name}", definition)
            return _reference(f"{_PREFIX}{name}")
        if schema.type == "object":
            name = f"{_PREFIX}{schema.name}"
            if name not in self.definitions:
                self.definitions[name] = {}  # types may contain themselves
                self.definitions[name] = self._structure(schema)
            return _reference(name)
        if schema.type == "array":
            return {"type": "array", "items": self._field(schema.item)}
        if schema.type == "map":
            return {"type": "object", "additionalProperties": self._field(schema.item)}
        if schema.type == "any":
            return {"type": "object"}
        return {"type": schema.type, **({"format": schema.format} if schema.format else {})}


def _reference(name: str) -> Definition:
    return {"$ref": f"#/components/schemas/{name}"}


def _markers(schema: Schema) -> Definition:
    rule = schema.rule
    markers = {
        "x-kubernetes-list-type": rule.list_type,
        "x-kubernetes-list-map-keys": list(rule.map_keys),
        "x-kubernetes-patch-merge-key": rule.patch_key,
        "x-kubernetes-patch-strategy": ",".join(rule.patch_strategies),
        "x-kubernetes-map-type": "atomic" if schema.type == "map" and schema.atomic else "",
    }
    return {name: value for name, value in markers.items() if value}
