"""StatefulSets: names, order, storage, rolling update with partition, a stuck rollout and its undo."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import (
    CONTROLLER_REVISIONS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    STATEFUL_SETS,
)
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, control_plane, image_of, workload

plane = pytest.fixture(control_plane)


def stateful_set(**spec: Any) -> Object:
    return workload("StatefulSet", "db", **{"serviceName": "db", "replicas": 3, **spec})


def images(plane: ControlPlane) -> dict[str, str]:
    return {pod["metadata"]["name"]: image_of(pod) for pod in plane.pods()}


def status(plane: ControlPlane) -> Object:
    found: Object = plane.get(STATEFUL_SETS, "db")["status"]
    return found


def test_each_pod_is_created_when_the_one_before_is_ready(plane: ControlPlane) -> None:
    plane.kubelet.auto_ready = lambda pod: False
    plane.create(STATEFUL_SETS, stateful_set())
    seen = [plane.names(PODS)]
    for _ in range(2):
        plane.ready(plane.pods()[-1])
        seen.append(plane.names(PODS))
    assert seen == [["db-0"], ["db-0", "db-1"], ["db-0", "db-1", "db-2"]]
    assert status(plane)["readyReplicas"] == 2


def test_parallel_pods_do_not_wait_for_each_other(plane: ControlPlane) -> None:
    plane.kubelet.auto_ready = lambda pod: False
    plane.create(STATEFUL_SETS, stateful_set(podManagementPolicy="Parallel"))
    assert plane.names(PODS) == ["db-0", "db-1", "db-2"]


def test_pods_know_their_identity(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set(ordinals={"start": 5}, replicas=1))
    pod = plane.get(PODS, "db-5")
    assert (pod["spec"]["hostname"], pod["spec"]["subdomain"]) == ("db-5", "db")
    labels = pod["metadata"]["labels"]
    assert labels["statefulset.kubernetes.io/pod-name"] == "db-5"
    assert labels["apps.kubernetes.io/pod-index"] == "5"
    assert labels["controller-revision-hash"] == status(plane)["updateRevision"]


def test_claims_are_made_for_each_pod_and_outlive_it(plane: ControlPlane) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    plane.create(STATEFUL_SETS, stateful_set(volumeClaimTemplates=[claim], replicas=2))
    assert plane.names(PERSISTENT_VOLUME_CLAIMS) == ["data-db-0", "data-db-1"]
    volume = plane.get(PODS, "db-1")["spec"]["volumes"][0]
    assert volume == {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-1"}}
    assert plane.get(PERSISTENT_VOLUME_CLAIMS, "data-db-0")["status"]["phase"] == "Bound"
    plane.change_spec(STATEFUL_SETS, "db", replicas=1)
    plane.delete(STATEFUL_SETS, "db")
    assert (plane.names(PODS), len(plane.names(PERSISTENT_VOLUME_CLAIMS))) == ([], 2)


def test_scaling_down_removes_the_highest_first_one_at_a_time(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set())
    plane.kubelet.auto_remove = False
    plane.change_spec(STATEFUL_SETS, "db", replicas=1)
    assert [pod["metadata"]["name"] for pod in plane.pods()] == ["db-0", "db-1"]
    plane.kubelet.remove(plane.get(PODS, "db-2"))
    plane.settle()
    assert [pod["metadata"]["name"] for pod in plane.pods()] == ["db-0"]


def test_a_rolling_update_goes_from_the_highest_and_waits_for_each(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set())
    plane.kubelet.auto_ready = lambda pod: image_of(pod) == "web:1"
    plane.set_image("db", "web:2", STATEFUL_SETS)
    assert images(plane) == {"db-0": "web:1", "db-1": "web:1", "db-2": "web:2"}
    assert status(plane)["currentRevision"] != status(plane)["updateRevision"]
    plane.ready(plane.get(PODS, "db-2"))
    assert images(plane) == {"db-0": "web:1", "db-1": "web:2", "db-2": "web:2"}
    plane.ready(plane.get(PODS, "db-1"))
    plane.ready(plane.get(PODS, "db-0"))
    assert set(images(plane).values()) == {"web:2"}
    done = status(plane)
    assert done["currentRevision"] == done["updateRevision"]
    assert (done["currentReplicas"], done["updatedReplicas"], done["availableReplicas"]) == (3, 3, 3)


def test_parallel_pods_are_updated_one_by_one_too(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set(podManagementPolicy="Parallel"))
    plane.kubelet.auto_ready = lambda pod: image_of(pod) != "broken"
    plane.set_image("db", "broken", STATEFUL_SETS)
    assert images(plane) == {"db-0": "web:1", "db-1": "web:1", "db-2": "broken"}
    plane.set_image("db", "web:1", STATEFUL_SETS)
    assert set(images(plane).values()) == {"web:1"}, "in parallel, undo needs no help"


def test_pods_below_the_partition_keep_the_old_revision(plane: ControlPlane) -> None:
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}
    plane.create(STATEFUL_SETS, stateful_set(updateStrategy=strategy))
    plane.set_image("db", "web:2", STATEFUL_SETS)
    plane.delete(PODS, "db-0")
    assert images(plane) == {"db-0": "web:1", "db-1": "web:1", "db-2": "web:2"}


def test_on_delete_updates_only_pods_that_are_deleted(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set(updateStrategy={"type": "OnDelete"}))
    plane.set_image("db", "web:2", STATEFUL_SETS)
    plane.delete(PODS, "db-1")
    assert images(plane) == {"db-0": "web:1", "db-1": "web:2", "db-2": "web:1"}


def test_a_broken_rollout_stays_stuck_after_undo_until_its_pod_is_deleted(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set())
    plane.kubelet.auto_ready = lambda pod: image_of(pod) != "broken"
    plane.set_image("db", "broken", STATEFUL_SETS)
    first = status(plane)["currentRevision"]
    plane.set_image("db", "web:1", STATEFUL_SETS)
    plane.advance(600)
    assert images(plane) == {"db-0": "web:1", "db-1": "web:1", "db-2": "broken"}
    plane.delete(PODS, "db-2")
    assert set(images(plane).values()) == {"web:1"}
    assert status(plane)["updateRevision"] == first


def test_undo_makes_the_old_revision_the_newest(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set(replicas=1))
    plane.set_image("db", "web:2", STATEFUL_SETS)
    plane.set_image("db", "web:1", STATEFUL_SETS)
    revisions = plane.store.list(CONTROLLER_REVISIONS, "shop")
    assert sorted(each["revision"] for each in revisions) == [2, 3]
    newest = max(revisions, key=lambda each: int(each["revision"]))
    assert newest["metadata"]["name"] == status(plane)["updateRevision"]
    assert newest["data"]["spec"]["template"]["$patch"] == "replace"


def test_old_revisions_above_the_history_limit_are_removed(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set(replicas=1, revisionHistoryLimit=1))
    for number in range(2, 6):
        plane.set_image("db", f"web:{number}", STATEFUL_SETS)
    assert sorted(each["revision"] for each in plane.store.list(CONTROLLER_REVISIONS, "shop")) == [4, 5]


def test_a_failed_pod_is_replaced_under_its_own_name(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set())
    before = plane.get(PODS, "db-1")["metadata"]["uid"]
    plane.kubelet.write(plane.get(PODS, "db-1"), ready=False, phase="Failed")
    plane.settle()
    assert plane.get(PODS, "db-1")["metadata"]["uid"] != before
    assert status(plane)["readyReplicas"] == 3


def test_creation_and_deletion_are_told(plane: ControlPlane) -> None:
    plane.create(STATEFUL_SETS, stateful_set(replicas=1))
    plane.change_spec(STATEFUL_SETS, "db", replicas=0)
    assert plane.messages("SuccessfulCreate") == ["create Pod db-0 in StatefulSet db successful"]
    assert plane.messages("SuccessfulDelete") == ["delete Pod db-0 in StatefulSet db successful"]
