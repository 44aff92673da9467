"""What a pod's row says: ready containers, status, restarts (Kubernetes: `printPod` of the API server)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pytest_microremed.embedded.api.durations import age
from pytest_microremed.embedded.api.store import Object

_TERMINAL = ("Succeeded", "Failed")


@dataclass(frozen=True)
class PodSummary:
    """The three cells that need the statuses of all containers."""

    ready: str
    status: str
    restarts: int
    last_restart: str
    """When a container last ended before a restart; empty if none did."""

    def restarts_cell(self, now: datetime) -> str:
        """`0`, or `3 (2m ago)`."""
        if not self.restarts or not self.last_restart:
            return str(self.restarts)
        return f"{self.restarts} ({age(self.last_restart, now)} ago)"


def summarize(pod: Object) -> PodSummary:
    spec, status = pod.get("spec", {}), pod.get("status", {})
    text = status.get("reason") or status.get("phase", "")
    for condition in status.get("conditions") or ():
        if condition["type"] == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            text = "SchedulingGated"
    sidecars = {each["name"] for each in spec.get("initContainers") or () if each.get("restartPolicy") == "Always"}
    inits: list[Object] = status.get("initContainerStatuses") or []
    containers: list[Object] = status.get("containerStatuses") or []
    total = len(spec.get("containers") or ()) + len(sidecars)
    ready = sum(1 for each in inits if each["name"] in sidecars and each.get("ready"))
    initializing = _initializing(inits, sidecars, len(spec.get("initContainers") or ()))
    if initializing and not _is_true(status, "Initialized"):
        return PodSummary(f"{ready}/{total}", _ending(pod, initializing), _restart_count(inits), _last_restart(inits))
    running = 0
    for container in reversed(containers):
        state = container.get("state") or {}
        if reason := _reason(state):
            text = reason
        elif container.get("ready") and "running" in state:
            running += 1
    if text == "Completed" and running:
        text = "Running" if _is_true(status, "Ready") else "NotReady"
    counted = [*containers, *(each for each in inits if each["name"] in sidecars)]
    return PodSummary(f"{ready + running}/{total}", _ending(pod, text), _restart_count(counted), _last_restart(counted))


def _initializing(inits: list[Object], sidecars: set[str], total: int) -> str:
    """`Init:…` while an init container has not ended well; empty once all have."""
    for index, container in enumerate(inits):
        state = container.get("state") or {}
        terminated, waiting = state.get("terminated"), state.get("waiting") or {}
        if terminated is not None and terminated.get("exitCode", 0) == 0:
            continue
        if container["name"] in sidecars and container.get("started"):
            continue
        if terminated is not None:
            return f"Init:{_reason(state)}"
        if waiting.get("reason") not in (None, "", "PodInitializing"):
            return f"Init:{waiting['reason']}"
        return f"Init:{index}/{total}"
    return ""


def _reason(state: dict[str, Any]) -> str:
    """Why a container does not run; empty if it does, or nothing is said."""
    if waiting := state.get("waiting"):
        return str(waiting.get("reason", ""))
    if (terminated := state.get("terminated")) is None:
        return ""
    if terminated.get("reason"):
        return str(terminated["reason"])
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode', 0)}"


def _ending(pod: Object, text: str) -> str:
    if "deletionTimestamp" not in pod["metadata"]:
        return text
    status = pod.get("status", {})
    if status.get("reason") == "NodeLost":
        return "Unknown"
    return text if status.get("phase") in _TERMINAL else "Terminating"


def _restart_count(containers: list[Object]) -> int:
    return sum(each.get("restartCount", 0) for each in containers)


def _last_restart(containers: list[Object]) -> str:
    ended = [((each.get("lastState") or {}).get("terminated") or {}).get("finishedAt") or "" for each in containers]
    return max(ended, default="")


def _is_true(status: Object, condition_type: str) -> bool:
    conditions = status.get("conditions") or ()
    return any(each["type"] == condition_type and each.get("status") == "True" for each in conditions)
