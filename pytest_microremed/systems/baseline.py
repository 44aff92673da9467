"""The healthy state of a deployed system: taken after deployment, compared with, and gone back to."""

from __future__ import annotations

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.errors import ClusterError
from pytest_microremed.systems import repair
from pytest_microremed.systems.health import pods_by_workload, troubles, unhealthy
from pytest_microremed.systems.namespace import claim_namespace
from pytest_microremed.systems.render import render
from pytest_microremed.systems.snapshot import Baseline, Change, compare, take_baseline
from pytest_microremed.systems.state import WATCHED_KINDS, State, pod_shape, read_state
from pytest_microremed.systems.system import System

__all__ = ["Baseline", "Change", "changes", "deploy", "find_clean", "restore"]

DEPLOY_S = 1800.0
"""How long a system may take from its manifests to ready pods, image pulls included, in cluster seconds."""
RESTORE_S = 600.0
"""How long restored workloads may take to get ready, in cluster seconds."""
_POLL_S = 2.0


def deploy(cluster: Cluster, system: System, namespace: str) -> Baseline:
    """Deploy the system into a new namespace, wait until it is ready, and take its baseline.

    A namespace of that name that an earlier run has left is deleted first: what happened inside its
    containers is unknown. One that is not the harness's own is left alone: ClusterError. WaitTimeout says
    which workloads are not ready.
    """
    claim_namespace(cluster, system, namespace)
    for obj in render(system, namespace):
        cluster.create(obj)
    _wait_until_up(cluster, system, namespace)
    return take_baseline(system, namespace, read_state(cluster, namespace))


def find_clean(cluster: Cluster, baseline: Baseline) -> list[str]:
    """What differs from the baseline, one line an object; empty if all is as it was, and ready."""
    return [str(change) for change in changes(cluster, baseline)]


def changes(cluster: Cluster, baseline: Baseline) -> list[Change]:
    """What differs from the baseline: objects added, removed, changed; pods changed; workloads not up."""
    return compare(baseline, read_state(cluster, baseline.namespace))


def restore(cluster: Cluster, baseline: Baseline, *, recycle: tuple[str, ...] = ()) -> None:
    """Put every object back as in the baseline, wait until all is ready, and verify it.

    Workloads in `recycle`, those not up and those with pods changed in place get new pods, since what was
    done inside a container (processes, files, `tc`) shows in no object. Traces of the past, from which the
    next remediator might learn, go too: old revisions and events. What cannot be put right in place is
    deployed anew from the baseline.

    ClusterError says what still differs at the end; UsageError if a name in `recycle` is no workload's.
    """
    for name in recycle:
        baseline.system.workload(name)
    try:
        state = _put_right(cluster, baseline, recycle)
    except ClusterError:
        state = _deploy_again(cluster, baseline)
    repair.forget_past(cluster, baseline.namespace, state)


def _put_right(cluster: Cluster, baseline: Baseline, recycle: tuple[str, ...]) -> State:
    """The clean state, reached by changing what differs."""
    system, namespace = baseline.system, baseline.namespace
    state = read_state(cluster, namespace)
    differences = compare(baseline, state)
    if not differences and not recycle:
        return state
    repair.put_back(cluster, baseline.objects, state.objects)
    pods = pods_by_workload(system, state)
    suspects = {"", *recycle, *unhealthy(system, state)}
    for name, shape in baseline.pod_shapes.items():
        if any(pod_shape(pod) != shape for pod in pods[name]):
            suspects.add(name)
    repair.replace_pods(cluster, (pod for name in suspects for pod in pods[name]))
    touched = {change.name for change in differences} | suspects
    return _wait_until_clean(cluster, baseline, touched & set(system.workloads), RESTORE_S)


def _deploy_again(cluster: Cluster, baseline: Baseline) -> State:
    """The clean state, reached by creating everything in a new namespace."""
    claim_namespace(cluster, baseline.system, baseline.namespace)
    for kind in WATCHED_KINDS:
        for (of_kind, _), obj in baseline.objects.items():
            if of_kind is kind:
                repair.create(cluster, obj)
    return _wait_until_clean(cluster, baseline, set(baseline.system.workloads), DEPLOY_S)


def _wait_until_up(cluster: Cluster, system: System, namespace: str) -> None:
    last = ""

    def up() -> bool:
        nonlocal last
        reasons = troubles(cluster, system, namespace, set(system.workloads))
        last = _summary([f"{name}: {reason}" for name, reason in reasons.items()])
        return not reasons

    cluster.wait_for(f"{system.name} in namespace {namespace} ready", up, DEPLOY_S, _POLL_S, lambda: last)


def _wait_until_clean(cluster: Cluster, baseline: Baseline, pending: set[str], limit_s: float) -> State:
    """The clean state; until the pending workloads are up nothing else is asked for."""
    last = ""

    def clean() -> State | None:
        nonlocal last, pending
        reasons = troubles(cluster, baseline.system, baseline.namespace, pending)
        if reasons:
            pending = set(reasons)
            last = _summary([f"{name}: {reason}" for name, reason in reasons.items()])
            return None
        state = read_state(cluster, baseline.namespace)
        differences = compare(baseline, state)
        pending = {change.name for change in differences if change.what == "unhealthy"}
        last = _summary([str(change) for change in differences])
        return None if differences else state

    what = f"namespace {baseline.namespace} as in its baseline"
    return cluster.wait_for(what, clean, limit_s, _POLL_S, lambda: last)


def _summary(differences: list[str], at_most: int = 5) -> str:
    more = len(differences) - at_most
    return "; ".join(differences[:at_most]) + (f"; and {more} more" if more > 0 else "")
