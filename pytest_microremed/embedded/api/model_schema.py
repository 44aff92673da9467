"""Built-in types, derived from the model classes of the installed `kubernetes` package (34 and later).

In every version `openapi_types` and `attribute_map` give names, JSON names and types. From 37 on the
classes are pydantic models, which say themselves what is required; before, the setter of a required
attribute refuses None. What they do not give, formats and merge rules, is in tables.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from pytest_microremed.embedded.api.merge_rules import (
    ATOMIC,
    ATOMIC_FIELDS,
    ATOMIC_TYPES,
    GRANULAR_FIELDS,
    MERGE_RULES,
    MergeRule,
)
from pytest_microremed.embedded.api.schema import Schema, SchemaType, Structure
from pytest_microremed.embedded.api.value_formats import BYTES, INT64, INT_OR_STRING, MICRO_TIMES, QUANTITIES

_MODEL_NAME = re.compile(r"(?P<group>[A-Z][a-z]+?)?(?P<version>V\d+(?:(?:alpha|beta)\d+)?)(?P<kind>[A-Z]\w*)")
_CONTAINER = re.compile(r"(?:List|list)\[(?P<list>.+)\]|(?:Dict|dict)(?:\[str, |\(str, )(?P<map>.+)[\])]")
_SCALARS: dict[str, tuple[SchemaType, str]] = {
    "str": ("string", ""),
    "int": ("integer", "int32"),
    "float": ("number", "double"),
    "bool": ("boolean", ""),
    "datetime": ("string", "date-time"),
    "bytes": ("string", "byte"),
    "bytearray": ("string", "byte"),
}
_SPECIAL_FORMATS = (
    ("str", QUANTITIES, "quantity"),
    ("str", BYTES, "byte"),
    ("int", INT64, "int64"),
    ("datetime", MICRO_TIMES, "micro-time"),
)


def find_model(group: str, version: str, kind: str) -> str | None:
    """The class of a kind: those whose names would clash carry their group, as in `CoreV1Event`."""
    models = _models()
    prefix = (group.partition(".")[0] or "core").capitalize()
    version = version.capitalize()
    candidates = (f"{prefix}{version}{kind}", f"{version}{kind}")
    return next((name for name in candidates if hasattr(models, name)), None)


@cache
def model_schema(model: str) -> Schema:
    """The schema of a model class, one for all places where it is used."""
    match = _MODEL_NAME.fullmatch(model)
    if match is None:
        raise LookupError(f"{model} is not the name of a Kubernetes model class")
    group, version, kind = match["group"], match["version"], match["kind"]
    name = ".".join(part for part in ((group or "").lower(), version.lower(), kind) if part)
    return Schema("object", name=name, atomic=kind in ATOMIC_TYPES, load=lambda: _structure(model, kind))


def _models() -> Any:
    from kubernetes.client import models

    return models


def _structure(model: str, kind: str) -> Structure:
    cls = getattr(_models(), model)
    read = _read_pydantic if hasattr(cls, "model_fields") else _read_plain
    properties: dict[str, Schema] = {}
    required = []
    for attribute, json_name in sorted(cls.attribute_map.items(), key=lambda item: item[1]):
        is_required, description = read(cls, attribute, json_name)
        properties[json_name] = _field(f"{kind}.{json_name}", cls.openapi_types[attribute], description)
        if is_required:
            required.append(json_name)
    return Structure(properties, tuple(required), _type_description(cls))


def _field(where: str, declared: str, description: str) -> Schema:
    """The type of a field; `where` is `Container.env`, `declared` as the model says it: `List[V1EnvVar]`."""
    container = _CONTAINER.fullmatch(declared)
    if container is None:
        return _value(where, declared, MERGE_RULES.get(where, MergeRule()), description)
    element = container["list"] or container["map"]
    nested = _CONTAINER.fullmatch(element)
    items = _field("", element, "") if nested else _value(where, element, MergeRule(), "")
    if container["list"]:
        return Schema("array", items=items, rule=MERGE_RULES.get(where, ATOMIC), description=description)
    return Schema("map", items=items, atomic=where in ATOMIC_FIELDS, description=description)


def _value(where: str, declared: str, rule: MergeRule, description: str) -> Schema:
    """The type of a field, or list item or map value, that is itself neither a list nor a map."""
    if declared in _SCALARS or declared == "object":
        type_, format_ = _scalar(where, declared)
        return Schema(type_, format_, open=declared == "object", description=description)
    shared = model_schema(declared)
    return Schema(
        "object",
        name=shared.name,
        rule=rule,
        atomic=shared.atomic and where not in GRANULAR_FIELDS,
        description=description,
        load=lambda: shared.structure,
    )


def _scalar(where: str, declared: str) -> tuple[SchemaType, str]:
    if declared == "object":
        return "any", "int-or-string" if where in INT_OR_STRING else ""
    type_, format_ = _SCALARS[declared]
    special = (special for kind, fields, special in _SPECIAL_FORMATS if kind == declared and where in fields)
    return type_, next(special, format_)


def _read_pydantic(cls: Any, attribute: str, json_name: str) -> tuple[bool, str]:
    """Whether the field is required, and its description (kubernetes 37 and later).

    Attributes that are Python keywords have another name among the fields, so the JSON name decides.
    """
    for name, info in cls.model_fields.items():
        if json_name == (info.serialization_alias or name):
            return bool(info.is_required()), str(info.description or "")
    raise LookupError(f"{cls.__name__} has no field for {attribute}")


def _read_plain(cls: Any, attribute: str, _json_name: str) -> tuple[bool, str]:
    """The same for the classes before pydantic: setters refuse None, getters' docstrings describe."""
    blank = cls.__new__(cls)
    blank.local_vars_configuration = _client_configuration()
    try:
        setattr(blank, attribute, None)
        is_required = False
    except ValueError:
        is_required = True
    paragraphs = (getattr(cls, attribute).__doc__ or "").split("\n\n")
    description = paragraphs[1].replace("# noqa: E501", "").strip() if len(paragraphs) > 1 else ""
    return is_required, "" if description.startswith(":return:") else description


@cache
def _client_configuration() -> Any:
    from kubernetes.client import Configuration

    return Configuration()


def _type_description(cls: Any) -> str:
    first = (cls.__doc__ or "").strip().partition("\n\n")[0]
    return "" if first.startswith("NOTE: This class is auto generated") else first.strip()
