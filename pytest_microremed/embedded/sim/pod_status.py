"""The status of a pod as its kubelet writes it: phase, conditions and container statuses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pytest_microremed.embedded.api.store import Object, timestamp
from pytest_microremed.embedded.sim.container_state import Running, State, Terminated, Waiting
from pytest_microremed.embedded.sim.container_worker import ContainerWorker
from pytest_microremed.embedded.sim.images import InvalidReferenceError, full_name
from pytest_microremed.embedded.sim.node_context import NodeContext

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.pod_worker import PodWorker

KUBELET_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")


def status_of(worker: PodWorker, context: NodeContext) -> dict[str, Any]:
    """The fields of PodStatus that a kubelet owns."""
    status: dict[str, Any] = {
        "phase": _phase(worker),
        "conditions": _conditions(worker, context),
        "hostIP": context.ip,
        "hostIPs": [{"ip": context.ip}],
        "startTime": timestamp(worker.started_at),
        "containerStatuses": [_container_status(c) for c in worker.main],
    }
    if worker.sandbox_ready:
        status |= {"podIP": worker.sandbox.ip, "podIPs": [{"ip": worker.sandbox.ip}]}
    if worker.init:
        status["initContainerStatuses"] = [_container_status(c) for c in worker.init]
    if worker.ephemeral:
        status["ephemeralContainerStatuses"] = [_container_status(c) for c in worker.ephemeral]
    return status


def _phase(worker: PodWorker) -> str:
    finished = [c.state for c in worker.main if c.finished.is_set() and isinstance(c.state, Terminated)]
    if len(finished) == len(worker.main):
        return "Succeeded" if all(state.exit_code == 0 for state in finished) else "Failed"
    failed_init = any(
        c.finished.is_set() and isinstance(c.state, Terminated) and c.state.exit_code for c in worker.init
    )
    if failed_init:
        return "Failed"
    never_ran = any(isinstance(c.state, Waiting) and c.last is None for c in worker.main)
    return "Pending" if never_ran or not worker.is_initialized else "Running"


def _conditions(worker: PodWorker, context: NodeContext) -> list[Object]:
    known = {c["type"]: c for c in worker.pod.get("status", {}).get("conditions") or ()}
    now = timestamp(context.clock.now())
    conditions = []
    for kind, (status, reason, message) in _verdicts(worker).items():
        condition: Object = {"type": kind, "status": status, "lastProbeTime": None, "lastTransitionTime": now}
        if reason:
            condition |= {"reason": reason, "message": message} if message else {"reason": reason}
        old = known.get(kind)
        if old and old["status"] == status:
            condition["lastTransitionTime"] = old.get("lastTransitionTime", now)
        conditions.append(condition)
    return [*conditions, *(c for kind, c in known.items() if kind not in KUBELET_CONDITIONS)]


def _verdicts(worker: PodWorker) -> dict[str, tuple[str, str, str]]:
    """Status, reason and message by type of condition."""
    phase = _phase(worker)
    unready = [c.name for c in worker.main if not c.ready]
    incomplete = [c.name for c in worker.init if not (c.came_up if c.is_sidecar else c.finished).is_set()]
    if phase == "Succeeded":
        ready = ("False", "PodCompleted", "")
    elif phase == "Failed":
        ready = ("False", "PodFailed", "")
    elif unready:
        ready = ("False", "ContainersNotReady", f"containers with unready status: {_names(unready)}")
    else:
        ready = ("True", "", "")
    initialized = ("True", "", "")
    if not worker.is_initialized:
        message = f"containers with incomplete status: {_names(incomplete)}"
        initialized = ("False", "ContainersNotInitialized", message)
    return {
        "PodReadyToStartContainers": (_boolean(worker.sandbox_ready), "", ""),
        "Initialized": initialized,
        "Ready": ready,
        "ContainersReady": ready,
        "PodScheduled": ("True", "", ""),
    }


def _container_status(worker: ContainerWorker) -> Object:
    image = worker.container.spec["image"]
    status: Object = {
        "name": worker.name,
        "state": _state(worker.state),
        "lastState": _state(worker.last) if worker.last else {},
        "ready": worker.ready or (worker.role == "init" and _is_done(worker.state)),
        "restartCount": worker.container.restart_count,
        "image": _display(image) if worker.image_id else image,
        "imageID": worker.image_id,
        "started": worker.started,
    }
    if worker.container_id:
        status["containerID"] = worker.container_id
    if resources := worker.container.spec.get("resources"):
        status["resources"] = resources
        if "requests" in resources:
            status["allocatedResources"] = resources["requests"]
    return status


def _state(state: State) -> Object:
    match state:
        case Waiting(reason, message):
            return {"waiting": {"reason": reason, "message": message} if message else {"reason": reason}}
        case Running(started):
            return {"running": {"startedAt": timestamp(started)}}
        case Terminated():
            told: Object = {
                "exitCode": state.exit_code,
                "reason": state.reason,
                "startedAt": timestamp(state.started),
                "finishedAt": timestamp(state.finished),
                "containerID": state.container_id,
            }
            return {"terminated": told | ({"message": state.message} if state.message else {})}


def _is_done(state: State) -> bool:
    return isinstance(state, Terminated) and state.exit_code == 0


def _display(reference: str) -> str:
    """The name that the runtime reports."""
    try:
        return full_name(reference)
    except InvalidReferenceError:
        return reference


def _names(names: Iterable[str]) -> str:
    """Go's way to print a list."""
    return f"[{' '.join(names)}]"


def _boolean(value: bool) -> str:
    return "True" if value else "False"
