"""Running a command in a pod that a playbook may be replacing at this very moment."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_microremed.cluster.cluster import Cluster, ExecOutput, RequestFailed
from pytest_microremed.cluster.kinds import PODS, Obj
from pytest_microremed.faults.target import container_status, is_alive, name_of

LIMIT_S = 30.0
"""Wall-clock seconds; every command given here ends by itself before."""


def run_in(
    cluster: Cluster, pod: Obj, container: str, command: Sequence[str], limit_s: float = LIMIT_S
) -> ExecOutput | str:
    """What the command put out, or one sentence why it could not run in that pod.

    Raises ClusterError where the pod is as it was, so the infrastructure must have failed; WaitTimeout
    after `limit_s`.
    """
    name, namespace = name_of(pod), pod["metadata"]["namespace"]
    if not runs(pod, container):
        return f"container {container} does not run"
    try:
        return cluster.execute(namespace, name, container, command, timeout_s=limit_s)
    except RequestFailed as error:
        if "executable file not found" in error.message:  # how container runtimes say it
            return f"container {container} has no {command[0]}"
        now = cluster.get(PODS, namespace, name)
        if now is None or now["metadata"]["uid"] != pod["metadata"]["uid"] or not is_alive(now):
            return "the pod went away during the check"
        if not runs(now, container) or _identity(now, container) != _identity(pod, container):
            return f"container {container} ended during the check"
        raise


def runs(pod: Obj, container: str) -> bool:
    """Whether the container's process is there, as the pod's status has it."""
    return "running" in container_status(pod, container).get("state", {})


def _identity(pod: Obj, container: str) -> object:
    return container_status(pod, container).get("containerID")
