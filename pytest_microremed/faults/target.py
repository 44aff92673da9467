"""The target as the cluster has it now: its workload object and the pods that really are its own."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_microremed.cluster.cluster import Cluster, RequestFailed
from pytest_microremed.cluster.kinds import PODS, REPLICA_SETS, Obj
from pytest_microremed.systems.system import PROBE_CONTAINER, Workload

_EXEC_LIMIT_S = 20.0


@dataclass(frozen=True)
class View:
    """One look at the target."""

    workload: Obj | None
    pods: tuple[Obj, ...]
    """The pods that the workload controls and that are not being deleted, by name."""
    strays: tuple[Obj, ...]
    """Pods that were the target's in an earlier look, live on, and are its own no longer: somebody
    relabelled them."""


class Target:
    """Finds the pods of a workload by its labels at deployment *and* the chain of controllers.

    A pod that only looks like the target's does not count, and one that was the target's counts until it is
    gone: a playbook cannot hide the pod with the fault, nor put another in its place. Not thread-safe.
    """

    def __init__(self, cluster: Cluster, workload: Workload, namespace: str) -> None:
        self.cluster = cluster
        self.workload = workload
        self.namespace = namespace
        self._seen: dict[str, str] = {}
        """Name by uid of every pod that has been the target's."""
        self._owners: dict[str, str] = {}
        """The workload's uid by the ReplicaSet's."""

    def look(self) -> View:
        """Ask the cluster anew. Raises ClusterError."""
        cluster, workload = self.cluster, self.workload
        found = cluster.get(workload.object_kind, self.namespace, workload.name)
        listed = cluster.list(PODS, self.namespace, workload.labels)
        uid = found["metadata"]["uid"] if found else None
        pods = [pod for pod in listed if uid and is_alive(pod) and self._workload_of(pod) == uid]
        self._seen |= {pod["metadata"]["uid"]: pod["metadata"]["name"] for pod in pods}
        return View(found, tuple(sorted(pods, key=name_of)), self._strays(pods))

    def _workload_of(self, pod: Obj) -> str | None:
        """The uid of the workload that controls the pod, directly or by a ReplicaSet."""
        kind, uid = _controller(pod)
        if kind != "ReplicaSet":
            return uid
        if uid not in self._owners:
            for replica_set in self.cluster.list(REPLICA_SETS, self.namespace, self.workload.labels):
                self._owners[replica_set["metadata"]["uid"]] = _controller(replica_set)[1]
        return self._owners.get(uid)

    def _strays(self, pods: list[Obj]) -> tuple[Obj, ...]:
        mine = {pod["metadata"]["uid"] for pod in pods}
        strays = []
        for uid in [uid for uid in self._seen if uid not in mine]:
            pod = self.cluster.get(PODS, self.namespace, self._seen[uid])
            if pod is None or pod["metadata"]["uid"] != uid or not is_alive(pod):
                del self._seen[uid]
            else:
                strays.append(pod)
        return tuple(strays)


def name_of(obj: Obj) -> str:
    name: str = obj["metadata"]["name"]
    return name


def is_alive(pod: Obj) -> bool:
    """Whether the pod is neither being deleted nor has ended for good (evicted, for instance)."""
    ended = pod.get("status", {}).get("phase") in ("Failed", "Succeeded")
    return not pod["metadata"].get("deletionTimestamp") and not ended


def is_ready(pod: Obj) -> bool:
    """The pod's condition Ready: all its containers run and their readiness probes succeed."""
    conditions = pod.get("status", {}).get("conditions") or []
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def container_of(pod: Obj, name: str) -> Obj | None:
    """The container's part of the pod's spec."""
    return next((c for c in pod["spec"]["containers"] if c["name"] == name), None)


def container_status(pod: Obj, name: str) -> Obj:
    """The container's part of the pod's status, empty before the kubelet has written it."""
    statuses = pod.get("status", {}).get("containerStatuses") or []
    return next((s for s in statuses if s["name"] == name), {})


def disk_container(cluster: Cluster, workload: Workload, namespace: str, pod: str) -> str:
    """Where disk faults are injected and measured in this pod: the main container, or the probe sidecar.

    The sidecar stands in where the image of the main one has no `dd` (distroless). It is one of the two
    because Chaos Mesh keeps one container per pod for I/O faults (PodIOChaos `spec.container`): a second
    replaces the first.
    """
    try:
        answer = cluster.execute(
            namespace, pod, workload.container, ["sh", "-c", "command -v dd"], timeout_s=_EXEC_LIMIT_S
        )
    except RequestFailed as error:
        # "executable file not found": how container runtimes say that there is no shell.
        if error.status == 0 or "not found" not in error.message:
            raise
        return PROBE_CONTAINER
    return workload.container if answer.exit_code == 0 else PROBE_CONTAINER


def _controller(obj: Obj) -> tuple[str, str]:
    """Kind and uid of the object's controller; empty where it has none."""
    owners = obj["metadata"].get("ownerReferences") or []
    return next(((owner["kind"], owner["uid"]) for owner in owners if owner.get("controller")), ("", ""))
