"""PodDisruptionBudgets say how many pods may go, ResourceQuotas how much is used and what is too much."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.api.quota import exceeded
from pytest_microremed.embedded.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    POD_DISRUPTION_BUDGETS,
    RESOURCE_QUOTAS,
)
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, control_plane, template, workload

plane = pytest.fixture(control_plane)


def budget(**spec: Any) -> Object:
    header = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget"}
    meta = {"name": "web", "namespace": "shop"}
    return {**header, "metadata": meta, "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec}}


def quota(**hard: str) -> Object:
    meta = {"name": "small", "namespace": "shop"}
    return {"apiVersion": "v1", "kind": "ResourceQuota", "metadata": meta, "spec": {"hard": hard}}


def pod(**resources: Any) -> Object:
    containers = [{"name": "main", "image": "web:1", "resources": resources}]
    return {"metadata": {"name": "new", "namespace": "shop"}, "spec": {"containers": containers}}


@pytest.mark.parametrize(
    ("spec", "desired"),
    [
        ({"minAvailable": 3}, 3),
        ({"minAvailable": "50%"}, 2),
        ({"maxUnavailable": 1}, 3),
        ({"maxUnavailable": "30%"}, 2),
    ],
    ids=str,
)
def test_disruptions_are_allowed_down_to_the_desired_number(plane: ControlPlane, spec: Object, desired: int) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=4))
    plane.create(POD_DISRUPTION_BUDGETS, budget(**spec))
    status = plane.get(POD_DISRUPTION_BUDGETS, "web")["status"]
    assert (status["expectedPods"], status["currentHealthy"]) == (4, 4)
    assert (status["desiredHealthy"], status["disruptionsAllowed"]) == (desired, 4 - desired)


def test_a_sick_pod_uses_the_budget_up(plane: ControlPlane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2))
    plane.create(POD_DISRUPTION_BUDGETS, budget(maxUnavailable=1))
    plane.kubelet.write(plane.pods()[0], ready=False)
    plane.settle()
    found = plane.get(POD_DISRUPTION_BUDGETS, "web")
    assert (found["status"]["currentHealthy"], found["status"]["disruptionsAllowed"]) == (1, 0)
    allowed = plane.condition(found, "DisruptionAllowed")
    assert (allowed["status"], allowed["reason"]) == ("False", "InsufficientPods")


def test_a_quota_shows_what_is_used(plane: ControlPlane) -> None:
    hard = {
        "pods": "9",
        "requests.cpu": "4",
        "memory": "8Gi",
        "configmaps": "5",
        "count/deployments.apps": "3",
    }
    plane.create(RESOURCE_QUOTAS, quota(**hard))
    spec = template("web", requests={"cpu": "250m", "memory": "512Mi"})
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=3, template=spec))
    plane.create(CONFIG_MAPS, {"metadata": {"name": "settings", "namespace": "shop"}})
    status = plane.get(RESOURCE_QUOTAS, "small")["status"]
    assert status["hard"] == hard
    assert status["used"] == {
        "pods": "3",
        "requests.cpu": "750m",
        "memory": "1536Mi",
        "configmaps": "1",
        "count/deployments.apps": "1",
    }
    plane.kubelet.write(plane.pods()[0], ready=False, phase="Failed")
    plane.change_spec(DEPLOYMENTS, "web", replicas=1)
    assert len(plane.pods()) == 2, "one of them has failed"
    assert plane.get(RESOURCE_QUOTAS, "small")["status"]["used"]["requests.cpu"] == "250m"


def test_a_pod_that_is_too_much_is_refused_with_the_figures(plane: ControlPlane) -> None:
    rule = quota(**{"limits.cpu": "2", "requests.memory": "1Gi"})
    fits = pod(limits={"cpu": "2", "memory": "1Gi"})
    large = pod(limits={"cpu": "2500m", "memory": "2Gi"})
    assert exceeded(rule, plane.store, fits) is None
    assert exceeded(rule, plane.store, large) == (
        "exceeded quota: small, requested: limits.cpu=2500m,requests.memory=2Gi, "
        "used: limits.cpu=0,requests.memory=0, limited: limits.cpu=2,requests.memory=1Gi"
    )


def test_a_quota_on_resources_demands_that_they_are_given(plane: ControlPlane) -> None:
    rule = quota(**{"limits.cpu": "2", "memory": "1Gi"})
    assert exceeded(rule, plane.store, pod()) == (
        "failed quota: small: must specify limits.cpu for: main; memory for: main"
    )
