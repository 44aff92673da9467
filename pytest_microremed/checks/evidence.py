"""How a target came back, told from what the cluster shows of it before and after the playbook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_microremed.checks.saturation import Resource, limit_of
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.faults.fault import CheckName, Fault
from pytest_microremed.faults.injection import Injection
from pytest_microremed.faults.target import Target, container_of
from pytest_microremed.systems.system import Workload

_RESOURCES: tuple[Resource, ...] = ("cpu", "memory")
_EFFECT_UNDONE: Mapping[CheckName, str] = {
    "cpu-usage": "process stopped",
    "memory-usage": "process stopped",
    "disk-write": "mount restored",
    "packet-loss": "qdisc removed",
    "round-trip": "qdisc removed",
    "pod-health": "image corrected",
}
"""What was done where the injector and the pods are what they were, and yet the fault is gone."""


@dataclass(frozen=True)
class Evidence:
    """The target at one moment."""

    check: CheckName
    injected: bool
    """Whether the injector's object is there, or the configuration still wrong."""
    workload: str | None
    """The workload's uid."""
    replicas: int
    limits: Mapping[str, float | None]
    """Limits of the main container in the workload's template."""
    pods: Mapping[str, Mapping[str, str]]
    """The container ids of each pod, by pod uid and container."""


def gather(cluster: Cluster, injection: Injection, fault: Fault, workload: Workload, namespace: str) -> Evidence:
    """Look at the target now. Raises ClusterError."""
    view = Target(cluster, workload, namespace).look()
    spec = view.workload["spec"] if view.workload else {}
    template = container_of(spec["template"], workload.container) if spec else None
    return Evidence(
        check=fault.check,
        injected=injection.active(),
        workload=view.workload["metadata"]["uid"] if view.workload else None,
        replicas=spec.get("replicas", 1) if spec else 0,
        limits={resource: limit_of(template, resource) for resource in _RESOURCES},
        pods={
            pod["metadata"]["uid"]: {
                status["name"]: status.get("containerID", "")
                for status in pod.get("status", {}).get("containerStatuses") or []
            }
            for pod in view.pods
        },
    )


def explain_how(before: Evidence, after: Evidence) -> tuple[str, ...]:
    """What has been done to the target between the two, for a target that has recovered: `pod replaced`, …"""
    how = []
    if before.injected and not after.injected:
        how.append("configuration corrected" if before.check == "configuration" else "injector removed")
    if before.workload != after.workload:
        how.append("workload recreated")
    if before.check != "configuration":  # where new pods are the only way
        if before.pods.keys() - after.pods.keys():
            how.append("pod replaced")
        elif any(before.pods[uid] != after.pods[uid] for uid in before.pods):
            how.append("container restarted")
        for resource in _RESOURCES:
            how += _limit_change(resource, before.limits[resource], after.limits[resource])
    if after.replicas != before.replicas:
        how.append("scaled up" if after.replicas > before.replicas else "scaled down")
    if not how and before.check in _EFFECT_UNDONE:
        how.append(_EFFECT_UNDONE[before.check])
    return tuple(how)


def _limit_change(resource: Resource, old: float | None, new: float | None) -> list[str]:
    if old == new:
        return []
    if new is None:
        return [f"{resource} limit removed"]
    if old is None:
        return [f"{resource} limit set"]
    return [f"{resource} limit {'raised' if new > old else 'lowered'}"]
