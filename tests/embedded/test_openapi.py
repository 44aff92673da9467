"""The OpenAPI documents, by themselves; what kubectl makes of them is tested against a server."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from pytest_microremed.embedded.api.openapi import document, fingerprint, index
from pytest_microremed.embedded.api.resources import BUILT_IN, DEPLOYMENTS, PODS, Resource

WIDGETS = Resource(
    "example.org",
    "v1",
    "widgets",
    "Widget",
    custom=True,
    schema={"type": "object", "properties": {"spec": {"type": "object", "description": "What it is."}}},
)
VERSIONS = list(dict.fromkeys(resource.api_version for resource in BUILT_IN))


def parsed(*resources: Resource) -> Any:
    return json.loads(document(resources))


def references(value: Any) -> set[str]:
    if isinstance(value, dict):
        own = {value["$ref"]} if isinstance(value.get("$ref"), str) else set()
        return own.union(*(references(item) for item in value.values()))
    return set().union(*(references(item) for item in value)) if isinstance(value, list) else set()


@pytest.mark.parametrize("version", VERSIONS)
def test_documents_are_closed_and_hold_only_what_is_reached(version: str) -> None:
    content = parsed(*(resource for resource in BUILT_IN if resource.api_version == version))
    schemas = content["components"]["schemas"]
    reached = {reference.removeprefix("#/components/schemas/") for reference in references(content)}
    assert reached == set(schemas)


def test_a_kind_is_found_by_group_version_and_kind() -> None:
    schemas = parsed(DEPLOYMENTS)["components"]["schemas"]
    kind = {"group": "apps", "version": "v1", "kind": "Deployment"}
    (name,) = [n for n, schema in schemas.items() if kind in schema.get("x-kubernetes-group-version-kind", ())]
    assert name == "io.k8s.apps.v1.Deployment"


def test_fields_say_how_they_merge() -> None:
    schemas = parsed(PODS)["components"]["schemas"]
    containers = schemas["io.k8s.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    assert containers["x-kubernetes-list-map-keys"] == ["name"]
    assert schemas["io.k8s.v1.PodSpec"]["required"] == ["containers"]
    assert containers["description"].startswith("List of containers belonging to the pod.")


def test_writes_take_field_validation_and_dry_run() -> None:
    paths = parsed(DEPLOYMENTS)["paths"]
    patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"]
    assert {parameter["name"] for parameter in patch["parameters"]} >= {"fieldValidation", "dryRun"}
    assert "application/strategic-merge-patch+json" in patch["requestBody"]["content"]


def test_a_custom_kind_is_described_as_defined() -> None:
    content = parsed(WIDGETS)
    schema = content["components"]["schemas"]["io.k8s.example.v1.Widget"]
    assert schema["properties"]["spec"] == {"type": "object", "description": "What it is."}
    assert "metadata" in schema["properties"]
    patch = content["paths"]["/apis/example.org/v1/namespaces/{namespace}/widgets/{name}"]["patch"]
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]


def test_the_index_has_a_hash_that_changes_with_the_content() -> None:
    paths = json.loads(index([PODS, DEPLOYMENTS, WIDGETS]))["paths"]
    assert set(paths) == {"api/v1", "apis/apps/v1", "apis/example.org/v1"}
    url = paths["apis/example.org/v1"]["serverRelativeURL"]
    assert url == f"/openapi/v3/apis/example.org/v1?hash={fingerprint([WIDGETS])}"
    other = replace(WIDGETS, schema={"type": "object"})
    assert fingerprint([other]) != fingerprint([WIDGETS])
    assert parsed(other) != parsed(WIDGETS)


def test_what_the_client_has_no_model_of_is_left_out() -> None:
    metrics = Resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics")
    assert parsed(metrics)["components"]["schemas"] == {}
