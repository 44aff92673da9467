"""ReplicaSets keep their number of pods, choose which ones go, and tell why they cannot create any."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import PODS, REPLICA_SETS, RESOURCE_QUOTAS
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, control_plane, template, workload

plane = pytest.fixture(control_plane)


def quota(**hard: str) -> Object:
    meta = {"name": "small", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}


def relabel(plane: ControlPlane, pod: Object, **labels: str) -> None:
    plane.store.update(PODS, {**pod, "metadata": {**pod["metadata"], "labels": labels}})
    plane.settle()


def test_pods_get_names_of_five_safe_characters(plane: ControlPlane) -> None:
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=5))
    assert len(set(plane.names(PODS))) == 5
    assert all(re.fullmatch(r"web-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in plane.names(PODS))


def test_a_deleted_pod_is_replaced_at_once(plane: ControlPlane) -> None:
    plane.kubelet.auto_remove = False
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=2))
    plane.delete(PODS, plane.names(PODS)[0])
    assert len(plane.pods()) == 2
    assert len(plane.names(PODS)) == 3


def test_a_failed_pod_stays_and_is_replaced(plane: ControlPlane) -> None:
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=1))
    plane.kubelet.write(plane.pods()[0], ready=False, phase="Failed")
    plane.settle()
    assert sorted(pod["status"]["phase"] for pod in plane.pods()) == ["Failed", "Running"]


def test_a_pod_whose_labels_no_longer_match_is_let_go_and_replaced(plane: ControlPlane) -> None:
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=1))
    quarantined = plane.pods()[0]
    relabel(plane, quarantined, app="debug")
    assert "ownerReferences" not in plane.get(PODS, quarantined["metadata"]["name"])["metadata"]
    assert len(plane.pods(app="web")) == 1
    relabel(plane, plane.get(PODS, quarantined["metadata"]["name"]), app="web")
    assert len(plane.pods(app="web")) == 1, "one too many after the adoption"


@pytest.mark.parametrize("victim", [{"phase": "Pending", "ready": False}, {"ready": False}], ids=str)
def test_a_pod_that_does_not_work_goes_before_younger_ones(plane: ControlPlane, victim: dict[str, Any]) -> None:
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=1))
    pod = plane.pods()[0]
    plane.advance(60)
    plane.change_spec(REPLICA_SETS, "web", replicas=3)
    plane.kubelet.write(pod, **victim)
    plane.settle()
    plane.change_spec(REPLICA_SETS, "web", replicas=2)
    assert pod["metadata"]["name"] not in plane.names(PODS)
    assert plane.messages("SuccessfulDelete") == [f"Deleted pod: {pod['metadata']['name']}"]


def test_of_pods_ready_at_the_same_time_the_most_restarted_goes_first(plane: ControlPlane) -> None:
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=3))
    pod = plane.pods()[0]
    plane.kubelet.write(pod, ready=True, containerStatuses=[{"name": "main", "restartCount": 3}])
    plane.settle()
    plane.change_spec(REPLICA_SETS, "web", replicas=2)
    assert pod["metadata"]["name"] not in plane.names(PODS)


@pytest.mark.parametrize("ready", [True, False])
def test_of_equal_pods_the_youngest_goes_first(plane: ControlPlane, ready: bool) -> None:
    plane.kubelet.auto_ready = lambda pod: ready
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=1))
    oldest = plane.names(PODS)
    plane.advance(60)
    plane.change_spec(REPLICA_SETS, "web", replicas=4)
    plane.change_spec(REPLICA_SETS, "web", replicas=1)
    assert plane.names(PODS) == oldest


def test_deletion_cost_decides_among_working_pods(plane: ControlPlane) -> None:
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=3))
    cheap = plane.names(PODS)[0]
    plane.annotate(PODS, cheap, **{"controller.kubernetes.io/pod-deletion-cost": "-10"})
    plane.change_spec(REPLICA_SETS, "web", replicas=2)
    assert cheap not in plane.names(PODS)


def test_a_quota_is_told_and_tried_again(plane: ControlPlane) -> None:
    plane.create(RESOURCE_QUOTAS, quota(pods="2"))
    plane.create(REPLICA_SETS, workload("ReplicaSet", replicas=3))
    failure = plane.condition(plane.get(REPLICA_SETS, "web"), "ReplicaFailure")
    assert (failure["status"], failure["reason"]) == ("True", "FailedCreate")
    wanted = 'pods "web-" is forbidden: exceeded quota: small, requested: pods=1, used: pods=2, limited: pods=2'
    assert failure["message"] == wanted
    assert plane.messages("FailedCreate") == [f"Error creating: {wanted}"]
    plane.change_spec(RESOURCE_QUOTAS, "small", hard={"pods": "5"})
    plane.advance(60)
    assert len(plane.pods()) == 3
    assert "conditions" not in plane.get(REPLICA_SETS, "web")["status"]


def test_a_missing_service_account_is_told(plane: ControlPlane) -> None:
    spec = template("web", serviceAccountName="ghost")
    plane.create(REPLICA_SETS, workload("ReplicaSet", template=spec))
    why = 'error looking up service account shop/ghost: serviceaccount "ghost" not found'
    assert plane.messages("FailedCreate") == [f'Error creating: pods "web-" is forbidden: {why}']
