"""Custom resources: what a CustomResourceDefinition defines is served as soon as the definition is stored.

The work of apiextensions-apiserver and its controllers. Only the storage version is served: nothing converts.
"""

from __future__ import annotations

from pytest_microremed.embedded.api.printer_columns import printer_columns
from pytest_microremed.embedded.api.registry import Registry
from pytest_microremed.embedded.api.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from pytest_microremed.embedded.api.store import Change, Object, Store, timestamp
from pytest_microremed.embedded.api.table_columns import Column

_CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
"""Finalizer of definitions: their objects go first."""


class CustomResources:
    """Serves what is defined, follows changed definitions, and removes the objects of deleted ones."""

    def __init__(self, store: Store, registry: Registry) -> None:
        self._store = store
        self._registry = registry
        self._served: dict[str, Resource] = {}
        self._columns: dict[Resource, tuple[Column, ...]] = {}
        store.subscribe(self._on_change)

    def columns(self, resource: Resource) -> tuple[Column, ...]:
        """The columns of a custom resource's table."""
        return self._columns[resource]

    def _on_change(self, change: Change) -> None:
        if change.resource is CUSTOM_RESOURCE_DEFINITIONS:
            self._follow(change)
        elif change.resource.custom and change.type == "DELETED":
            self._finish_deletion(change.resource)

    def _follow(self, change: Change) -> None:
        definition, name = change.obj, change.obj["metadata"]["name"]
        if change.type == "DELETED":
            self._stop_serving(name)
            return
        if change.old is None or change.old["spec"] != definition["spec"]:
            self._serve(name, definition)
        if change.old is None:
            self._establish(definition)
        elif "deletionTimestamp" in definition["metadata"]:
            resource = self._served[name]
            for obj in self._store.list(resource):
                self._store.delete(resource, obj)
            self._finish_deletion(resource)

    def _serve(self, name: str, definition: Object) -> None:
        self._stop_serving(name)
        resource = custom_resource(definition)
        columns = _storage_version(definition).get("additionalPrinterColumns") or ()
        self._columns[resource] = printer_columns(columns)
        self._served[name] = resource
        self._registry.add(resource)

    def _stop_serving(self, name: str) -> None:
        resource = self._served.pop(name, None)
        if resource is not None:
            self._registry.remove(resource)
            del self._columns[resource]

    def _establish(self, definition: Object) -> None:
        meta, spec = definition["metadata"], definition["spec"]
        status = {
            "conditions": [
                self._condition("NamesAccepted", "NoConflicts", "no conflicts found"),
                self._condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            ],
            "acceptedNames": spec["names"],
            "storedVersions": [_storage_version(definition)["name"]],
        }
        meta = {**meta, "finalizers": [*meta.get("finalizers", ()), _CLEANUP]}
        self._store.update(CUSTOM_RESOURCE_DEFINITIONS, {**definition, "metadata": meta, "status": status})

    def _condition(self, condition_type: str, reason: str, message: str) -> Object:
        return {
            "type": condition_type,
            "status": "True",
            "lastTransitionTime": timestamp(self._store.now()),
            "reason": reason,
            "message": message,
        }

    def _finish_deletion(self, resource: Resource) -> None:
        """Let a deleted definition go once its last object has."""
        definition = self._store.get(CUSTOM_RESOURCE_DEFINITIONS, None, f"{resource.plural}.{resource.group}")
        if definition is None or "deletionTimestamp" not in definition["metadata"] or self._store.list(resource):
            return
        meta = definition["metadata"]
        meta = {**meta, "finalizers": [each for each in meta.get("finalizers", ()) if each != _CLEANUP]}
        self._store.update(CUSTOM_RESOURCE_DEFINITIONS, {**definition, "metadata": meta})


def custom_resource(definition: Object) -> Resource:
    """The resource that a CustomResourceDefinition defines."""
    spec, version = definition["spec"], _storage_version(definition)
    names = spec["names"]
    return Resource(
        spec["group"],
        version["name"],
        names["plural"],
        names["kind"],
        spec["scope"] == "Namespaced",
        tuple(names.get("shortNames") or ()),
        tuple(names.get("categories") or ()),
        ("status",) if "status" in (version.get("subresources") or {}) else (),
        custom=True,
        schema=(version.get("schema") or {}).get("openAPIV3Schema"),
    )


def complete_definition(definition: Object) -> Object:
    """A new definition with the names and the conversion that it leaves to the server."""
    spec = definition["spec"]
    kind = spec["names"]["kind"]
    names = {"singular": kind.lower(), "listKind": f"{kind}List", **spec["names"]}
    return {**definition, "spec": {"conversion": {"strategy": "None"}, **spec, "names": names}}


def _storage_version(definition: Object) -> Object:
    version: Object = next(each for each in definition["spec"]["versions"] if each["storage"])
    return version
