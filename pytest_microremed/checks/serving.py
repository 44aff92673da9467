"""Serving: the target takes requests as it did before the fault, through its own Service and by its own
pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_microremed.checks.check import CheckResult, container_names, find_missing, look_healthy
from pytest_microremed.checks.peer import find_peer
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import ENDPOINTS, Obj
from pytest_microremed.faults.target import View, container_of, is_ready, name_of
from pytest_microremed.systems.system import System, Workload


class ServingCheck:
    """The target has as many ready pods as before, as honestly ready as before; its Service has them, and
    is answered.

    Construct it on the healthy system. A workload without a Service has to be ready only.
    """

    def __init__(self, cluster: Cluster, system: System, workload: Workload, namespace: str) -> None:
        self._cluster = cluster
        self._system = system
        self._workload = workload
        self._namespace = namespace
        self._target, healthy = look_healthy(cluster, workload, namespace)
        self._containers = container_names(healthy)
        self._probes = {name: container_of(healthy.pods[0], name) or {} for name in self._containers}
        self._ports = self._endpoints()[1] if workload.service else frozenset()

    def run(self) -> CheckResult:
        """Look once. Raises ClusterError where the infrastructure is in the way."""
        view = self._target.look()
        ready = [pod for pod in view.pods if is_ready(pod)]
        evidence: dict[str, Any] = {"ready": len(ready), "before": self._workload.replicas}
        trouble = (
            find_missing(self._workload, self._containers, view)
            or self._unready(view, ready)
            or self._weakened(ready)
            or (self._unserved(ready) if self._workload.service else None)
        )
        return CheckResult(trouble is None, trouble or f"{len(ready)} pods ready and serving", evidence)

    def _unready(self, view: View, ready: list[Obj]) -> str | None:
        if len(ready) >= self._workload.replicas:
            return None
        waiting = next(name_of(pod) for pod in view.pods if pod not in ready)
        return f"{len(ready)} of {self._workload.replicas} pods ready: {waiting} is not"

    def _weakened(self, ready: list[Obj]) -> str | None:
        for pod in ready:
            for name, before in self._probes.items():
                old, new = before.get("readinessProbe"), (container_of(pod, name) or {}).get("readinessProbe")
                trouble = find_weakened(old, new, before)
                if trouble:
                    return f"{name_of(pod)}/{name}: {trouble}"
        return None

    def _unserved(self, ready: list[Obj]) -> str | None:
        addresses, ports = self._endpoints()
        service, replicas = self._workload.service, self._workload.replicas
        uids = {pod["metadata"]["uid"] for pod in ready}
        mine = addresses & uids
        if len(mine) < replicas:
            return f"Service {service} has {len(mine)} endpoints of the target, {replicas} before the fault"
        if addresses - uids:
            return f"Service {service} also sends requests to what is not a ready pod of the target"
        if ports != self._ports:
            before = sorted(self._ports)
            return f"Service {service} sends requests to ports {sorted(ports)}, {before} before the fault"
        return self._ask()

    def _ask(self) -> str | None:
        service, port = self._workload.service, self._workload.service_port
        if service is None or port is None:
            return None
        peer = find_peer(self._cluster, self._system, self._workload, self._namespace)
        return peer if isinstance(peer, str) else peer.ask(self._workload, service, port)

    def _endpoints(self) -> tuple[frozenset[str], frozenset[int]]:
        """The uids of the pods (or, without one, the addresses) that the Service sends requests to, and the
        ports."""
        found = self._cluster.get(ENDPOINTS, self._namespace, self._workload.service or "") or {}
        subsets = [subset for subset in found.get("subsets") or [] if subset.get("addresses")]
        addresses = [address for subset in subsets for address in subset["addresses"]]
        ports = [port["port"] for subset in subsets for port in subset.get("ports") or []]
        return frozenset((a.get("targetRef") or {}).get("uid", a["ip"]) for a in addresses), frozenset(ports)


@dataclass(frozen=True)
class _Readiness:
    """A readiness probe in the terms in which two can be compared."""

    question: tuple[Any, ...]
    patience_s: int
    """How long a pod that has stopped answering still counts as ready."""
    successes: int


def find_weakened(old: Obj | None, new: Obj | None, container: Obj) -> str | None:
    """How the new readiness probe asks less than the old one, or None.

    Another timeout or start is no weakness; another question is, and so is waiting longer to believe a
    failure.
    """
    if old is None:
        return None
    if new is None:
        return "its readiness probe is gone"
    before, now = _readiness(old, container), _readiness(new, container)
    if now.question != before.question:
        return "its readiness probe asks something else"
    if now.patience_s > before.patience_s or now.successes < before.successes:
        return "its readiness probe is weaker"
    return None


def _readiness(probe: Obj, container: Obj) -> _Readiness:
    ports = {port.get("name"): port["containerPort"] for port in container.get("ports") or []}
    question: tuple[Any, ...] = ()
    for handler in ("httpGet", "tcpSocket", "grpc"):
        if handler in probe:
            asked = probe[handler]
            port = ports.get(asked["port"], asked["port"])
            question = (
                handler,
                port,
                asked.get("path"),
                asked.get("scheme", "HTTP"),
                asked.get("host"),
                asked.get("service") or "",
            )
    if "exec" in probe:
        question = ("exec", *probe["exec"]["command"])
    # Kubernetes' defaults, where an object does not carry them.
    patience_s = probe.get("failureThreshold", 3) * probe.get("periodSeconds", 10)
    return _Readiness(question, patience_s, probe.get("successThreshold", 1))
