"""Pods as controllers see them: their state, and an index of them all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.clock import SimClock


def is_terminating(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def phase(pod: Object) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))


def is_finished(pod: Object) -> bool:
    return phase(pod) in ("Succeeded", "Failed")


def is_active(pod: Object) -> bool:
    """Counts as a replica: neither finished nor on its way out."""
    return not is_terminating(pod) and not is_finished(pod)


def is_ready(pod: Object) -> bool:
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod.get("status", {}).get("conditions") or ()
    )


class PodIndex:
    """All pods by namespace, and since when they exist and are ready, in simulated time."""

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        self._pods: dict[str, dict[str, Object]] = defaultdict(dict)
        self._seen: dict[str, float] = {}
        self._ready_since: dict[str, float] = {}

    def observe(self, change: Change) -> None:
        if change.resource is not PODS:
            return
        meta = change.obj["metadata"]
        namespace, name, uid = meta["namespace"], meta["name"], meta["uid"]
        if change.type == "DELETED":
            self._pods[namespace].pop(name, None)
            self._seen.pop(uid, None)
            self._ready_since.pop(uid, None)
            return
        self._pods[namespace][name] = change.obj
        self._seen.setdefault(uid, self._clock.seconds())
        if not is_ready(change.obj):
            self._ready_since.pop(uid, None)
        elif uid not in self._ready_since:
            self._ready_since[uid] = self._clock.seconds()

    def in_namespace(self, namespace: str) -> list[Object]:
        return list(self._pods[namespace].values())

    def first_seen(self, pod: Object) -> float:
        """When it was created, in simulated seconds."""
        return self._seen.get(pod["metadata"]["uid"], 0.0)

    def ready_since(self, pod: Object) -> float:
        """When it became ready, in simulated seconds; infinite if it is not."""
        return self._ready_since.get(pod["metadata"]["uid"], float("inf"))

    def seconds_to_available(self, pod: Object, min_ready_s: float) -> float:
        """How much longer it must stay ready to count as available: 0 = it is, infinite = it is not ready."""
        return max(0.0, self.ready_since(pod) + min_ready_s - self._clock.seconds())

    def next_available(self, pods: Iterable[Object], min_ready_s: float) -> float | None:
        """Simulated seconds until the next ready pod becomes available; None if there is none to wait for."""
        waits = [self.seconds_to_available(pod, min_ready_s) for pod in pods]
        return min((wait for wait in waits if 0 < wait < float("inf")), default=None)
