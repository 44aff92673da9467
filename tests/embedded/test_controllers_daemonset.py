"""DaemonSets: a pod on each node that allows one, updated node by node."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_microremed.embedded.api.resources import CONTROLLER_REVISIONS, DAEMON_SETS, NODES, PODS
from tests.embedded.control_plane import ControlPlane, image_of, node, template, workload


@pytest.fixture
def plane() -> Iterator[ControlPlane]:
    running = ControlPlane(nodes=3)
    yield running
    running.close()


def nodes(plane: ControlPlane) -> list[str]:
    return sorted(pod["spec"]["nodeName"] for pod in plane.pods())


def test_each_node_gets_one_pod_also_one_that_joins_later(plane: ControlPlane) -> None:
    plane.create(DAEMON_SETS, workload("DaemonSet"))
    plane.create(NODES, node("node-4"))
    assert nodes(plane) == ["node-1", "node-2", "node-3", "node-4"]
    status = plane.get(DAEMON_SETS, "web")["status"]
    assert status == {
        "currentNumberScheduled": 4,
        "desiredNumberScheduled": 4,
        "numberMisscheduled": 0,
        "numberReady": 4,
        "observedGeneration": 1,
        "updatedNumberScheduled": 4,
        "numberAvailable": 4,
    }


def test_selectors_and_taints_keep_it_off_a_node_and_a_cordon_does_not(plane: ControlPlane) -> None:
    plane.create(NODES, node("tainted", taints=[{"key": "gpu", "effect": "NoSchedule"}]))
    plane.create(NODES, node("cordoned", unschedulable=True))
    plane.create(DAEMON_SETS, workload("DaemonSet"))
    assert nodes(plane) == ["cordoned", "node-1", "node-2", "node-3"]
    narrowed = template("web", nodeSelector={"kubernetes.io/hostname": "node-2"})
    plane.change_spec(DAEMON_SETS, "web", template=narrowed)
    assert nodes(plane) == ["node-2"]


def test_a_deleted_or_failed_pod_is_replaced_on_its_node(plane: ControlPlane) -> None:
    plane.create(DAEMON_SETS, workload("DaemonSet"))
    plane.delete(PODS, plane.names(PODS)[0])
    plane.kubelet.write(plane.pods()[0], ready=False, phase="Failed")
    plane.settle()
    assert nodes(plane) == ["node-1", "node-2", "node-3"]
    assert len(plane.messages("FailedDaemonPod")) == 1


def test_a_rolling_update_takes_one_node_after_the_other(plane: ControlPlane) -> None:
    plane.create(DAEMON_SETS, workload("DaemonSet"))
    plane.kubelet.auto_ready = lambda pod: False
    plane.set_image("web", "web:2", DAEMON_SETS)
    for updated in (1, 2, 3):
        images = [image_of(pod) for pod in plane.pods()]
        assert images.count("web:2") == updated
        plane.ready(*[pod for pod in plane.pods() if image_of(pod) == "web:2"])
    assert plane.get(DAEMON_SETS, "web")["status"]["updatedNumberScheduled"] == 3


def test_an_update_goes_on_when_a_pod_has_been_ready_for_long_enough(plane: ControlPlane) -> None:
    plane.create(DAEMON_SETS, workload("DaemonSet", minReadySeconds=10))
    plane.advance(11)
    plane.set_image("web", "web:2", DAEMON_SETS)
    plane.advance(9)
    assert [image_of(pod) for pod in plane.pods()].count("web:2") == 1
    plane.advance(2)
    assert [image_of(pod) for pod in plane.pods()].count("web:2") == 2


def test_a_broken_update_stops_at_the_first_node_and_undo_mends_it(plane: ControlPlane) -> None:
    plane.create(DAEMON_SETS, workload("DaemonSet"))
    plane.kubelet.auto_ready = lambda pod: image_of(pod) != "broken"
    plane.set_image("web", "broken", DAEMON_SETS)
    plane.advance(60)
    assert [image_of(pod) for pod in plane.pods()].count("broken") == 1
    plane.set_image("web", "web:1", DAEMON_SETS)
    assert {image_of(pod) for pod in plane.pods()} == {"web:1"}
    assert sorted(each["revision"] for each in plane.store.list(CONTROLLER_REVISIONS, "shop")) == [2, 3]


def test_several_nodes_at_once_if_they_may_be_unavailable(plane: ControlPlane) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "50%"}}
    plane.create(DAEMON_SETS, workload("DaemonSet", updateStrategy=strategy))
    plane.kubelet.auto_ready = lambda pod: False
    plane.set_image("web", "web:2", DAEMON_SETS)
    assert [image_of(pod) for pod in plane.pods()].count("web:2") == 2


def test_on_delete_leaves_the_pods_alone(plane: ControlPlane) -> None:
    plane.create(DAEMON_SETS, workload("DaemonSet", updateStrategy={"type": "OnDelete"}))
    plane.set_image("web", "web:2", DAEMON_SETS)
    assert {image_of(pod) for pod in plane.pods()} == {"web:1"}


def test_a_node_that_goes_takes_its_pod_along(plane: ControlPlane) -> None:
    plane.create(DAEMON_SETS, workload("DaemonSet"))
    gone = plane.store.get(NODES, None, "node-2")
    assert gone
    plane.store.delete(NODES, gone)
    plane.settle()
    assert nodes(plane) == ["node-1", "node-3"]
    assert plane.get(DAEMON_SETS, "web")["status"]["desiredNumberScheduled"] == 2
