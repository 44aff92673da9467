"""Discovery, version, health and schemas: what clients ask before anything else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embedded.clients import Http, Kubectl

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v={};as=APIGroupDiscoveryList"


def test_kubectl_knows_the_resources_by_their_names(kubectl: Kubectl) -> None:
    names = kubectl("api-resources", "-o", "name").split()
    assert {"pods", "deployments.apps", "customresourcedefinitions.apiextensions.k8s.io"} <= set(names)
    assert len(names) == len(set(names))


def test_kubectl_knows_the_versions(kubectl: Kubectl) -> None:
    assert {"v1", "apps/v1", "batch/v1", "metrics.k8s.io/v1beta1"} <= set(kubectl("api-versions").split())
    assert "Server Version: v1." in kubectl("version")


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_all_groups_come_at_once_to_those_who_ask_for_v2(http: Http, path: str) -> None:
    answer = http.get(path, Accept=AGGREGATED.format("v2"))
    assert answer.headers["Content-Type"] == AGGREGATED.format("v2")
    assert answer.body["kind"] == "APIGroupDiscoveryList"
    version = answer.body["items"][0]["versions"][0]
    assert {"resource", "responseKind", "scope", "verbs"} <= set(version["resources"][0])


def test_older_clients_get_the_older_form(http: Http) -> None:
    answer = http.get("/apis", Accept=f"{AGGREGATED.format('v2beta1')},application/json")
    assert answer.body["kind"] == "APIGroupList"


def test_a_resource_tells_its_subresources(http: Http) -> None:
    listed = http.get("/apis/apps/v1").body["resources"]
    scale = next(each for each in listed if each["name"] == "deployments/scale")
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")
    pods = {each["name"] for each in http.get("/api/v1").body["resources"]}
    assert {"pods", "pods/log", "pods/exec", "pods/eviction", "pods/status"} <= pods


def test_one_group_can_be_asked_for(http: Http) -> None:
    assert http.get("/apis/apps").body["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
def test_it_is_healthy(http: Http, path: str) -> None:
    assert http.get(path).body == "ok"


def test_schemas_are_kept_by_their_hash(http: Http) -> None:
    url = http.get("/openapi/v3").body["paths"]["apis/apps/v1"]["serverRelativeURL"]
    answer = http.get(url)
    assert "immutable" in answer.headers["Cache-Control"]
    assert any(name.endswith(".Deployment") for name in answer.body["components"]["schemas"])
    assert http.get(url, If_None_Match=answer.headers["ETag"]).status == 304


def test_kubectl_explains(kubectl: Kubectl) -> None:
    explained = kubectl("explain", "deployment.spec.strategy.type")
    assert "GROUP:      apps" in explained
    assert "FIELD: type <string>" in explained


def test_the_dynamic_client_finds_resources(client: Any) -> None:
    from kubernetes import dynamic

    connect: Any = dynamic.DynamicClient
    resources = connect(client).resources
    assert resources.get(api_version="v1", kind="Pod").name == "pods"
    assert resources.get(api_version="apps/v1", kind="Deployment").namespaced
