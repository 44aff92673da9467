"""How many replicas a metric of a HorizontalPodAutoscaler asks for.

Source: Kubernetes documentation, "Horizontal Pod Autoscaling", algorithm details.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pytest_microremed.embedded.api.quantity import canonical_quantity, parse_quantity
from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.controllers.pods import is_ready

_TOLERANCE = 0.1

Samples = Mapping[str, Mapping[str, Usage] | None]
"""Usage by pod and container."""


class MetricError(Exception):
    """The metric cannot be computed; `reason` is what the condition ScalingActive gives for it."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


@dataclass(frozen=True)
class Proposal:
    replicas: int
    metric: str
    """How messages name it."""
    status: Object
    """The metric's entry in status.currentMetrics."""


def propose(metric: Mapping[str, Any], pods: Sequence[Object], samples: Samples, current: int) -> Proposal:
    """The size that brings the metric to its target. Raises MetricError."""
    if metric["type"] == "Resource":
        source, container = metric["resource"], None
    elif metric["type"] == "ContainerResource":
        source, container = metric["containerResource"], metric["containerResource"]["container"]
    else:
        raise MetricError(
            f"FailedGet{metric['type']}Metric",
            f"failed to get {metric['type'].lower()} metric: no metrics API serves it",
        )
    name, target = source["name"], source["target"]
    measured = [pod for pod in pods if is_ready(pod) and samples.get(pod["metadata"]["name"])]
    used = [_used(samples[pod["metadata"]["name"]] or {}, name, container) for pod in measured]
    if not used:
        raise MetricError(
            "FailedGetResourceMetric",
            f"failed to get {name} utilization: unable to get metrics for resource {name}: "
            "no metrics returned from resource metrics API",
        )
    current_status: Object = {"averageValue": _quantity(name, sum(used) / len(used))}
    if target.get("averageUtilization") is not None:
        unit = sum(_requested(pod, name, container) for pod in measured) / len(measured)
        goal = unit * target["averageUtilization"] / 100
        current_status["averageUtilization"] = int(100 * sum(used) / (unit * len(used)))
        label = f"{name} resource utilization (percentage of request)"
    else:
        unit = goal = float(parse_quantity(target["averageValue"]))
        label = f"{name} resource"
    field = "resource" if container is None else "containerResource"
    named = {"name": name} if container is None else {"name": name, "container": container}
    status = {"type": metric["type"], field: {**named, "current": current_status}}
    return Proposal(_replicas(used, goal, unit, len(pods) - len(used), current), label, status)


def _replicas(used: Sequence[float], goal: float, unit: float, unmeasured: int, current: int) -> int:
    """Pods without a sample count as idle when growing and as fully used when shrinking, to damp both."""
    ratio = sum(used) / len(used) / goal
    if abs(ratio - 1) <= _TOLERANCE:
        return current
    if not unmeasured:
        return math.ceil(ratio * len(used))
    total = sum(used) + (0 if ratio > 1 else unmeasured * unit)
    damped = total / (len(used) + unmeasured) / goal
    if abs(damped - 1) <= _TOLERANCE or (damped > 1) != (ratio > 1):
        return current
    return math.ceil(damped * (len(used) + unmeasured))


def _used(sample: Mapping[str, Usage], name: str, container: str | None) -> float:
    usages = [usage for each, usage in sample.items() if container in (None, each)]
    return sum(usage.cpu_cores if name == "cpu" else usage.memory_bytes for usage in usages)


def _requested(pod: Object, name: str, container: str | None) -> float:
    total = 0.0
    for each in pod["spec"]["containers"]:
        if container not in (None, each["name"]):
            continue
        resources = each.get("resources") or {}
        amount = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}.get(name)
        if amount is None:
            raise MetricError(
                "FailedGetResourceMetric",
                f"failed to get {name} utilization: missing request for {name} in container {each['name']} "
                f"of Pod {pod['metadata']['name']}",
            )
        total += float(parse_quantity(amount))
    return total


def _quantity(name: str, amount: float) -> str:
    return f"{math.ceil(amount * 1000)}m" if name == "cpu" else canonical_quantity(math.ceil(amount))
