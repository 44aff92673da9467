"""HorizontalPodAutoscalers follow what the pods use, within their bounds and not hastily."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import DEPLOYMENTS, HORIZONTAL_POD_AUTOSCALERS
from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, is_ready, template, workload


class Load:
    """What each pod uses."""

    def __init__(self) -> None:
        self.cpu = 0.1
        self.memory = 64 * 2**20

    def __call__(self, pod: Object) -> Mapping[str, Usage] | None:
        return {"main": Usage(self.cpu, self.memory)} if is_ready(pod) else None


@pytest.fixture
def load() -> Load:
    return Load()


@pytest.fixture
def plane(load: Load) -> Iterator[ControlPlane]:
    running = ControlPlane(usage=load)
    spec = template("web", requests={"cpu": "200m", "memory": "128Mi"})
    running.create(DEPLOYMENTS, workload("Deployment", replicas=2, template=spec))
    yield running
    running.close()


def autoscaler(low: int = 1, high: int = 10, **spec: Any) -> Object:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 50}}}
    bounds = {"minReplicas": low, "maxReplicas": high}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"scaleTargetRef": target, "metrics": [metric], **bounds, **spec},
    }


def replicas(plane: ControlPlane) -> int:
    return int(plane.get(DEPLOYMENTS, "web")["spec"]["replicas"])


def verdicts(plane: ControlPlane) -> dict[str, str]:
    found = plane.get(HORIZONTAL_POD_AUTOSCALERS, "web")
    return {each["type"]: each["reason"] for each in found["status"]["conditions"]}


def test_more_load_more_pods(plane: ControlPlane, load: Load) -> None:
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler())
    assert replicas(plane) == 2, "100m of 200m is what is wanted"
    assert verdicts(plane)["ScalingActive"] == "ValidMetricFound"
    load.cpu = 0.2
    plane.advance(16)
    assert replicas(plane) == 4
    message = "New size: 4; reason: cpu resource utilization (percentage of request) above target"
    assert plane.messages("SuccessfulRescale") == [message]
    assert verdicts(plane)["AbleToScale"] == "SucceededRescale"


def test_the_status_shows_what_was_measured_and_a_small_difference_is_tolerated(
    plane: ControlPlane, load: Load
) -> None:
    load.cpu = 0.108
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler())
    status = plane.get(HORIZONTAL_POD_AUTOSCALERS, "web")["status"]
    current = {"averageValue": "108m", "averageUtilization": 54}
    assert status["currentMetrics"] == [{"type": "Resource", "resource": {"name": "cpu", "current": current}}]
    assert (status["currentReplicas"], status["desiredReplicas"]) == (2, 2)


def test_growth_is_limited_in_each_step_and_by_the_maximum(plane: ControlPlane, load: Load) -> None:
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler(high=9))
    load.cpu = 2.0
    plane.advance(16)
    assert replicas(plane) == 6
    plane.advance(16)
    assert replicas(plane) == 9
    assert verdicts(plane)["ScalingLimited"] == "TooManyReplicas"


def test_shrinking_waits_until_the_load_has_been_low_for_five_minutes(plane: ControlPlane, load: Load) -> None:
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler())
    load.cpu = 0.01
    plane.advance(290)
    assert replicas(plane) == 2
    plane.advance(30)
    assert replicas(plane) == 1


def test_memory_by_average_value(plane: ControlPlane, load: Load) -> None:
    target = {"type": "AverageValue", "averageValue": "32Mi"}
    metrics = [{"type": "Resource", "resource": {"name": "memory", "target": target}}]
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler(metrics=metrics))
    assert replicas(plane) == 4


def test_the_bounds_hold_whatever_the_load(plane: ControlPlane) -> None:
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler(low=3, high=5))
    assert replicas(plane) == 3
    plane.change_spec(DEPLOYMENTS, "web", replicas=8)
    plane.advance(16)
    assert replicas(plane) == 5


def test_a_workload_scaled_to_zero_is_left_there(plane: ControlPlane) -> None:
    plane.change_spec(DEPLOYMENTS, "web", replicas=0)
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler())
    plane.advance(60)
    assert replicas(plane) == 0
    assert verdicts(plane)["ScalingActive"] == "ScalingDisabled"


def test_what_cannot_be_computed_is_told(plane: ControlPlane) -> None:
    plane.change_spec(DEPLOYMENTS, "web", template=template("web"))
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler())
    assert verdicts(plane)["ScalingActive"] == "FailedGetResourceMetric"
    message = plane.messages("FailedGetResourceMetric")[0]
    assert "missing request for cpu in container main of Pod web-" in message
    assert replicas(plane) == 2


def test_a_missing_target_is_told(plane: ControlPlane) -> None:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "ghost"}
    plane.create(HORIZONTAL_POD_AUTOSCALERS, autoscaler(scaleTargetRef=target))
    assert verdicts(plane) == {"AbleToScale": "FailedGetScale"}
    assert plane.messages("FailedGetScale") == ['deployments.apps "ghost" not found']
