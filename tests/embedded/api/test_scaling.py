"""The scale subresource."""

from __future__ import annotations

import pytest

from tests.embedded.api.objects import deployment
from tests.embedded.clients import Http, Kubectl


@pytest.fixture
def path(http: Http, namespace: str) -> str:
    http.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("web", replicas=2))
    return f"/apis/apps/v1/namespaces/{namespace}/deployments/web"


def test_a_scale_is_the_replica_count_and_the_selector(http: Http, path: str) -> None:
    http.patch(f"{path}/status", {"status": {"replicas": 1}})
    scale = http.get(f"{path}/scale").body
    assert (scale["kind"], scale["apiVersion"]) == ("Scale", "autoscaling/v1")
    assert scale["spec"] == {"replicas": 2}
    assert scale["status"] == {"replicas": 1, "selector": "app=web"}


def test_kubectl_scales(kubectl: Kubectl, http: Http, path: str) -> None:
    kubectl("scale", "deployment/web", "--replicas=5")
    assert http.get(path).body["spec"]["replicas"] == 5
    kubectl("scale", "deployment/web", "--current-replicas=5", "--replicas=0")
    assert http.get(path).body["spec"]["replicas"] == 0


def test_a_scale_can_be_replaced(http: Http, path: str) -> None:
    scale = http.get(f"{path}/scale").body
    answer = http.request("PUT", f"{path}/scale", {**scale, "spec": {"replicas": 4}})
    assert answer.body["spec"] == {"replicas": 4}
    stale = http.request("PUT", f"{path}/scale", {**scale, "spec": {"replicas": 6}})
    assert (stale.status, stale.body["reason"]) == (409, "Conflict")
    assert http.get(path).body["spec"]["replicas"] == 4


def test_there_are_no_fewer_than_no_replicas(http: Http, path: str) -> None:
    answer = http.patch(f"{path}/scale", {"spec": {"replicas": -1}})
    assert answer.status == 422
    assert answer.body["message"] == (
        'Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0'
    )


def test_a_missing_workload_cannot_be_scaled(kubectl: Kubectl) -> None:
    message = kubectl.refused("scale", "deployment/nothing", "--replicas=1")
    assert message == 'Error from server (NotFound): deployments.apps "nothing" not found'


def test_daemon_sets_have_no_scale(http: Http, namespace: str) -> None:
    assert http.get(f"/apis/apps/v1/namespaces/{namespace}/daemonsets/x/scale").status == 404
