"""The types of the served resources: what fields an object has, of what type, and how they merge.

Built-in types are derived from the model classes of the `kubernetes` package and custom types from their
definition. Both happen on first use, never at server start, and are kept for the life of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, Literal

from pytest_microremed.embedded.api.merge_rules import MergeRule
from pytest_microremed.embedded.api.resources import Resource

SchemaType = Literal["object", "map", "array", "string", "integer", "number", "boolean", "any"]


@dataclass(frozen=True)
class Structure:
    """The named fields of an object type."""

    properties: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    description: str = ""


_NOTHING = Structure({})


@dataclass(frozen=True, eq=False)
class Schema:
    """The type of one field, or of a whole object."""

    type: SchemaType
    format: str = ""
    """Nothing, or `int32`, `int64`, `double`, `byte`, `date-time`, `micro-time`, `quantity`, `int-or-string`."""
    name: str = ""
    """Of an object type: version and Go type, `v1.Container`."""
    items: Schema | None = None
    """The type of a list's items or of a map's values."""
    rule: MergeRule = field(default=MergeRule())
    atomic: bool = False
    """Server-side apply owns an object or map of this type as a whole."""
    open: bool = False
    """Fields that are not named are kept (`x-kubernetes-preserve-unknown-fields`)."""
    embedded: bool = False
    """The field holds a whole Kubernetes object (`x-kubernetes-embedded-resource`)."""
    description: str = ""
    source: Mapping[str, Any] | None = None
    """Of a custom type: its OpenAPI v3 schema as the definition has it."""
    load: Callable[[], Structure] = field(default=lambda: _NOTHING, repr=False)

    @cached_property
    def structure(self) -> Structure:
        """The fields of an object type, loaded when first asked for."""
        return self.load()

    @property
    def properties(self) -> Mapping[str, Schema]:
        """The named fields; empty for anything but objects."""
        return self.structure.properties

    @property
    def required(self) -> tuple[str, ...]:
        """The fields that must be there, in the order of the definition."""
        return self.structure.required

    @property
    def go_name(self) -> str:
        """`Container`: the type's name as decoding errors give it."""
        return self.name.rpartition(".")[2]

    def child(self, key: str) -> Schema:
        """The type of the value under `key`; anything where the schema does not know it."""
        known = self.properties.get(key)
        if known is not None:
            return known
        return self.items if self.type == "map" and self.items is not None else ANY

    @property
    def item(self) -> Schema:
        """The type of a list's items; anything where the schema does not know it."""
        return self.items or ANY


ANY = Schema("any", open=True)


def schema_of(resource: Resource) -> Schema:
    """The schema of the resource's objects. Asking for a built-in one imports the `kubernetes` package."""
    if resource.custom:
        from pytest_microremed.embedded.api.custom_schema import custom_schema

        return custom_schema(resource)
    return _built_in_schema(resource)


def schema_of_kind(group: str, version: str, kind: str) -> Schema | None:
    """The schema of a built-in kind, stored (`Pod`) or not (`DeleteOptions`, `Scale`); None if not known."""
    from pytest_microremed.embedded.api.model_schema import find_model, model_schema

    model = find_model(group, version, kind)
    return None if model is None else model_schema(model)


@cache
def _built_in_schema(resource: Resource) -> Schema:
    schema = schema_of_kind(resource.group, resource.version, resource.kind)
    if schema is None:
        kind = f"{resource.api_version} {resource.kind}"
        raise LookupError(f"the installed kubernetes package has no model of {kind}")
    return schema
