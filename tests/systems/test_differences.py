"""How two objects differ in what is wanted of them, as dotted paths."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.cluster.kinds import SECRETS, SERVICES
from pytest_microremed.systems.snapshot import Baseline, compare
from pytest_microremed.systems.state import State, differing_paths, pod_shape, wanted
from pytest_microremed.systems.system import load_system


@pytest.mark.parametrize(
    ("before", "after", "paths"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"spec": {"replicas": 1}}, {"spec": {"replicas": 0}}, ["spec.replicas"]),
        ({"a": {"b": 1}}, {"a": {}}, ["a.b"]),
        ({"a": {}}, {"a": {"b": 1}}, ["a.b"]),
        (
            {"annotations": {}},
            {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}},
            ["annotations[kubectl.kubernetes.io/restartedAt]"],
        ),
        (
            {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:1"}]},
            {"containers": [{"name": "a", "image": "x:1"}, {"name": "b", "image": "y:2"}]},
            ["containers[b].image"],
        ),
        (
            {"env": [{"name": "A", "value": "1"}]},
            {"env": [{"name": "B", "value": "1"}, {"name": "A", "value": "1"}]},
            ["env[B]"],
        ),
        ({"env": [{"name": "A"}, {"name": "B"}]}, {"env": [{"name": "B"}, {"name": "A"}]}, ["env"]),
        ({"args": ["a", "b"]}, {"args": ["a", "c"]}, ["args[1]"]),
        ({"args": ["a"]}, {"args": ["a", "b"]}, ["args[1]"]),
        ({"ports": [{"port": 80}]}, {"ports": [{"port": 81}]}, ["ports[0].port"]),
        ({"a": [1]}, {"a": {"b": 1}}, ["a"]),
    ],
)
def test_paths(before: Any, after: Any, paths: list[str]) -> None:
    assert list(differing_paths(before, after)) == paths


def test_what_server_and_controllers_write_is_not_wanted() -> None:
    obj = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"app": "web"},
            "annotations": {
                "deployment.kubernetes.io/revision": "3",
                "kubectl.kubernetes.io/last-applied-configuration": "{}",
                "mine": "yes",
            },
            "uid": "1",
            "resourceVersion": "2",
            "generation": 3,
            "creationTimestamp": "now",
            "managedFields": [],
        },
        "spec": {"replicas": 1},
        "status": {"readyReplicas": 1},
    }
    assert wanted(obj) == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "labels": {"app": "web"},
            "annotations": {"mine": "yes"},
        },
        "spec": {"replicas": 1},
    }


def test_pods_of_one_template_have_one_shape() -> None:
    def pod(name: str, image: str = "x:1", **labels: str) -> dict[str, Any]:
        return {
            "metadata": {
                "name": name,
                "labels": {"app": "db", "statefulset.kubernetes.io/pod-name": name, **labels},
            },
            "spec": {"nodeName": name, "containers": [{"name": "db", "image": image, "resources": {}}]},
        }

    assert pod_shape(pod("db-0")) == pod_shape(pod("db-1"))
    assert pod_shape(pod("db-0")) != pod_shape(pod("db-0", image="pause:3.9"))
    assert pod_shape(pod("db-0")) != pod_shape(pod("db-0", role="primary"))


def test_changes_name_the_workload_that_they_are_part_of() -> None:
    system = load_system("online-boutique")
    frontend = {"metadata": {"name": "frontend-external"}}
    secret = {"metadata": {"name": "key"}}
    objects = {(SERVICES, "frontend-external"): frontend, (SECRETS, "key"): secret}
    baseline = Baseline(system, "shop", objects, {}, {})
    removed = [change for change in compare(baseline, State()) if change.what == "removed"]
    assert [(change.name, change.workload) for change in removed] == [("frontend-external", "frontend"), ("key", None)]
