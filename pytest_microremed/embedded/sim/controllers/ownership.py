"""Owner references: who manages what, and how a controller takes or gives up objects by their labels."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.resources import PODS, REPLICA_SETS, Resource
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Change, Object, Store


def labels_of(obj: Object) -> dict[str, str]:
    """The object's labels, empty if it has none."""
    return obj["metadata"].get("labels") or {}


def owner_reference(owner: Object) -> dict[str, Any]:
    """The reference by which `owner` manages an object."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(obj: Object) -> dict[str, Any] | None:
    """The reference to the object that manages this one."""
    references: list[dict[str, Any]] = obj["metadata"].get("ownerReferences") or []
    return next((reference for reference in references if reference.get("controller")), None)


def controller_name(obj: Object, kind: str) -> str | None:
    """Name of the managing object if it is of this kind."""
    reference = controller_of(obj)
    return reference["name"] if reference and reference["kind"] == kind else None


def is_controlled_by(obj: Object, owner: Object) -> bool:
    reference = controller_of(obj)
    return reference is not None and reference["uid"] == owner["metadata"]["uid"]


def owned(store: Store, resource: Resource, owner: Object) -> list[Object]:
    """The objects of a resource that `owner` manages."""
    return [
        obj
        for kind, obj in store.dependents(owner["metadata"]["uid"])
        if kind is resource and is_controlled_by(obj, owner)
    ]


class Orphans:
    """The objects that no controller manages: those that one may adopt."""

    _KINDS = (PODS, REPLICA_SETS)

    def __init__(self) -> None:
        self._orphans: dict[tuple[Resource, str], dict[str, Object]] = defaultdict(dict)

    def observe(self, change: Change) -> None:
        if change.resource not in self._KINDS:
            return
        meta = change.obj["metadata"]
        orphans = self._orphans[change.resource, meta["namespace"]]
        if change.type == "DELETED" or controller_of(change.obj) is not None:
            orphans.pop(meta["name"], None)
        else:
            orphans[meta["name"]] = change.obj

    def of(self, resource: Resource, namespace: str) -> list[Object]:
        return list(self._orphans[resource, namespace].values())


def claim(store: Store, resource: Resource, owner: Object, orphans: Iterable[Object]) -> list[Object]:
    """What `owner` manages, by its selector: adopts orphans that match, releases what no longer does."""
    mine = owned(store, resource, owner)
    if "deletionTimestamp" in owner["metadata"]:
        return mine
    selector = owner["spec"]["selector"]
    claimed = []
    for obj in mine:
        if matches_labels(selector, labels_of(obj)):
            claimed.append(obj)
        else:
            store.update(resource, _without_owner(obj, owner))
    for obj in orphans:
        if matches_labels(selector, labels_of(obj)) and "deletionTimestamp" not in obj["metadata"]:
            claimed.append(store.update(resource, _with_owner(obj, owner)))
    return claimed


def _with_owner(obj: Object, owner: Object) -> Object:
    references = [*(obj["metadata"].get("ownerReferences") or ()), owner_reference(owner)]
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": references}}


def _without_owner(obj: Object, owner: Object) -> Object:
    uid = owner["metadata"]["uid"]
    references = [each for each in obj["metadata"].get("ownerReferences") or () if each["uid"] != uid]
    meta = {key: value for key, value in obj["metadata"].items() if key != "ownerReferences"}
    return {**obj, "metadata": {**meta, "ownerReferences": references} if references else meta}
