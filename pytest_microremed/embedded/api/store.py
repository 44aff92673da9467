"""The objects of the cluster, their versions, and who is told of a change.

Everything here runs on the server's event loop, so there are no locks. Objects are plain dicts in JSON form and
are never changed in place: a change stores a new dict, and whoever holds an old one (a watch, a table) keeps a
true picture of the past. Callers must do the same: build `{**obj, "status": …}`, do not write into `obj`.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

from pytest_microremed.embedded.api.resources import NAMESPACES, PODS, Resource

Object: TypeAlias = dict[str, Any]


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC, whole seconds: the form of metav1.Time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True)
class Change:
    """One change of one object; `old` is None for ADDED, and `obj` is the last state for DELETED."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    resource: Resource
    obj: Object
    old: Object | None


Listener = Callable[[Change], None]
Webhook = Callable[[Resource, Object, Object | None], str | None]
"""A validating admission webhook, asked about what clients write: resource, new state, old one or None. A text is the
message of a refusal."""


class Store:
    """Objects by resource, namespace and name, with one resource version counter as in etcd."""

    def __init__(self, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self.now = now
        self._version = 1
        self._objects: dict[Resource, dict[tuple[str, str], Object]] = defaultdict(dict)
        self._dependents: dict[str, dict[tuple[Resource, str, str], None]] = defaultdict(dict)
        self.webhooks: list[Webhook] = []
        self._listeners: list[Listener] = []

    @property
    def version(self) -> int:
        """The resource version of the latest change."""
        return self._version

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each change, in order; the returned function ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def get(self, resource: Resource, namespace: str | None, name: str) -> Object | None:
        return self._objects[resource].get((namespace or "", name))

    def list(self, resource: Resource, namespace: str | None = None) -> list[Object]:
        """Objects of a namespace, or of all, ordered by namespace and name."""
        items = sorted(self._objects[resource].items())
        return [obj for (ns, _), obj in items if namespace is None or ns == namespace]

    def resources(self) -> tuple[Resource, ...]:
        """The resources of which objects are stored."""
        return tuple(resource for resource, objects in self._objects.items() if objects)

    def dependents(self, uid: str) -> Iterator[tuple[Resource, Object]]:
        """The objects that name `uid` among their owner references."""
        for resource, namespace, name in list(self._dependents.get(uid, ())):
            obj = self.get(resource, namespace, name)
            if obj is not None:
                yield resource, obj

    def create(self, resource: Resource, obj: Object) -> Object:
        """Store a new object: sets uid (unless given), creationTimestamp, resourceVersion and generation."""
        meta = {
            **obj["metadata"],
            "uid": obj["metadata"].get("uid") or str(uuid.uuid4()),
            "creationTimestamp": timestamp(self.now()),
            "resourceVersion": self._next_version(),
        }
        if "spec" in obj:
            meta["generation"] = 1
        return self._put(resource, {**obj, "metadata": meta}, None)

    def update(self, resource: Resource, obj: Object) -> Object:
        """Replace a stored object; generation goes up when the spec changed. No change, no write."""
        meta = obj["metadata"]
        old = self._objects[resource][(meta.get("namespace", ""), meta["name"])]
        if obj == old:
            return old
        meta = {**meta, "resourceVersion": self._next_version()}
        if "generation" in old["metadata"]:
            changed = obj.get("spec") != old.get("spec")
            meta["generation"] = old["metadata"]["generation"] + (1 if changed else 0)
        return self._put(resource, {**obj, "metadata": meta}, old)

    def update_status(self, resource: Resource, obj: Object, **status: Any) -> Object:
        """Replace `obj.status` on the stored object of that name; does nothing if it has gone."""
        meta = obj["metadata"]
        current = self.get(resource, meta.get("namespace"), meta["name"])
        if current is None or current["metadata"]["uid"] != meta["uid"]:
            return obj
        return self.update(resource, {**current, "status": {**current.get("status", {}), **status}})

    def delete(self, resource: Resource, obj: Object, *, grace_s: int | None = None) -> Object:
        """Ask for deletion: gone at once, or marked with a deletionTimestamp while something holds it.

        Finalizers hold an object; a pod on a node is held until its kubelet has ended it, after its grace
        period (Kubernetes: pod termination).
        """
        meta = obj["metadata"]
        if resource is PODS and obj.get("spec", {}).get("nodeName"):
            spec_grace = obj["spec"].get("terminationGracePeriodSeconds", 30)
            grace = spec_grace if grace_s is None else grace_s
        else:
            grace = 0
        if not _finalizers(resource, obj) and not grace:
            return self.remove(resource, obj)
        if "deletionTimestamp" in meta and meta.get("deletionGracePeriodSeconds", 0) <= grace:
            return obj
        meta = {**meta, "deletionTimestamp": timestamp(self.now()), "deletionGracePeriodSeconds": grace}
        return self.update(resource, {**obj, "metadata": meta})

    def remove(self, resource: Resource, obj: Object) -> Object:
        """Take the object away for good, and what it owned with it (background garbage collection)."""
        meta = obj["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        old = self._objects[resource].pop(key, None)
        if old is None:
            return obj
        for owner in old["metadata"].get("ownerReferences", ()):
            self._dependents[owner["uid"]].pop((resource, *key), None)
        gone = {**old, "metadata": {**old["metadata"], "resourceVersion": self._next_version()}}
        self._notify(Change("DELETED", resource, gone, old))
        for dependent_resource, dependent in self.dependents(meta["uid"]):
            self.delete(dependent_resource, dependent)
        self._dependents.pop(meta["uid"], None)
        return gone

    def _put(self, resource: Resource, obj: Object, old: Object | None) -> Object:
        meta = obj["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        self._objects[resource][key] = obj
        for owner in (old or {}).get("metadata", {}).get("ownerReferences", ()):
            self._dependents[owner["uid"]].pop((resource, *key), None)
        for owner in meta.get("ownerReferences", ()):
            self._dependents[owner["uid"]][(resource, *key)] = None
        self._notify(Change("MODIFIED" if old else "ADDED", resource, obj, old))
        running = resource is PODS and meta.get("deletionGracePeriodSeconds", 0) > 0
        if "deletionTimestamp" in meta and not _finalizers(resource, obj) and not running:
            return self.remove(resource, obj)  # the last finalizer has gone
        return obj

    def _next_version(self) -> str:
        self._version += 1
        return str(self._version)

    def _notify(self, change: Change) -> None:
        for listener in list(self._listeners):
            listener(change)


def _finalizers(resource: Resource, obj: Object) -> bool:
    """Does a finalizer hold the object? A namespace has some in its spec too, for its contents."""
    in_spec = obj.get("spec", {}).get("finalizers") if resource is NAMESPACES else None
    return bool(obj["metadata"].get("finalizers") or in_spec)
