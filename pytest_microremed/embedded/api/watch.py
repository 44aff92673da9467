"""Watches: what happens to the objects of one resource, told to whoever listens, from a version they name.

A bounded history per resource lets a client continue from the version of its last list; an older one gets
`410 Gone`, as from the API server's watch cache.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable

from pytest_microremed.embedded.api.errors import expired
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.selectors import Predicate
from pytest_microremed.embedded.api.store import Change, Object, Store
from pytest_microremed.embedded.api.versions import in_each_version

_HISTORY = 1000
"""Changes remembered of each resource."""
_BACKLOG = 10_000
"""Events that a client may be behind."""

Event = tuple[str, Object]
"""Type and object."""


class Subscription:
    """The events of one watch, in order; None when it is over."""

    def __init__(self, wanted: Predicate) -> None:
        self.queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._wanted = wanted
        self._lagging = False

    def offer(self, change: Change) -> None:
        """Queue the change as this watch sees it; who does not keep up is cut off, as by a real API server."""
        if self._lagging or (event := see(change, self._wanted)) is None:
            return
        self._lagging = self.queue.qsize() >= _BACKLOG
        self.queue.put_nowait(None if self._lagging else event)


class WatchHub:
    """Hands the changes of the store to the watches.

    Must subscribe before anything that reacts to changes: a reaction is a change too, told after its cause.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._history: dict[Resource, deque[Change]] = defaultdict(lambda: deque(maxlen=_HISTORY))
        self._forgotten: dict[Resource, int] = defaultdict(int)
        self._subscriptions: dict[Resource, set[Subscription]] = defaultdict(set)
        store.subscribe(self._on_change)

    def open(self, resource: Resource, wanted: Predicate, since: int | None) -> tuple[Subscription, Callable[[], None]]:
        """Listen, beginning with the changes since `since`; the function ends it. Raises ApiError 410."""
        subscription = Subscription(wanted)
        if since is not None:
            if since < self._forgotten[resource]:
                raise expired(f"too old resource version: {since} ({self._store.version})")
            for change in self._history[resource]:
                if _version(change) > since:
                    subscription.offer(change)
        self._subscriptions[resource].add(subscription)
        return subscription, lambda: self._subscriptions[resource].discard(subscription)

    def close(self) -> None:
        """End every watch."""
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.queue.put_nowait(None)

    def _on_change(self, change: Change) -> None:
        for each in in_each_version(change):
            self._publish(each)

    def _publish(self, change: Change) -> None:
        history = self._history[change.resource]
        if len(history) == _HISTORY:
            self._forgotten[change.resource] = _version(history[0])
        history.append(change)
        for subscription in self._subscriptions[change.resource]:
            subscription.offer(change)


def see(change: Change, wanted: Predicate) -> Event | None:
    """The event that a watch with this selector gets for a change, if any.

    An object that stops matching is DELETED, in its last matching state.
    """
    matches = wanted(change.obj)
    matched = change.old is not None and wanted(change.old)
    if change.type == "DELETED":
        return ("DELETED", change.obj) if matches or matched else None
    if matches:
        return ("MODIFIED" if matched else "ADDED", change.obj)
    if not matched or change.old is None:
        return None
    meta = {**change.old["metadata"], "resourceVersion": change.obj["metadata"]["resourceVersion"]}
    return "DELETED", {**change.old, "metadata": meta}


def _version(change: Change) -> int:
    return int(change.obj["metadata"]["resourceVersion"])
