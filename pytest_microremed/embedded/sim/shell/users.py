"""Who the processes of a container run as, and what they may do (security context, capabilities)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_microremed.embedded.sim.model import Container, Process

DEFAULT_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW",
        "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
    }
)  # fmt: skip
"""What a container runtime (containerd) leaves to a container's root."""


def run_as_user(pod_spec: Mapping[str, Any], container_spec: Mapping[str, Any]) -> int:
    """The user id of a container's processes: its own security context's, else the pod's, else root's."""
    own, shared = (spec.get("securityContext") or {} for spec in (container_spec, pod_spec))
    return int(own.get("runAsUser") or shared.get("runAsUser") or 0)


def process_user(container: Container, process: Process) -> int:
    return container.user if process.uid is None else process.uid


def user_name(uid: int) -> str:
    return {0: "root", 65534: "nobody"}.get(uid, str(uid))


def capabilities(container: Container) -> frozenset[str]:
    """The capabilities that the container's security context leaves to its processes."""
    context = container.spec.get("securityContext") or {}
    if context.get("privileged"):
        return DEFAULT_CAPABILITIES | {"NET_ADMIN", "SYS_ADMIN", "SYS_PTRACE", "SYS_TIME"}
    asked = context.get("capabilities") or {}
    added, dropped = ({str(name).removeprefix("CAP_") for name in asked.get(key) or ()} for key in ("add", "drop"))
    kept = frozenset() if "ALL" in dropped else DEFAULT_CAPABILITIES - dropped
    return kept | added


def may_signal(container: Container, sender: Process, target: Process) -> bool:
    """Root with CAP_KILL may signal all processes, others only their own user's."""
    own = process_user(container, sender)
    return (own == 0 and "KILL" in capabilities(container)) or own == process_user(container, target)


def may_administer_network(container: Container) -> bool:
    """Whether a command run in the container may change interfaces, queues and packet filters."""
    return container.user == 0 and "NET_ADMIN" in capabilities(container)
