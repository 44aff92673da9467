"""Whether a system's workloads are up: as many pods as there should be, all up to date and ready."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import DEPLOYMENTS, PODS, STATEFUL_SETS, Obj
from pytest_microremed.systems.state import State, read_state
from pytest_microremed.systems.system import System, Workload

FEW = 4
"""Up to so many workloads it is less to ask for each than for all."""
_WORKLOAD_KINDS = (DEPLOYMENTS, STATEFUL_SETS, PODS)


def unhealthy(system: System, state: State) -> dict[str, str]:
    """Why each workload that is not up is not; empty if all are."""
    pods = pods_by_workload(system, state)
    found = {}
    for name, workload in system.workloads.items():
        reason = _trouble(workload, state.objects.get((workload.object_kind, name)), pods[name])
        if reason:
            found[name] = reason
    return found


def troubles(cluster: Cluster, system: System, namespace: str, names: Collection[str]) -> dict[str, str]:
    """Why each of these workloads that is not up is not. A few are asked for one by one, which is cheaper."""
    if len(names) > FEW:
        return unhealthy(system, read_state(cluster, namespace, _WORKLOAD_KINDS))
    found = {}
    for name in names:
        workload = system.workload(name)
        live = cluster.get(workload.object_kind, namespace, name)
        reason = _trouble(workload, live, cluster.list(PODS, namespace, workload.labels))
        if reason:
            found[name] = reason
    return found


def pods_by_workload(system: System, state: State) -> Mapping[str, list[Obj]]:
    """The pods of each workload; those of no workload under ''."""
    pods: dict[str, list[Obj]] = defaultdict(list)
    for pod in state.pods:
        name = pod["metadata"].get("labels", {}).get("app")
        pods[name if name in system.workloads else ""].append(pod)
    return pods


def is_ready(pod: Obj) -> bool:
    """The pod's Ready condition; a pod on its way out is not ready."""
    conditions = pod.get("status", {}).get("conditions", ())
    return "deletionTimestamp" not in pod["metadata"] and any(
        condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions
    )


def _trouble(workload: Workload, live: Obj | None, pods: list[Obj]) -> str | None:
    if live is None:
        return f"there is no {workload.kind}"
    if live.get("status", {}).get("observedGeneration", 0) < live["metadata"]["generation"]:
        return "its controller has not seen the last change yet"
    ready = sum(map(is_ready, pods))
    if ready != workload.replicas or len(pods) != workload.replicas:
        reasons = ", ".join(reason for pod in pods for reason in _waiting(pod))
        return f"{ready} of {workload.replicas} pods ready" + (f" ({reasons})" if reasons else "")
    if live.get("status", {}).get("updatedReplicas", 0) != workload.replicas:
        return "pods of an older revision are still there"
    return None


def _waiting(pod: Obj) -> Iterator[str]:
    name, status = pod["metadata"]["name"], pod.get("status", {})
    if "deletionTimestamp" in pod["metadata"]:
        yield f"{name}: Terminating"
        return
    if status.get("reason"):
        yield f"{name}: {status['reason']}"
    if status.get("phase") == "Pending" and not status.get("containerStatuses"):
        yield f"{name}: Pending"
    for container in status.get("containerStatuses") or ():
        for state in container.get("state", {}).values():
            if state and state.get("reason"):
                yield f"{name} {container['name']}: {state['reason']}"
