"""autoscaling/v1: the autoscalers of autoscaling/v2 in the form that older clients read and write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.embedded.clients import Http, Kubectl
from tests.embedded.test_protobuf import body, field

Object = dict[str, Any]

TARGET = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
MEMORY = {
    "type": "Resource",
    "resource": {"name": "memory", "target": {"type": "Utilization", "averageUtilization": 70}},
}
METRICS = "autoscaling.alpha.kubernetes.io/metrics"
PROTOBUF = "application/vnd.kubernetes.protobuf"


def cpu(percent: int) -> Object:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def autoscaler(**spec: Any) -> Object:
    return {"metadata": {"name": "web"}, "spec": {"scaleTargetRef": TARGET, "maxReplicas": 5, **spec}}


@pytest.fixture
def v1(namespace: str) -> str:
    return f"/apis/autoscaling/v1/namespaces/{namespace}/horizontalpodautoscalers"


@pytest.fixture
def v2(namespace: str) -> str:
    return f"/apis/autoscaling/v2/namespaces/{namespace}/horizontalpodautoscalers"


def test_both_versions_are_served_and_v2_is_preferred(http: Http) -> None:
    group = http.get("/apis/autoscaling").body
    assert [each["version"] for each in group["versions"]] == ["v2", "v1"]
    assert group["preferredVersion"]["version"] == "v2"
    names = [each["name"] for each in http.get("/apis/autoscaling/v1").body["resources"]]
    assert names == ["horizontalpodautoscalers", "horizontalpodautoscalers/status"]
    assert http.get("/openapi/v3/apis/autoscaling/v1").status == 200


def test_what_is_created_in_v1_is_there_in_v2_and_back(http: Http, v1: str, v2: str) -> None:
    created = http.create(v1, autoscaler(minReplicas=2, targetCPUUtilizationPercentage=60))
    assert (created["apiVersion"], created["kind"]) == ("autoscaling/v1", "HorizontalPodAutoscaler")
    stored = http.get(f"{v2}/web").body
    assert stored["apiVersion"] == "autoscaling/v2"
    assert stored["metadata"]["uid"] == created["metadata"]["uid"]
    assert stored["spec"] == {"scaleTargetRef": TARGET, "minReplicas": 2, "maxReplicas": 5, "metrics": [cpu(60)]}
    read = http.get(f"{v1}/web").body
    assert read == created
    assert read["spec"] == autoscaler(minReplicas=2, targetCPUUtilizationPercentage=60)["spec"]
    assert read["status"] == {"currentReplicas": 0, "desiredReplicas": 0}
    assert http.request("POST", v2, autoscaler()).status == 409


def test_defaults_are_those_of_v2(http: Http, v1: str) -> None:
    for path in (f"{v1}?dryRun=All", v1):
        spec = http.create(path, autoscaler())["spec"]
        assert (spec["minReplicas"], spec["targetCPUUtilizationPercentage"]) == (1, 80)


def test_what_v1_has_no_field_for_is_kept_in_annotations(http: Http, v1: str, v2: str) -> None:
    behavior = {"scaleDown": {"stabilizationWindowSeconds": 60}}
    spec = http.create(v2, autoscaler(metrics=[cpu(50), MEMORY], behavior=behavior))["spec"]
    read = http.get(f"{v1}/web").body
    assert read["spec"]["targetCPUUtilizationPercentage"] == 50
    assert json.loads(read["metadata"]["annotations"][METRICS]) == [MEMORY]
    patched = http.patch(f"{v1}/web", {"spec": {"targetCPUUtilizationPercentage": 90}}).body
    assert patched["metadata"]["generation"] == 2
    stored = http.get(f"{v2}/web").body
    assert stored["spec"] == {**spec, "metrics": [cpu(90), MEMORY]}
    assert "annotations" not in stored["metadata"]


def test_a_change_in_v1_that_is_none_writes_nothing(http: Http, v1: str, v2: str) -> None:
    before = http.create(v2, autoscaler(metrics=[cpu(50), MEMORY]))
    assert http.patch(f"{v1}/web", {"spec": {"maxReplicas": 5}}).status == 200
    assert http.get(f"{v2}/web").body == before


def test_the_status_survives_a_replacement_in_v1(http: Http, v1: str, v2: str) -> None:
    http.create(v2, autoscaler())
    current = {"name": "cpu", "current": {"averageUtilization": 33, "averageValue": "66m"}}
    condition = {"type": "AbleToScale", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    status = {
        "currentReplicas": 2,
        "desiredReplicas": 3,
        "currentMetrics": [{"type": "Resource", "resource": current}],
        "conditions": [condition],
    }
    assert http.patch(f"{v2}/web/status", {"status": status}).status == 200
    read = http.get(f"{v1}/web").body["status"]
    assert read == {"currentReplicas": 2, "desiredReplicas": 3, "currentCPUUtilizationPercentage": 33}
    replaced = http.request("PUT", f"{v1}/web", autoscaler(maxReplicas=9)).body
    assert replaced["spec"]["maxReplicas"] == 9
    assert http.get(f"{v2}/web").body["status"] == status


def test_a_patch_by_server_side_apply(http: Http, v1: str, v2: str) -> None:
    wanted = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", **autoscaler()}
    path, kind = f"{v1}/web?fieldManager=me", "application/apply-patch+yaml"
    assert http.request("PATCH", path, wanted, content_type=kind).status == 201
    wanted["spec"] = {**wanted["spec"], "targetCPUUtilizationPercentage": 40}
    assert http.request("PATCH", f"{path}&force=true", wanted, content_type=kind).status == 200
    assert http.get(f"{v2}/web").body["spec"]["metrics"] == [cpu(40)]


def test_deletions_in_v1(http: Http, v1: str, v2: str) -> None:
    http.create(v2, autoscaler())
    assert http.request("DELETE", f"{v1}/web").body["status"] == "Success"
    assert http.get(f"{v2}/web").status == 404
    http.create(v1, autoscaler())
    options = {"propagationPolicy": "Foreground"}
    assert http.request("DELETE", f"{v1}/web", options).status == 200
    http.create(v1, autoscaler())
    assert len(http.request("DELETE", v1).body["items"]) == 1
    assert http.get(v2).body["items"] == []


def test_lists_and_watches_are_in_v1(http: Http, v1: str, v2: str) -> None:
    created = http.create(v2, autoscaler())
    listed = http.get(v1).body
    assert (listed["kind"], listed["apiVersion"]) == ("HorizontalPodAutoscalerList", "autoscaling/v1")
    assert [each["apiVersion"] for each in listed["items"]] == ["autoscaling/v1"]
    version = created["metadata"]["resourceVersion"]
    lines = http.lines(f"{v1}?watch=true&resourceVersion={version}&timeoutSeconds=20")
    http.patch(f"{v2}/web", {"spec": {"metrics": [cpu(70)]}})
    event = next(lines)
    assert (event["type"], event["object"]["apiVersion"]) == ("MODIFIED", "autoscaling/v1")
    assert event["object"]["spec"]["targetCPUUtilizationPercentage"] == 70


@pytest.mark.parametrize(
    ("spec", "annotations", "code", "words"),
    [
        ({"maxReplicas": 0}, {}, 422, "spec.maxReplicas: Invalid value: 0: must be greater than 0"),
        ({"targetCPUUtilizationPercentage": 0}, {}, 422, "Invalid value: 0: must be greater than 0"),
        ({"targetCPUUtilizationPercentage": "x"}, {}, 400, "targetCPUUtilizationPercentage of type int32"),
        ({}, {METRICS: "{"}, 400, f"annotation {METRICS} cannot be read"),
        ({}, {METRICS: "{}"}, 400, f"annotation {METRICS} cannot be read: a list is expected"),
        ({}, {METRICS: "[1]"}, 400, "cannot be handled as a HorizontalPodAutoscaler"),
    ],
    ids=["rule", "rule of v2", "type", "no JSON", "no list", "no metric"],
)
def test_what_is_wrong_is_refused(
    http: Http, v1: str, spec: Object, annotations: dict[str, str], code: int, words: str
) -> None:
    wrong = autoscaler(**spec)
    wrong["metadata"]["annotations"] = annotations
    answer = http.request("POST", v1, wrong)
    assert (answer.status, words in answer.body["message"]) == (code, True), answer.body


def test_a_body_in_protobuf(http: Http, v1: str, v2: str) -> None:
    """As kubectl up to 1.35 sends `autoscale`."""
    target = field(1, "Deployment") + field(2, "web") + field(3, "apps/v1")
    spec = field(1, target) + field(2, 1) + field(3, 5) + field(4, 80)
    metadata = field(1, "web") + field(2, "") + field(3, "") + field(8, b"")
    content = field(1, metadata) + field(2, spec) + field(3, field(3, 0) + field(4, 0))
    sent = body("autoscaling/v1", "HorizontalPodAutoscaler", content)
    answer = http.request("POST", f"{v1}?fieldManager=kubectl-autoscale", sent, content_type=PROTOBUF)
    assert answer.status == 201, answer.body
    stored = http.get(f"{v2}/web").body["spec"]
    assert stored == {"scaleTargetRef": TARGET, "minReplicas": 1, "maxReplicas": 5, "metrics": [cpu(80)]}


def test_the_typed_python_client(client: Any, http: Http, namespace: str, v1: str) -> None:
    from kubernetes.client import AutoscalingV1Api

    http.create(v1, autoscaler(targetCPUUtilizationPercentage=60))
    api = AutoscalingV1Api(client)
    api.patch_namespaced_horizontal_pod_autoscaler("web", namespace, {"spec": {"maxReplicas": 7}})
    (found,) = api.list_namespaced_horizontal_pod_autoscaler(namespace).items
    assert (found.spec.max_replicas, found.spec.target_cpu_utilization_percentage) == (7, 60)


def test_kubectl_shows_both_versions_alike(kubectl: Kubectl, http: Http, v1: str) -> None:
    http.create(v1, autoscaler(targetCPUUtilizationPercentage=60))
    for resource in ("hpa", "horizontalpodautoscalers.v1.autoscaling"):
        assert "cpu: <unknown>/60%" in kubectl("get", resource)
    assert (
        kubectl.json("get", "horizontalpodautoscalers.v1.autoscaling", "web")["spec"]["targetCPUUtilizationPercentage"]
        == 60
    )


def test_kubectl_applies_v1(kubectl: Kubectl, http: Http, v2: str) -> None:
    wanted = {"apiVersion": "autoscaling/v1", "kind": "HorizontalPodAutoscaler", **autoscaler()}
    kubectl.apply(wanted)
    wanted["spec"]["targetCPUUtilizationPercentage"] = 45
    kubectl.apply(wanted)
    assert http.get(f"{v2}/web").body["spec"]["metrics"] == [cpu(45)]
