"""Event objects: what happened to whom, counted instead of repeated, and not kept for ever.

Source: core/v1 Event and the event correlation of the Kubernetes client library.
"""

from __future__ import annotations

import time
from collections import OrderedDict, defaultdict, deque
from datetime import datetime, timedelta
from typing import Literal
from weakref import WeakKeyDictionary

from pytest_microremed.embedded.api.resources import EVENTS, NAMESPACES
from pytest_microremed.embedded.api.store import Change, Object, Store, timestamp
from pytest_microremed.embedded.sim.clock import SimClock

KEPT_PER_NAMESPACE = 1000
TIME_TO_LIVE = timedelta(hours=1)
"""As a real API server's --event-ttl. By the wall's clock, as the timestamps are."""
_REMEMBERED = 4096
"""Events of which a repetition is noticed."""
_EXPIRY_CHECK_S = 3600.0
"""Simulated seconds between two looks for expired events."""


class _Names:
    """Finds the event that said the same before, and names new ones so that they sort by time."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, ...], str] = OrderedDict()
        self._last = 0

    def of(self, identity: tuple[str, ...]) -> str:
        """Name of the latest event of this identity; empty if there was none."""
        return self._known.get(identity, "")

    def new(self, identity: tuple[str, ...], subject: str) -> str:
        self._last = max(self._last + 1, time.time_ns())
        name = self._known[identity] = f"{subject}.{self._last:x}"
        if len(self._known) > _REMEMBERED:
            self._known.popitem(last=False)
        return name


_names: WeakKeyDictionary[Store, _Names] = WeakKeyDictionary()


def record(
    store: Store,
    clock: SimClock,
    obj: Object,
    type_: Literal["Normal", "Warning"],
    reason: str,
    message: str,
    component: str,
    *,
    host: str = "",
    field_path: str = "",
) -> None:
    """Tell of something that happened to `obj`; the same thing again raises the count of the first event.

    `host` is the node whose kubelet tells, `field_path` the part that is meant (`spec.containers{web}`).
    """
    meta = obj["metadata"]
    namespace = meta.get("namespace", "default")
    if "deletionTimestamp" in (store.get(NAMESPACES, None, namespace) or {}).get("metadata", {}):
        return  # nothing new may be created there
    names = _names.setdefault(store, _Names())
    identity = (meta["uid"], field_path, type_, reason, message, component, host)
    now = timestamp(clock.now())
    known = store.get(EVENTS, namespace, names.of(identity))
    if known is not None:
        store.update(EVENTS, {**known, "count": known["count"] + 1, "lastTimestamp": now})
        return
    involved = {
        "kind": obj["kind"],
        "namespace": meta.get("namespace"),
        "name": meta["name"],
        "uid": meta["uid"],
        "apiVersion": obj["apiVersion"],
        "resourceVersion": meta["resourceVersion"],
        "fieldPath": field_path,
    }
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": names.new(identity, meta["name"]), "namespace": namespace},
        "involvedObject": {key: value for key, value in involved.items() if value},
        "type": type_,
        "reason": reason,
        "message": message,
        "source": {"component": component, "host": host} if host else {"component": component},
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
        "eventTime": None,
        "reportingComponent": component,
        "reportingInstance": host,
    }
    store.create(EVENTS, event)


class EventKeeper:
    """Removes events that are too many in their namespace, or too old."""

    def __init__(self, store: Store, clock: SimClock) -> None:
        self._store = store
        self._clock = clock
        self._names: dict[str, deque[str]] = defaultdict(deque)
        """By namespace, in order of creation."""

    def start(self) -> None:
        self._store.subscribe(self._note)
        self._clock.call_later(_EXPIRY_CHECK_S, self._expire)

    def _note(self, change: Change) -> None:
        if change.resource is not EVENTS or change.type != "ADDED":
            return
        namespace = change.obj["metadata"]["namespace"]
        names = self._names[namespace]
        names.append(change.obj["metadata"]["name"])
        if len(names) > KEPT_PER_NAMESPACE:
            self._remove(namespace, names.popleft())

    def _remove(self, namespace: str, name: str) -> None:
        event = self._store.get(EVENTS, namespace, name)
        if event is not None:
            self._store.remove(EVENTS, event)

    def _expire(self) -> None:
        oldest = self._clock.now() - TIME_TO_LIVE
        for namespace, names in self._names.items():
            kept: deque[str] = deque()
            for name in names:
                event = self._store.get(EVENTS, namespace, name)
                if event is None:
                    continue
                if _last_seen(event) < oldest:
                    self._store.remove(EVENTS, event)
                else:
                    kept.append(name)
            self._names[namespace] = kept
        self._clock.call_later(_EXPIRY_CHECK_S, self._expire)


def _last_seen(event: Object) -> datetime:
    seen = event.get("lastTimestamp") or event["metadata"]["creationTimestamp"]
    return datetime.fromisoformat(seen)
