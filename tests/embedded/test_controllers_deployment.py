"""Deployments: revisions, failed rollouts and undo, scaling, pause, Recreate, clean-up, adoption."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.api.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, control_plane, image_of, rolling, workload

REVISION = "deployment.kubernetes.io/revision"
plane = pytest.fixture(control_plane)


def sizes(plane: ControlPlane) -> dict[str, int]:
    """By revision."""
    return {number: each["spec"]["replicas"] for number, each in plane.replica_sets().items()}


def revision(obj: Object) -> str:
    return str(obj["metadata"]["annotations"][REVISION])


def test_replica_set_pods_and_deployment_show_the_same_template_hash(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2))
    replica_set = plane.replica_sets()["1"]
    digest = replica_set["metadata"]["labels"]["pod-template-hash"]
    assert replica_set["metadata"]["name"] == f"web-{digest}"
    assert replica_set["spec"]["selector"]["matchLabels"] == {"app": "web", "pod-template-hash": digest}
    assert len(plane.pods(**{"pod-template-hash": digest})) == 2
    assert all(pod["metadata"]["name"].startswith(f"web-{digest}-") for pod in plane.pods())


def test_the_hash_depends_on_the_template_alone(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment"))
    other = ControlPlane()
    other.create(DEPLOYMENTS, workload("Deployment", replicas=3))
    assert plane.names(REPLICA_SETS) == other.names(REPLICA_SETS)
    other.close()


def test_a_complete_rollout_is_reported_as_kubectl_expects(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=3))
    plane.set_image("web", "web:2")
    deployment = plane.get(DEPLOYMENTS, "web")
    status = {key: value for key, value in deployment["status"].items() if key != "conditions"}
    assert status == {
        "observedGeneration": 2,
        "replicas": 3,
        "updatedReplicas": 3,
        "readyReplicas": 3,
        "availableReplicas": 3,
    }
    progressing = plane.condition(deployment, "Progressing")
    name = plane.replica_sets()["2"]["metadata"]["name"]
    assert progressing["reason"] == "NewReplicaSetAvailable"
    assert progressing["message"] == f'ReplicaSet "{name}" has successfully progressed.'
    assert plane.condition(deployment, "Available")["reason"] == "MinimumReplicasAvailable"
    assert revision(deployment) == "2"


def test_each_change_of_size_is_told_in_an_event(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=1, strategy=rolling(1, 0)))
    old = plane.names(REPLICA_SETS)[0]
    plane.set_image("web", "web:2")
    new = plane.replica_sets()["2"]["metadata"]["name"]
    assert plane.messages("ScalingReplicaSet") == [
        f"Scaled up replica set {old} from 0 to 1",
        f"Scaled up replica set {new} from 0 to 1",
        f"Scaled down replica set {old} from 1 to 0",
    ]


def test_a_broken_rollout_leaves_old_pods_serving_and_times_out(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=4, progressDeadlineSeconds=60))
    plane.kubelet.auto_ready = lambda pod: image_of(pod) != "broken"
    plane.set_image("web", "broken")
    assert sizes(plane) == {"1": 3, "2": 2}
    plane.advance(50)
    assert plane.condition(plane.get(DEPLOYMENTS, "web"), "Progressing")["status"] == "True"
    plane.advance(20)
    deployment = plane.get(DEPLOYMENTS, "web")
    late = plane.condition(deployment, "Progressing")
    assert (late["status"], late["reason"]) == ("False", "ProgressDeadlineExceeded")
    name = plane.replica_sets()["2"]["metadata"]["name"]
    assert late["message"] == f'ReplicaSet "{name}" has timed out progressing.'
    assert deployment["status"]["unavailableReplicas"] == 2
    assert plane.condition(deployment, "Available")["status"] == "True"


def test_the_deadline_counts_from_the_last_progress(plane: ControlPlane) -> None:
    plane.kubelet.auto_ready = lambda pod: False
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2, progressDeadlineSeconds=60))
    plane.advance(50)
    plane.ready(plane.pods()[0])
    plane.advance(50)
    assert plane.condition(plane.get(DEPLOYMENTS, "web"), "Progressing")["reason"] == "ReplicaSetUpdated"
    plane.advance(20)
    assert plane.condition(plane.get(DEPLOYMENTS, "web"), "Progressing")["status"] == "False"


def test_a_rollout_to_a_template_of_old_has_a_deadline_too(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2, progressDeadlineSeconds=60))
    plane.set_image("web", "web:2")
    plane.advance(100)
    plane.kubelet.auto_ready = lambda pod: image_of(pod) != "web:1"
    plane.set_image("web", "web:1")
    plane.advance(70)
    late = plane.condition(plane.get(DEPLOYMENTS, "web"), "Progressing")
    assert late["reason"] == "ProgressDeadlineExceeded"


def test_undo_takes_the_old_replica_set_again_as_the_newest_revision(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=3))
    good = plane.names(REPLICA_SETS)[0]
    plane.kubelet.auto_ready = lambda pod: image_of(pod) != "broken"
    plane.set_image("web", "broken")
    plane.set_image("web", "web:1")
    assert sizes(plane) == {"2": 0, "3": 3}
    restored = plane.replica_sets()["3"]
    assert restored["metadata"]["name"] == good
    assert restored["metadata"]["annotations"]["deployment.kubernetes.io/revision-history"] == "1"
    assert revision(plane.get(DEPLOYMENTS, "web")) == "3"
    assert {image_of(pod) for pod in plane.pods()} == {"web:1"}
    assert plane.condition(plane.get(DEPLOYMENTS, "web"), "Progressing")["reason"] == "NewReplicaSetAvailable"


def test_a_template_with_empty_fields_written_out_is_the_same_template(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment"))
    template = plane.get(DEPLOYMENTS, "web")["spec"]["template"]
    written_out = {
        "metadata": {**template["metadata"], "creationTimestamp": None},
        "spec": {**template["spec"], "securityContext": {}},
    }
    plane.change_spec(DEPLOYMENTS, "web", template=written_out)
    assert list(plane.replica_sets()) == ["1"]


def test_old_pods_that_do_not_work_make_way_only_as_new_ones_do(plane: ControlPlane) -> None:
    plane.kubelet.auto_ready = lambda pod: False
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=5, strategy=rolling(3, 0)))
    plane.set_image("web", "web:2")
    assert sizes(plane) == {"1": 5, "2": 3}
    plane.ready(next(pod for pod in plane.pods() if image_of(pod) == "web:2"))
    assert sizes(plane) == {"1": 4, "2": 4}


def test_scaling_in_a_rollout_is_shared_in_proportion(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=10, strategy=rolling(3, 2)))
    plane.kubelet.auto_ready = lambda pod: image_of(pod) != "broken"
    plane.set_image("web", "broken")
    assert sizes(plane) == {"1": 8, "2": 5}
    plane.change_spec(DEPLOYMENTS, "web", replicas=15)
    assert sizes(plane) == {"1": 11, "2": 7}  # the example of the Kubernetes documentation


def test_scaling_without_a_rollout_changes_the_one_replica_set(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=3))
    plane.change_spec(DEPLOYMENTS, "web", replicas=5)
    assert (sizes(plane), len(plane.pods())) == ({"1": 5}, 5)
    plane.change_spec(DEPLOYMENTS, "web", replicas=0)
    assert (sizes(plane), plane.pods()) == ({"1": 0}, [])
    assert "readyReplicas" not in plane.get(DEPLOYMENTS, "web")["status"]


def test_a_paused_deployment_scales_but_does_not_roll_out(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2))
    plane.change_spec(DEPLOYMENTS, "web", paused=True)
    plane.set_image("web", "web:2")
    plane.change_spec(DEPLOYMENTS, "web", replicas=3)
    assert [image_of(pod) for pod in plane.pods()] == ["web:1"] * 3
    paused = plane.condition(plane.get(DEPLOYMENTS, "web"), "Progressing")
    assert (paused["status"], paused["reason"]) == ("Unknown", "DeploymentPaused")
    plane.change_spec(DEPLOYMENTS, "web", paused=False)
    assert [image_of(pod) for pod in plane.pods()] == ["web:2"] * 3


def test_recreate_waits_until_the_last_old_pod_has_gone(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2, strategy={"type": "Recreate"}))
    plane.kubelet.auto_remove = False
    plane.set_image("web", "web:2")
    ending = plane.store.list(PODS, "shop")
    assert [image_of(pod) for pod in ending] == ["web:1"] * 2
    plane.kubelet.remove(ending[0])
    plane.settle()
    assert plane.pods() == []
    plane.kubelet.remove(ending[1])
    plane.settle()
    assert [image_of(pod) for pod in plane.pods()] == ["web:2"] * 2


def test_min_ready_seconds_hold_a_rollout_back(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=1, strategy=rolling(1, 0), minReadySeconds=30))
    assert "availableReplicas" not in plane.get(DEPLOYMENTS, "web")["status"]
    plane.advance(31)
    plane.set_image("web", "web:2")
    plane.advance(29)
    assert sizes(plane) == {"1": 1, "2": 1}
    plane.advance(2)
    assert sizes(plane) == {"1": 0, "2": 1}


def test_old_replica_sets_above_the_history_limit_are_removed(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", revisionHistoryLimit=2))
    for number in range(2, 7):
        plane.set_image("web", f"web:{number}")
    assert sorted(plane.replica_sets()) == ["4", "5", "6"]


def test_change_cause_goes_to_the_replica_set_of_its_revision(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment"))
    plane.annotate(DEPLOYMENTS, "web", **{"kubernetes.io/change-cause": "first"})
    plane.set_image("web", "web:2")
    plane.annotate(DEPLOYMENTS, "web", **{"kubernetes.io/change-cause": "second"})
    causes = {
        number: each["metadata"]["annotations"]["kubernetes.io/change-cause"]
        for number, each in plane.replica_sets().items()
    }
    assert causes == {"1": "first", "2": "second"}


def test_what_kubectl_applied_stays_on_the_deployment(plane: ControlPlane) -> None:
    applied = {"kubectl.kubernetes.io/last-applied-configuration": "{}"}
    deployment = workload("Deployment")
    deployment["metadata"]["annotations"] = applied
    plane.create(DEPLOYMENTS, deployment)
    assert not applied.keys() & plane.replica_sets()["1"]["metadata"]["annotations"].keys()


def test_a_deleted_deployment_takes_its_replica_sets_and_pods_with_it(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2))
    plane.create(DEPLOYMENTS, workload("Deployment", "other"))
    plane.delete(DEPLOYMENTS, "web")
    assert [name.split("-")[0] for name in plane.names(REPLICA_SETS)] == ["other"]
    assert [pod["metadata"]["labels"]["app"] for pod in plane.store.list(PODS)] == ["other"]


def test_orphaned_replica_sets_and_pods_are_adopted(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2))
    before = (plane.names(REPLICA_SETS), plane.names(PODS))
    for resource in (REPLICA_SETS, PODS):
        for obj in plane.store.list(resource, "shop"):
            meta = {key: value for key, value in obj["metadata"].items() if key != "ownerReferences"}
            plane.store.update(resource, {**obj, "metadata": meta})
    plane.settle()
    assert (plane.names(REPLICA_SETS), plane.names(PODS)) == before
    plane.delete(DEPLOYMENTS, "web")
    assert plane.names(PODS) == []


def test_a_deleted_replica_set_is_made_again(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2))
    name = plane.names(REPLICA_SETS)[0]
    plane.delete(REPLICA_SETS, name)
    assert plane.names(REPLICA_SETS) == [name]
    assert len(plane.pods()) == 2


def test_what_came_to_rest_is_not_written_again(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=3))
    version = plane.store.version
    plane.annotate(DEPLOYMENTS, "web", note="x")
    plane.advance(700)
    # The annotation itself, and its copy on the ReplicaSet.
    assert plane.store.version == version + 2
