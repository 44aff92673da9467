"""Who manages which fields of an object: `metadata.managedFields`, read, changed and written.

Source: `k8s.io/apimachinery/pkg/util/managedfields` and the updater of `sigs.k8s.io/structured-merge-diff`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pytest_microremed.embedded.api.field_paths import PathSet, decode_fields, encode_fields, field_element
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.typed_value import Comparison

Operation = Literal["Apply", "Update"]
_MOST_UPDATERS = 10
_OLD_UPDATES = "ancient-changes"
_NOTHING: PathSet = frozenset()
_SYSTEM_METADATA = (
    "name", "namespace", "creationTimestamp", "selfLink", "uid", "clusterName", "generation", "managedFields",
    "resourceVersion",
)  # fmt: skip
_METADATA = field_element("metadata")
_STATUS = field_element("status")
_NEVER_MANAGED: PathSet = frozenset(
    {
        (field_element("apiVersion"),),
        (field_element("kind"),),
        (_METADATA,),
        *((_METADATA, field_element(name)) for name in _SYSTEM_METADATA),
    }
)


@dataclass(frozen=True, order=True)
class Manager:
    """One workflow. Appliers are the same in every API version, so theirs is not part of them."""

    name: str
    operation: Operation
    api_version: str = ""
    subresource: str = ""

    def __str__(self) -> str:
        text = f'"{self.name}"' + (f' with subresource "{self.subresource}"' if self.subresource else "")
        return f"{text} using {self.api_version}" if self.operation == "Update" else text


@dataclass(frozen=True)
class Managed:
    """What one manager manages."""

    fields: PathSet
    api_version: str
    time: str | None = None


Managers = Mapping[Manager, Managed]


def applier(name: str, subresource: str | None) -> Manager:
    return Manager(name, "Apply", "", subresource or "")


def updater(name: str, api_version: str, subresource: str | None) -> Manager:
    return Manager(name, "Update", api_version, subresource or "")


def manageable(paths: PathSet, resource: Resource, subresource: str | None) -> PathSet:
    """The paths without those that this endpoint does not write, and those that nobody manages."""
    if subresource == "status":
        return frozenset(path for path in paths if path[0] == _STATUS)
    if "status" in resource.subresources:
        paths = frozenset(path for path in paths if path[0] != _STATUS)
    return paths - _NEVER_MANAGED


def read_managers(obj: Object) -> dict[Manager, Managed]:
    """The managers of an object; none if the entries are not valid."""
    managers = {}
    for entry in obj.get("metadata", {}).get("managedFields") or ():
        operation, api_version = entry.get("operation"), entry.get("apiVersion")
        if operation not in ("Apply", "Update") or not api_version or entry.get("fieldsType") != "FieldsV1":
            return {}
        version = "" if operation == "Apply" else api_version
        manager = Manager(entry.get("manager", ""), operation, version, entry.get("subresource", ""))
        managers[manager] = Managed(decode_fields(entry.get("fieldsV1") or {}), api_version, entry.get("time"))
    return managers


def write_managers(obj: Object, managers: Managers) -> Object:
    """The object with these managers, appliers first and then by time."""
    meta = {key: value for key, value in obj.get("metadata", {}).items() if key != "managedFields"}
    ordered = sorted(managers.items(), key=_writing_order)
    if ordered:
        meta["managedFields"] = [_entry(manager, managed) for manager, managed in ordered]
    return {**obj, "metadata": meta}


def find_conflicts(managers: Managers, changes: Comparison, workflow: Manager) -> dict[Manager, PathSet]:
    """What others manage and the changes would give another value."""
    changed = changes.modified | changes.added
    others = {manager: managed.fields & changed for manager, managed in managers.items() if manager != workflow}
    return {manager: fields for manager, fields in others.items() if fields}


def release(managers: Managers, changes: Comparison, workflow: Manager | None) -> dict[Manager, Managed]:
    """What others manage after the changes: no longer what was changed or removed."""
    lost = changes.modified | changes.added | changes.removed
    kept = {
        manager: managed if manager == workflow else replace(managed, fields=managed.fields - lost)
        for manager, managed in managers.items()
    }
    return {manager: managed for manager, managed in kept.items() if managed.fields}


def cap_updaters(managers: Managers) -> dict[Manager, Managed]:
    """At most ten updaters: of those beyond, the oldest become one."""
    updaters = [manager for manager in managers if manager.operation == "Update"]
    updaters.sort(key=lambda manager: (managers[manager].time or "", manager))
    surplus = len(updaters) - _MOST_UPDATERS
    if surplus <= 0:
        return dict(managers)
    merged = updaters[: surplus + 1]
    capped = {manager: managed for manager, managed in managers.items() if manager not in merged}
    newest = managers[merged[-1]]
    fields = _NOTHING.union(*(managers[manager].fields for manager in merged))
    capped[updater(_OLD_UPDATES, newest.api_version, None)] = replace(newest, fields=fields)
    return capped


def _writing_order(item: tuple[Manager, Managed]) -> tuple[Any, ...]:
    manager, managed = item
    return manager.operation, managed.time or "", manager.name, managed.api_version, manager.subresource


def _entry(manager: Manager, managed: Managed) -> Object:
    entry = {
        "manager": manager.name,
        "operation": manager.operation,
        "apiVersion": managed.api_version,
        "time": managed.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": encode_fields(managed.fields),
        "subresource": manager.subresource,
    }
    return {key: value for key, value in entry.items() if value or key == "fieldsV1"}
