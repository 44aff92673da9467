"""A peer: a healthy pod of the same system from whose probe sidecar the target is asked, as its callers ask
it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_microremed.checks.exec import run_in, runs
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import PODS, Obj
from pytest_microremed.faults.target import is_alive, is_ready, name_of
from pytest_microremed.systems.system import PROBE_CONTAINER, System, Workload

ANSWER_S = 10
"""Seconds that an answer may take: what is slow is for the status checks to say."""


@dataclass(frozen=True)
class Peer:
    """A pod that is not the target's."""

    cluster: Cluster
    pod: Obj

    @property
    def address(self) -> str:
        """The pod's IP."""
        ip: str = self.pod["status"]["podIP"]
        return ip

    def ask(self, workload: Workload, host: str, port: int) -> str | None:
        """Send one request as the workload's clients do; None if it was answered, else one sentence.

        HTTP is asked for the workload's path. Of gRPC and other protocols the connection is the request: no
        tool that speaks them is in every image.
        """
        if workload.protocol == "http":
            url = f"http://{host}:{port}{workload.http_path}"
            command = ["wget", "-q", "-O", "/dev/null", "-T", str(ANSWER_S), url]
        else:
            url = f"{host}:{port}"
            command = ["nc", "-z", "-w", str(ANSWER_S), host, str(port)]
        answer = run_in(self.cluster, self.pod, PROBE_CONTAINER, command)
        if isinstance(answer, str):
            return f"peer {name_of(self.pod)} could not ask {url}: {answer}"
        if answer.exit_code == 0:
            return None
        said = (answer.stderr or answer.stdout).strip().splitlines()
        return f"no answer from {url}" + (f": {said[-1]}" if said else "")


def find_peer(cluster: Cluster, system: System, workload: Workload, namespace: str) -> Peer | str:
    """The first ready pod of another workload of the system, or one sentence that there is none.

    That is no infrastructure trouble: all were there when the case was posed, so the playbook did away with
    them.
    """
    for name in sorted(system.workloads):
        if name == workload.name:
            continue
        pods = cluster.list(PODS, namespace, system.workloads[name].labels)
        for pod in sorted(pods, key=name_of):
            if is_alive(pod) and is_ready(pod) and runs(pod, PROBE_CONTAINER):
                return Peer(cluster, pod)
    return f"no pod of {system.name} beside {workload.name} is ready, so nobody can ask it"
