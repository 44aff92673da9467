"""What a status check is, and what it says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.errors import NotPosed
from pytest_microremed.faults.target import Target, View, container_of, name_of
from pytest_microremed.systems.system import Workload


@dataclass(frozen=True)
class CheckResult:
    """One look: whether all is well, one sentence why, and the figures behind it."""

    passed: bool
    reason: str
    evidence: dict[str, Any] = field(default_factory=dict)


class StatusCheck(Protocol):
    """Watches for one injected fault, against the healthy target that it saw at its construction."""

    def run(self) -> CheckResult:
        """Look once. Raises ClusterError where the infrastructure, not the target, is in the way."""

    def refresh(self) -> None:
        """From now on only what is measured later counts."""


class Measurement(Protocol):
    """The part of a status check that is about its fault alone. Constructed on the healthy target."""

    def measure(self, view: View) -> CheckResult:
        """Judge all pods of the view. Raises ClusterError."""

    def refresh(self) -> None:
        """See StatusCheck."""


class TargetCheck:
    """A status check: the target has all its pods with all their containers, and the measurement finds them
    well.

    A workload that is deleted, scaled down, renamed or relabelled, or a pod that lacks a container,
    therefore never passes, whatever is measured.
    """

    def __init__(self, target: Target, healthy: View, measurement: Measurement) -> None:
        self._target = target
        self._measurement = measurement
        self._containers = container_names(healthy)

    def run(self) -> CheckResult:
        view = self._target.look()
        missing = find_missing(self._target.workload, self._containers, view)
        if missing:
            return CheckResult(False, missing, {"pods": [name_of(pod) for pod in view.pods]})
        return self._measurement.measure(view)

    def refresh(self) -> None:
        self._measurement.refresh()


def container_names(view: View) -> tuple[str, ...]:
    """The names of the containers of the target's pods."""
    return tuple(c["name"] for pod in view.pods[:1] for c in pod["spec"]["containers"])


def find_missing(workload: Workload, containers: tuple[str, ...], view: View) -> str | None:
    """What of the target is not there (any more): one sentence, or None."""
    called = f"{workload.kind} {workload.name}"
    if view.workload is None:
        return f"{called} does not exist"
    replicas = view.workload["spec"].get("replicas", 1)
    if replicas < workload.replicas:
        return f"{called} is scaled to {replicas}, {workload.replicas} before the fault"
    if view.strays:
        return f"pod {name_of(view.strays[0])} lives on, but is no longer one of {called}"
    if len(view.pods) < workload.replicas:
        return f"{called} has {len(view.pods)} pods, {workload.replicas} before the fault"
    for pod in view.pods:
        for container in containers:
            if container_of(pod, container) is None:
                return f"pod {name_of(pod)} has no container {container}"
    return None


def look_healthy(cluster: Cluster, workload: Workload, namespace: str) -> tuple[Target, View]:
    """The target with all that belongs to it, to take a baseline from. NotPosed if something is missing."""
    target = Target(cluster, workload, namespace)
    view = target.look()
    missing = find_missing(workload, (workload.container,), view)
    if missing:
        raise NotPosed(f"no healthy target to measure: {missing}")
    return target, view
