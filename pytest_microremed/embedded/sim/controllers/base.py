"""What all controllers share: they watch the store, queue the keys of what may need work, and reconcile each.

Source: the controller pattern of Kubernetes (level-triggered, with a work queue that drops duplicates).
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import ClassVar, Literal, TypeAlias

from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Change, Object, Store
from pytest_microremed.embedded.sim import events
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.controllers.ownership import Orphans, claim
from pytest_microremed.embedded.sim.controllers.pods import PodIndex

Key: TypeAlias = tuple[str, str]
"""Namespace (empty for cluster-scoped kinds) and name."""

_FIRST_RETRY_S = 1.0
_LAST_RETRY_S = 300.0

_MEANT = ("labels", "annotations", "ownerReferences", "finalizers", "deletionTimestamp")

_log = logging.getLogger(__name__)


class RetryLaterError(Exception):
    """Raised by a controller that could not do all it should, and has told of it: call it again later."""


def key_of(obj: Object) -> Key:
    """The queue key of an object."""
    return obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def is_status_only(change: Change) -> bool:
    """Whether nothing that tells a controller what to do has changed."""
    if change.type != "MODIFIED" or change.old is None or change.old.get("spec") != change.obj.get("spec"):
        return False
    before, after = change.old["metadata"], change.obj["metadata"]
    return all(before.get(field) == after.get(field) for field in _MEANT)


class Controller(ABC):
    """Drives the objects of one kind. Reconciling is idempotent: it may come too often, never too seldom."""

    component: ClassVar[str]
    """How events name it."""
    watches: ClassVar[tuple[Resource, ...]]

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self.store: Store = manager.store
        self.clock: SimClock = manager.clock
        self.pods: PodIndex = manager.pods

    @abstractmethod
    def keys(self, change: Change) -> Iterable[Key]:
        """What may need work after this change of a watched resource."""

    @abstractmethod
    def reconcile(self, namespace: str, name: str) -> None:
        """Look at the object, which may be gone, and do the next step."""

    def later(self, seconds: float, obj: Object) -> None:
        """Reconcile the object again after so many simulated seconds."""
        self.manager.enqueue_later(seconds, self, key_of(obj))

    def claim(self, resource: Resource, owner: Object) -> list[Object]:
        """The objects that `owner` manages, after it has adopted and released what its selector says."""
        return claim(self.store, resource, owner, self.manager.orphans.of(resource, owner["metadata"]["namespace"]))

    def tell(self, obj: Object, type_: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Record an event about the object."""
        events.record(self.store, self.clock, obj, type_, reason, message, self.component)


class Manager:
    """Runs controllers on the event loop: one subscription to the store, one queue, retries with back-off."""

    def __init__(self, store: Store, clock: SimClock) -> None:
        self.store = store
        self.clock = clock
        self.pods = PodIndex(clock)
        self.orphans = Orphans()
        self._controllers: dict[Resource, list[Controller]] = defaultdict(list)
        self._queue: dict[tuple[Controller, Key], None] = {}
        self._scheduled = False
        self._timers: dict[tuple[Controller, Key], asyncio.TimerHandle] = {}
        self._failures: dict[tuple[Controller, Key], int] = {}

    def start(self, controllers: Sequence[Controller]) -> None:
        """Reconcile what is in the store already, and from now on whatever changes."""
        for controller in controllers:
            for resource in controller.watches:
                self._controllers[resource].append(controller)
        for resource in self.store.resources():
            for obj in self.store.list(resource):
                self._observe(Change("ADDED", resource, obj, None))
        self.store.subscribe(self._observe)

    def enqueue(self, controller: Controller, key: Key) -> None:
        self._queue[controller, key] = None
        if not self._scheduled:
            self._scheduled = True
            self.clock.loop.call_soon(self._work)

    def enqueue_later(self, seconds: float, controller: Controller, key: Key) -> None:
        """Enqueue after so many simulated seconds, or sooner if that was asked for already."""
        item = (controller, key)
        pending = self._timers.get(item)
        if pending is not None:
            if pending.when() <= self.clock.loop.time() + seconds / self.clock.speed:
                return
            pending.cancel()
        self._timers[item] = self.clock.call_later(seconds, self._ring, item)

    def _ring(self, item: tuple[Controller, Key]) -> None:
        del self._timers[item]
        self.enqueue(*item)

    def _observe(self, change: Change) -> None:
        self.pods.observe(change)
        self.orphans.observe(change)
        for controller in self._controllers.get(change.resource, ()):
            try:
                for key in controller.keys(change):
                    self.enqueue(controller, key)
            except Exception:  # noqa: BLE001 - whoever changed the object must not suffer from it
                name = "/".join(key_of(change.obj))
                _log.exception("%s: %s %s cannot be handled", controller.component, change.resource.kind, name)

    def _work(self) -> None:
        """Reconcile what is queued now; what that queues in turn waits for the loop's next round."""
        self._scheduled = False
        queue, self._queue = self._queue, {}
        for controller, key in queue:
            self._reconcile(controller, key)

    def _reconcile(self, controller: Controller, key: Key) -> None:
        item = (controller, key)
        try:
            controller.reconcile(*key)
        except RetryLaterError:
            self._retry(item)
        except Exception:  # noqa: BLE001 - one object that cannot be handled must not stop the others
            _log.exception("%s: reconciling %s failed", controller.component, "/".join(key))
            self._retry(item)
        else:
            self._failures.pop(item, None)

    def _retry(self, item: tuple[Controller, Key]) -> None:
        failures = self._failures[item] = self._failures.get(item, 0) + 1
        self.enqueue_later(min(_FIRST_RETRY_S * 2 ** (failures - 1), _LAST_RETRY_S), *item)
