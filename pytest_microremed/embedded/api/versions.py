"""Objects in another version than the one they are stored in: what requests for autoscaling/v1 read and write."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_microremed.embedded.api.autoscaling_v1 import to_v1, to_v2
from pytest_microremed.embedded.api.resources import (
    HORIZONTAL_POD_AUTOSCALERS,
    HORIZONTAL_POD_AUTOSCALERS_V1,
    Resource,
)
from pytest_microremed.embedded.api.store import Change, Object, Store


def in_each_version(change: Change) -> Iterator[Change]:
    """The change as the watches of each version of its resource are told of it."""
    yield change
    if change.resource == HORIZONTAL_POD_AUTOSCALERS:
        old = None if change.old is None else to_v1(change.old)
        yield Change(change.type, HORIZONTAL_POD_AUTOSCALERS_V1, to_v1(change.obj), old)


def store_for(resource: Resource, store: Store) -> Store:
    """The store as requests for this resource see it."""
    return _AutoscalersV1(store) if resource == HORIZONTAL_POD_AUTOSCALERS_V1 else store


class _AutoscalersV1(Store):
    """A view of the store, with autoscalers converted on the way in and out."""

    def __init__(self, store: Store) -> None:
        super().__init__(store.now)
        self._stored = store
        self.webhooks = store.webhooks

    @property
    def version(self) -> int:
        return self._stored.version

    def get(self, resource: Resource, namespace: str | None, name: str) -> Object | None:
        if resource != HORIZONTAL_POD_AUTOSCALERS_V1:
            return self._stored.get(resource, namespace, name)
        obj = self._stored.get(HORIZONTAL_POD_AUTOSCALERS, namespace, name)
        return None if obj is None else to_v1(obj)

    def dependents(self, uid: str) -> Iterator[tuple[Resource, Object]]:
        return self._stored.dependents(uid)

    def create(self, resource: Resource, obj: Object) -> Object:
        if resource != HORIZONTAL_POD_AUTOSCALERS_V1:
            return self._stored.create(resource, obj)
        return to_v1(self._stored.create(HORIZONTAL_POD_AUTOSCALERS, to_v2(obj)))

    def update(self, resource: Resource, obj: Object) -> Object:
        """A status that is not changed stays as it is stored, whatever became of the annotations for it."""
        if resource != HORIZONTAL_POD_AUTOSCALERS_V1:
            return self._stored.update(resource, obj)
        new, old = to_v2(obj), self._find(obj)
        if obj.get("status") == to_v1(old)["status"]:
            new = {**new, "status": old.get("status", {})}
        return to_v1(self._stored.update(HORIZONTAL_POD_AUTOSCALERS, new))

    def delete(self, resource: Resource, obj: Object, *, grace_s: int | None = None) -> Object:
        if resource != HORIZONTAL_POD_AUTOSCALERS_V1:
            return self._stored.delete(resource, obj, grace_s=grace_s)
        return to_v1(self._stored.delete(HORIZONTAL_POD_AUTOSCALERS, self._find(obj), grace_s=grace_s))

    def list(self, resource: Resource, namespace: str | None = None) -> list[Object]:
        if resource != HORIZONTAL_POD_AUTOSCALERS_V1:
            return self._stored.list(resource, namespace)
        return [to_v1(obj) for obj in self._stored.list(HORIZONTAL_POD_AUTOSCALERS, namespace)]

    def _find(self, obj: Object) -> Object:
        """The stored autoscaler of that name. Raises LookupError if it has gone, like an update of the store."""
        found = self._stored.get(HORIZONTAL_POD_AUTOSCALERS, obj["metadata"]["namespace"], obj["metadata"]["name"])
        if found is None:
            raise LookupError(obj["metadata"]["name"])
        return found
