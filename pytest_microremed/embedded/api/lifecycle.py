"""How objects begin and end beyond a single write: namespaces, foreground deletion, orphans.

The API server's share of the work of Kubernetes's namespace, service account, root CA and garbage collection
controllers: it must hold whoever changes the store, so it listens to the store.
"""

from __future__ import annotations

import asyncio

from pytest_microremed.embedded.api.errors import forbidden
from pytest_microremed.embedded.api.resources import CONFIG_MAPS, NAMESPACES, SERVICE_ACCOUNTS, Resource
from pytest_microremed.embedded.api.store import Change, Object, Store, timestamp

FOREGROUND = "foregroundDeletion"
NAMESPACE_FINALIZER = "kubernetes"
INITIAL_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
IMMORTAL_NAMESPACES = ("default", "kube-public", "kube-system")
ROOT_CA = "kube-root-ca.crt"


class Lifecycle:
    """Keeps what every namespace has, empties those that end, and finishes foreground deletions."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop, root_ca: str) -> None:
        self._store = store
        self._loop = loop
        self._root_ca = root_ca
        self._sweeping: set[str] = set()
        store.subscribe(self._on_change)
        for name in INITIAL_NAMESPACES:
            store.create(NAMESPACES, new_namespace(name))

    def _on_change(self, change: Change) -> None:
        meta = change.obj["metadata"]
        if change.resource == NAMESPACES:
            if change.type == "ADDED":
                self._furnish(meta["name"])
            elif "deletionTimestamp" in meta:
                self._sweep_soon(meta["name"])
        elif (namespace := meta.get("namespace")) and self._is_terminating(namespace):
            self._sweep_soon(namespace)
        if change.type == "DELETED":
            for reference in meta.get("ownerReferences", ()):
                self._finish_foreground(namespace=meta.get("namespace"), reference=reference)

    def _furnish(self, namespace: str) -> None:
        self._store.create(
            SERVICE_ACCOUNTS,
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": "default", "namespace": namespace},
            },
        )
        self._store.create(
            CONFIG_MAPS,
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": ROOT_CA, "namespace": namespace},
                "data": {"ca.crt": self._root_ca},
            },
        )

    def _is_terminating(self, namespace: str) -> bool:
        obj = self._store.get(NAMESPACES, None, namespace)
        return obj is not None and "deletionTimestamp" in obj["metadata"]

    def _sweep_soon(self, namespace: str) -> None:
        if namespace not in self._sweeping:
            self._sweeping.add(namespace)
            self._loop.call_soon(self._sweep, namespace)

    def _sweep(self, namespace: str) -> None:
        """Delete what is left in a terminating namespace; without any rest, the namespace goes too."""
        self._sweeping.discard(namespace)
        if not self._is_terminating(namespace):
            return
        rest = False
        for resource in self._store.resources():
            if not resource.namespaced:
                continue
            for obj in self._store.list(resource, namespace):
                current = self._store.get(resource, namespace, obj["metadata"]["name"])
                if current is not None and "deletionTimestamp" not in current["metadata"]:
                    self._store.delete(resource, current)
                rest = rest or self._store.get(resource, namespace, obj["metadata"]["name"]) is not None
        if not rest:
            empty = self._store.get(NAMESPACES, None, namespace)
            if empty is not None:
                finalize_namespace(self._store, empty, [])

    def _finish_foreground(self, namespace: str | None, reference: Object) -> None:
        for resource in self._store.resources():
            if resource.kind != reference["kind"] or resource.api_version != reference["apiVersion"]:
                continue
            owner = self._store.get(resource, namespace if resource.namespaced else None, reference["name"])
            if owner is None or owner["metadata"]["uid"] != reference["uid"]:
                continue
            if FOREGROUND in owner["metadata"].get("finalizers", ()) and not _blocked(self._store, owner):
                self._store.update(resource, _without_finalizer(owner, FOREGROUND))


def new_namespace(name: str) -> Object:
    """A Namespace as the API server completes it."""
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": [NAMESPACE_FINALIZER]},
        "status": {"phase": "Active"},
    }


def terminate_namespace(store: Store, obj: Object) -> Object:
    """Mark a namespace for deletion: its contents go first (see `Lifecycle`). Raises ApiError 403."""
    meta = obj["metadata"]
    if meta["name"] in IMMORTAL_NAMESPACES:
        raise forbidden(NAMESPACES, meta["name"], "this namespace may not be deleted")
    if "deletionTimestamp" in meta:
        return obj
    meta = {**meta, "deletionTimestamp": timestamp(store.now()), "deletionGracePeriodSeconds": 0}
    return store.update(NAMESPACES, {**obj, "metadata": meta, "status": {"phase": "Terminating"}})


def finalize_namespace(store: Store, obj: Object, finalizers: list[str]) -> Object:
    """Set the finalizers of a namespace's spec; without any, a terminating namespace goes."""
    return store.update(NAMESPACES, {**obj, "spec": {**obj.get("spec", {}), "finalizers": finalizers}})


def delete_foreground(store: Store, resource: Resource, obj: Object, grace_s: int | None) -> None:
    """Delete the dependents first; the object stays, marked, until those that block it have gone."""
    meta = obj["metadata"]
    if not _blocked(store, obj):
        store.delete(resource, obj, grace_s=grace_s)
        return
    if FOREGROUND not in meta.get("finalizers", ()):
        meta = {**meta, "finalizers": [*meta.get("finalizers", ()), FOREGROUND]}
    store.delete(resource, store.update(resource, {**obj, "metadata": meta}), grace_s=grace_s)
    for dependent_resource, dependent in list(store.dependents(meta["uid"])):
        current = store.get(dependent_resource, dependent["metadata"].get("namespace"), dependent["metadata"]["name"])
        if current is not None:
            delete_foreground(store, dependent_resource, current, None)


def orphan_dependents(store: Store, obj: Object) -> None:
    """Cut the dependents loose, so that they outlive their owner."""
    uid = obj["metadata"]["uid"]
    for resource, dependent in list(store.dependents(uid)):
        meta = dict(dependent["metadata"])
        meta["ownerReferences"] = [ref for ref in meta["ownerReferences"] if ref["uid"] != uid]
        if not meta["ownerReferences"]:
            del meta["ownerReferences"]
        store.update(resource, {**dependent, "metadata": meta})


def _blocked(store: Store, owner: Object) -> bool:
    uid = owner["metadata"]["uid"]
    return any(
        reference["uid"] == uid and reference.get("blockOwnerDeletion")
        for _, dependent in store.dependents(uid)
        for reference in dependent["metadata"]["ownerReferences"]
    )


def _without_finalizer(obj: Object, finalizer: str) -> Object:
    meta = dict(obj["metadata"])
    meta["finalizers"] = [name for name in meta.get("finalizers", ()) if name != finalizer]
    if not meta["finalizers"]:
        del meta["finalizers"]
    return {**obj, "metadata": meta}
