"""The derived types, compared with an independent copy of the official schema (`kubernetes_validate`)."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pytest

from pytest_microremed.embedded.api.model_schema import model_schema
from pytest_microremed.embedded.api.resources import BUILT_IN, Resource
from pytest_microremed.embedded.api.schema import Schema, schema_of

Definition = dict[str, Any]

_SPECIAL = {
    "Quantity": ("string", "quantity"),
    "IntOrString": ("any", "int-or-string"),
    "Time": ("string", "date-time"),
    "MicroTime": ("string", "micro-time"),
}


@cache
def official() -> dict[str, Definition]:
    import kubernetes
    import kubernetes_validate

    minor = kubernetes.__version__.partition(".")[0]
    folder = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v1.{minor}.0-local"
    definitions: dict[str, Definition] = json.loads((folder / "_definitions.json").read_text())["$defs"]
    return definitions


def definition_of(resource: Resource) -> str:
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    return next(
        name for name, definition in official().items() if kind in definition.get("x-kubernetes-group-version-kind", ())
    )


@pytest.mark.parametrize("resource", BUILT_IN, ids=lambda resource: resource.qualified)
def test_every_type_that_the_kind_reaches_is_the_official_one(resource: Resource) -> None:
    reference = {"$ref": f"#/$defs/{definition_of(resource)}"}
    assert list(differences(resource.kind, reference, schema_of(resource), set())) == []


def differences(where: str, theirs: Definition, ours: Schema, seen: set[str]) -> Iterator[str]:
    """Where the official field and the derived one differ, in types, fields, required ones and merge rules."""
    if isinstance(theirs.get("$ref"), str):
        yield from reference_differences(where, theirs, ours, seen)
        return
    types = theirs.get("type")
    type_ = types[0] if isinstance(types, list) else types
    if type_ == "array":
        yield from list_differences(where, theirs, ours)
        yield from differences(f"{where}[]", theirs["items"], ours.item, seen)
    elif "additionalProperties" in theirs:
        atomic = theirs.get("x-kubernetes-map-type") == "atomic"
        if (ours.type, ours.atomic) != ("map", atomic):
            yield f"{where}: map, atomic {atomic}; got {ours.type}, {ours.atomic}"
        yield from differences(f"{where}{{}}", theirs["additionalProperties"], ours.item, seen)
    elif (type_, theirs.get("format", "")) != (ours.type, ours.format) and ours.type != "any":
        yield f"{where}: {type_} {theirs.get('format')}; got {ours.type} {ours.format}"


def reference_differences(where: str, theirs: Definition, ours: Schema, seen: set[str]) -> Iterator[str]:
    name = theirs["$ref"].rpartition("/")[2]
    kind = name.rpartition(".")[2]
    definition = official()[name]
    if kind in _SPECIAL:
        if (ours.type, ours.format) != _SPECIAL[kind]:
            yield f"{where}: {kind}; got {ours.type} {ours.format}"
        return
    if "properties" not in definition:
        return
    atomic = definition.get("x-kubernetes-map-type") == "atomic"
    atomic = atomic and theirs.get("x-kubernetes-map-type") != "granular"
    if (ours.type, ours.atomic) != ("object", atomic):
        yield f"{where}: object, atomic {atomic}; got {ours.type}, {ours.atomic}"
    strategy = ",".join(ours.rule.patch_strategies)
    if strategy != theirs.get("x-kubernetes-patch-strategy", "") and not where.endswith("[]"):
        yield f"{where}: {theirs.get('x-kubernetes-patch-strategy')}; got {strategy}"
    if name in seen:
        return
    seen.add(name)
    if set(definition["properties"]) != set(ours.properties):
        yield f"{where}: fields {set(definition['properties']) ^ set(ours.properties)}"
    if sorted(definition.get("required", [])) != sorted(ours.required):
        yield f"{where}: required {definition.get('required')}; got {ours.required}"
    for field in set(definition["properties"]) & set(ours.properties):
        inner = definition["properties"][field]
        yield from differences(f"{kind}.{field}", inner, ours.properties[field], seen)


def list_differences(where: str, theirs: Definition, ours: Schema) -> Iterator[str]:
    rule = ours.rule
    expected = (
        theirs.get("x-kubernetes-list-type", "atomic"),
        tuple(theirs.get("x-kubernetes-list-map-keys", ())),
        theirs.get("x-kubernetes-patch-merge-key", ""),
        theirs.get("x-kubernetes-patch-strategy", ""),
    )
    received = (rule.list_type, rule.map_keys, rule.patch_key, ",".join(rule.patch_strategies))
    if (ours.type, received) != ("array", expected):
        yield f"{where}: {expected}; got {ours.type} {received}"


class Legacy:
    """A model class as the client had them before it used pydantic."""

    openapi_types: ClassVar = {"image": "str", "container_ports": "list[V1ContainerPort]", "labels": "dict(str, str)"}
    attribute_map: ClassVar = {"image": "image", "container_ports": "containerPorts", "labels": "labels"}

    def __init__(self) -> None:
        self._image: str | None = None

    @property
    def image(self) -> str | None:
        """Gets the image of this V1Legacy.  # noqa: E501

        What to run.  # noqa: E501

        :return: The image of this V1Legacy.  # noqa: E501
        """
        return self._image

    @image.setter
    def image(self, image: str | None) -> None:
        if image is None:
            raise ValueError("Invalid value for `image`, must not be `None`")
        self._image = image

    container_ports = None
    labels = None


def test_clients_before_pydantic_are_read_too(monkeypatch: pytest.MonkeyPatch) -> None:
    from kubernetes.client import models

    monkeypatch.setattr(models, "V1Legacy", Legacy, raising=False)
    schema = model_schema("V1Legacy")
    assert schema.required == ("image",)
    assert schema.properties["image"].description == "What to run."
    assert schema.properties["containerPorts"].item.name == "v1.ContainerPort"
    assert schema.properties["labels"].type == "map"


def test_nothing_is_imported_before_a_type_is_asked_for() -> None:
    modules = "apply, defaults, openapi, patch, protobuf, schema, validation"
    program = f"import sys; from pytest_microremed.embedded.api import {modules}; print('kubernetes' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_kind_that_the_client_does_not_know_is_told() -> None:
    with pytest.raises(LookupError, match=r"no model of example\.org/v1 Unknown"):
        schema_of(Resource("example.org", "v1", "unknowns", "Unknown"))
