"""Pod health: the target's pods run the program that they ran before the fault, and it answers."""

from __future__ import annotations

from pytest_microremed.checks.check import CheckResult
from pytest_microremed.checks.peer import find_peer
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.faults.target import View, container_of, is_ready, name_of
from pytest_microremed.systems.system import System, Workload


class PodHealth:
    """All pods are ready, with the images of the healthy target, and answer a request of their own.

    Chaos Mesh's pod-failure puts a pause image in place of the program; a pod without readiness probe is
    then "ready" and dead.
    """

    def __init__(self, cluster: Cluster, system: System, workload: Workload, namespace: str, healthy: View) -> None:
        self._cluster = cluster
        self._system = system
        self._workload = workload
        self._namespace = namespace
        self._images = {c["name"]: c["image"] for c in healthy.pods[0]["spec"]["containers"]}

    def measure(self, view: View) -> CheckResult:
        evidence = {name_of(pod): "ready" if is_ready(pod) else "not ready" for pod in view.pods}
        for pod in view.pods:
            for container, image in self._images.items():
                current = (container_of(pod, container) or {}).get("image")
                if current != image:
                    return CheckResult(False, f"{name_of(pod)}/{container} runs {current} instead of {image}", evidence)
            if not is_ready(pod):
                return CheckResult(False, f"{name_of(pod)} is not ready", evidence)
        trouble = self._ask(view)
        return CheckResult(trouble is None, trouble or f"{len(view.pods)} pods ready and answering", evidence)

    def refresh(self) -> None:
        """Every look measures anew."""

    def _ask(self, view: View) -> str | None:
        port = self._workload.port
        if port is None:
            return None
        peer = find_peer(self._cluster, self._system, self._workload, self._namespace)
        if isinstance(peer, str):
            return peer
        answers = (peer.ask(self._workload, pod["status"]["podIP"], port) for pod in view.pods)
        return next((trouble for trouble in answers if trouble), None)
