"""The scheduler places pods where they fit, says why it cannot, and tries again when that may help."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import DEPLOYMENTS, NODES, PERSISTENT_VOLUME_CLAIMS, PODS
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, control_plane, node, template, workload

plane = pytest.fixture(control_plane)
HALF = {"cpu": "32", "memory": "1Gi"}
NO_VICTIMS = "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
NO_HELP = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


def deploy(plane: ControlPlane, name: str = "web", *, replicas: int = 1, **spec: Any) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", name, replicas=replicas, template=template(name, **spec)))


def refusal(pod: Object) -> str:
    scheduled = next(each for each in pod["status"]["conditions"] if each["type"] == "PodScheduled")
    assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")
    return str(scheduled["message"])


def change_node(
    plane: ControlPlane, name: str = "node-1", *, labels: dict[str, str] | None = None, **spec: Any
) -> None:
    found = plane.store.get(NODES, None, name)
    assert found
    meta = {**found["metadata"], "labels": labels or found["metadata"]["labels"]}
    plane.store.update(NODES, {**found, "metadata": meta, "spec": {**found["spec"], **spec}})
    plane.settle()


def test_a_bound_pod_says_so(plane: ControlPlane) -> None:
    deploy(plane)
    pod = plane.pods()[0]
    assert pod["spec"]["nodeName"] == "node-1"
    assert plane.condition(pod, "PodScheduled")["status"] == "True"
    name = pod["metadata"]["name"]
    assert plane.messages("Scheduled") == [f"Successfully assigned shop/{name} to node-1"]


def test_pods_spread_to_where_most_cpu_is_free() -> None:
    plane = ControlPlane(nodes=3)
    deploy(plane, replicas=6, requests={"cpu": "1"})
    assert Counter(pod["spec"]["nodeName"] for pod in plane.pods()) == {"node-1": 2, "node-2": 2, "node-3": 2}
    plane.close()


@pytest.mark.parametrize(
    ("requests", "lacking"),
    [
        ({"cpu": "100"}, "1 Insufficient cpu"),
        ({"memory": "257Gi"}, "1 Insufficient memory"),
        ({"cpu": "65", "memory": "1Ti"}, "1 Insufficient cpu, 1 Insufficient memory"),
        ({"example.com/gpu": "1"}, "1 Insufficient example.com/gpu"),
    ],
)
def test_a_pod_that_asks_for_too_much_waits(plane: ControlPlane, requests: dict[str, str], lacking: str) -> None:
    deploy(plane, requests=requests)
    message = f"0/1 nodes are available: {lacking}. {NO_VICTIMS}"
    assert refusal(plane.pods()[0]) == message
    assert plane.messages("FailedScheduling") == [message]


def test_a_waiting_pod_takes_the_room_that_another_leaves(plane: ControlPlane) -> None:
    deploy(plane, "a", replicas=2, requests=HALF)
    deploy(plane, "b", requests=HALF)
    assert "nodeName" not in plane.pods(app="b")[0]["spec"]
    plane.change_spec(DEPLOYMENTS, "a", replicas=1)
    assert plane.pods(app="b")[0]["spec"]["nodeName"] == "node-1"
    assert plane.condition(plane.pods(app="b")[0], "PodScheduled")["status"] == "True"


def test_a_finished_pod_leaves_its_room(plane: ControlPlane) -> None:
    deploy(plane, "a", replicas=2, requests=HALF)
    deploy(plane, "b", requests=HALF)
    plane.kubelet.write(plane.pods(app="a")[0], ready=False, phase="Failed")
    plane.settle()
    placed = [pod for pod in plane.pods() if pod["spec"].get("nodeName") and pod["status"]["phase"] == "Running"]
    assert len(placed) == 2


def test_a_full_node_takes_no_more_pods() -> None:
    plane = ControlPlane(nodes=0)
    plane.create(NODES, node("small", pods="2"))
    deploy(plane, replicas=3)
    waiting = [pod for pod in plane.pods() if not pod["spec"].get("nodeName")]
    assert refusal(waiting[0]) == f"0/1 nodes are available: 1 Too many pods. {NO_VICTIMS}"
    plane.close()


def test_the_largest_init_container_counts_if_it_needs_more_than_the_rest(plane: ControlPlane) -> None:
    init = {"name": "init", "image": "init", "resources": {"requests": {"cpu": "100"}}}
    deploy(plane, requests={"cpu": "1"}, initContainers=[init])
    assert "Insufficient cpu" in refusal(plane.pods()[0])


def test_a_cordoned_node_takes_no_pods_until_it_is_opened_again(plane: ControlPlane) -> None:
    change_node(plane, unschedulable=True)
    cordoned = plane.store.get(NODES, None, "node-1")
    assert cordoned
    assert [each["key"] for each in cordoned["spec"]["taints"]] == ["node.kubernetes.io/unschedulable"]
    deploy(plane)
    assert refusal(plane.pods()[0]) == f"0/1 nodes are available: 1 node(s) were unschedulable. {NO_HELP}"
    change_node(plane, unschedulable=False)
    assert plane.pods()[0]["spec"]["nodeName"] == "node-1"
    opened = plane.store.get(NODES, None, "node-1")
    assert opened
    assert "taints" not in opened["spec"]


def test_a_taint_keeps_pods_off_that_do_not_tolerate_it(plane: ControlPlane) -> None:
    change_node(plane, taints=[{"key": "team", "value": "a", "effect": "NoSchedule"}])
    deploy(plane, "stranger")
    deploy(plane, "guest", tolerations=[{"key": "team", "operator": "Equal", "value": "a"}])
    reason = "1 node(s) had untolerated taint {team: a}"
    assert refusal(plane.pods(app="stranger")[0]) == f"0/1 nodes are available: {reason}. {NO_HELP}"
    assert plane.pods(app="guest")[0]["spec"]["nodeName"] == "node-1"


def affinity(*expressions: Object) -> Object:
    terms = [{"matchExpressions": list(expressions)}]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}


@pytest.mark.parametrize(
    "spec",
    [
        {"nodeSelector": {"disk": "ssd"}},
        {"affinity": affinity({"key": "disk", "operator": "In", "values": ["ssd"]})},
        {"affinity": affinity({"key": "generation", "operator": "Gt", "values": ["3"]})},
        {"affinity": affinity({"key": "disk", "operator": "Exists"})},
    ],
    ids=str,
)
def test_a_pod_waits_for_a_node_with_the_labels_it_wants(plane: ControlPlane, spec: Object) -> None:
    deploy(plane, **spec)
    reason = "1 node(s) didn't match Pod's node affinity/selector"
    assert refusal(plane.pods()[0]) == f"0/1 nodes are available: {reason}. {NO_HELP}"
    change_node(plane, labels={"disk": "ssd", "generation": "4"})
    assert plane.pods()[0]["spec"]["nodeName"] == "node-1"


def test_a_pod_waits_for_its_claim(plane: ControlPlane) -> None:
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    deploy(plane, volumes=[volume])
    reason = 'persistentvolumeclaim "data" not found'
    assert refusal(plane.pods()[0]) == f"0/1 nodes are available: {reason}. {NO_HELP}"
    plane.create(
        PERSISTENT_VOLUME_CLAIMS,
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data", "namespace": "shop"},
            "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        },
    )
    assert plane.pods()[0]["spec"]["nodeName"] == "node-1"


def test_gates_hold_a_pod_back(plane: ControlPlane) -> None:
    deploy(plane, schedulingGates=[{"name": "example.com/wait"}])
    pod = plane.pods()[0]
    assert plane.condition(pod, "PodScheduled")["reason"] == "SchedulingGated"
    plane.change_spec(PODS, pod["metadata"]["name"], schedulingGates=[])
    assert plane.pods()[0]["spec"]["nodeName"] == "node-1"


def test_pods_of_another_scheduler_are_left_alone(plane: ControlPlane) -> None:
    deploy(plane, schedulerName="mine")
    assert "nodeName" not in plane.pods()[0]["spec"]
    assert "conditions" not in plane.pods()[0]["status"]


def test_no_execute_evicts_at_once_or_after_the_tolerated_time(plane: ControlPlane) -> None:
    stays = {"key": "maintenance", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
    deploy(plane, "leaves")
    deploy(plane, "lingers", tolerations=[stays])
    lingering = plane.pods(app="lingers")[0]["metadata"]["name"]
    change_node(plane, taints=[{"key": "maintenance", "effect": "NoExecute"}])
    assert not any(pod["spec"].get("nodeName") for pod in plane.pods(app="leaves"))
    plane.advance(50)
    assert lingering in plane.names(PODS)
    plane.advance(15)
    assert lingering not in plane.names(PODS)
