"""Reading objects: get, list, the forms of an answer, and what is not there."""

from __future__ import annotations

import pytest

from tests.embedded.api.objects import config_map, deployment
from tests.embedded.clients import Http, Kubectl

JSON_META = "application/json;as={};g=meta.k8s.io;v=v1"


def test_a_created_object_can_be_read(kubectl: Kubectl) -> None:
    kubectl.apply(config_map("settings", mode="fast"))
    assert kubectl.json("get", "configmap", "settings")["data"] == {"mode": "fast"}


def test_a_list_has_its_namespace_only_and_all_namespaces_has_more(http: Http, namespace: str) -> None:
    http.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map("mine"))
    listed = http.get(f"/api/v1/namespaces/{namespace}/configmaps").body
    assert (listed["kind"], listed["apiVersion"]) == ("ConfigMapList", "v1")
    assert [item["metadata"]["name"] for item in listed["items"]] == ["kube-root-ca.crt", "mine"]
    everywhere = http.get("/api/v1/configmaps").body["items"]
    assert {"default", namespace} <= {item["metadata"]["namespace"] for item in everywhere}


def test_the_version_of_a_list_is_that_of_the_last_change(http: Http, namespace: str) -> None:
    created = http.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map("mine"))
    listed = http.get(f"/api/v1/namespaces/{namespace}/configmaps").body
    assert int(listed["metadata"]["resourceVersion"]) >= int(created["metadata"]["resourceVersion"])


def test_metadata_alone_is_served_to_those_who_ask_for_it(http: Http, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    http.create(path, config_map("mine", mode="fast"))
    one = http.get(f"{path}/mine", Accept=JSON_META.format("PartialObjectMetadata")).body
    assert (one["kind"], one["metadata"]["name"]) == ("PartialObjectMetadata", "mine")
    assert "data" not in one
    several = http.get(path, Accept=JSON_META.format("PartialObjectMetadataList")).body
    assert several["kind"] == "PartialObjectMetadataList"
    assert [item["kind"] for item in several["items"]] == ["PartialObjectMetadata"] * 2


def test_json_is_the_answer_if_it_is_among_the_accepted_types(http: Http, namespace: str) -> None:
    accept = "application/vnd.kubernetes.protobuf,application/json"
    answer = http.get(f"/api/v1/namespaces/{namespace}", Accept=accept)
    assert answer.headers["Content-Type"].startswith("application/json")


def test_a_client_that_takes_no_json_is_told_what_there_is(http: Http, namespace: str) -> None:
    answer = http.get(f"/api/v1/namespaces/{namespace}", Accept="application/vnd.kubernetes.protobuf")
    assert (answer.status, answer.body["reason"]) == (406, "NotAcceptable")


@pytest.mark.parametrize(
    ("kind", "qualified"), [("deployment", "deployments.apps"), ("pod", "pods"), ("job", "jobs.batch")]
)
def test_a_missing_object_is_named_in_the_error(kubectl: Kubectl, kind: str, qualified: str) -> None:
    message = kubectl.refused("get", kind, "nothing")
    assert message == f'Error from server (NotFound): {qualified} "nothing" not found'


def test_the_status_of_a_missing_object_says_what_it_would_be(http: Http, namespace: str) -> None:
    answer = http.get(f"/apis/apps/v1/namespaces/{namespace}/deployments/nothing")
    assert answer.body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'deployments.apps "nothing" not found',
        "reason": "NotFound",
        "details": {"name": "nothing", "group": "apps", "kind": "deployments"},
        "code": 404,
    }


@pytest.mark.parametrize(
    "path",
    [
        "/apis/apps/v1/namespaces/default/gizmos",
        "/apis/nothing.example/v1/things",
        "/apis/nothing.example",
        "/api/v1/namespaces/default/pods/x/nothing",
        "/api/v1/namespaces/default/nodes",
        "/nothing",
    ],
)
def test_an_unknown_path_is_not_found(http: Http, path: str) -> None:
    answer = http.get(path)
    assert answer.status == 404
    assert answer.body["message"] == "the server could not find the requested resource"


def test_a_collection_cannot_be_replaced(http: Http, namespace: str) -> None:
    answer = http.request("PUT", f"/api/v1/namespaces/{namespace}/configmaps", config_map("x"))
    assert (answer.status, answer.body["reason"]) == (405, "MethodNotAllowed")


def test_the_python_client_reads_what_kubectl_wrote(kubectl: Kubectl, client: object, namespace: str) -> None:
    from kubernetes.client import AppsV1Api

    kubectl.apply(deployment("web", replicas=3))
    assert AppsV1Api(client).read_namespaced_deployment("web", namespace).spec.replicas == 3
