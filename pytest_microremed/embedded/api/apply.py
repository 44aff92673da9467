"""Server-side apply, and what every other write means for who manages which fields.

Source: the Kubernetes documentation on server-side apply, and `managedfields` in `k8s.io/apimachinery`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from pytest_microremed.embedded.api.empty_objects import empty_object, with_structs
from pytest_microremed.embedded.api.errors import ApiError, Cause, apply_conflict, bad_request
from pytest_microremed.embedded.api.field_paths import (
    Path,
    PathSet,
    encode_fields,
    field_element,
    format_path,
    reading_order,
)
from pytest_microremed.embedded.api.go_format import format_json
from pytest_microremed.embedded.api.managed_fields import (
    Managed,
    Manager,
    Managers,
    applier,
    cap_updaters,
    find_conflicts,
    read_managers,
    release,
    updater,
    write_managers,
)
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.schema import Schema, schema_of
from pytest_microremed.embedded.api.store import Object, timestamp
from pytest_microremed.embedded.api.typed_check import check_typed
from pytest_microremed.embedded.api.typed_value import (
    TypedValueError,
    compare,
    field_set,
    merge,
    remove_items,
    with_named_prefixes,
)

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
_BEFORE_FIRST_APPLY = "before-first-apply"
_KUBECTL = "kubectl"
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


def server_side_apply(
    current: Object | None,
    body: Object,
    resource: Resource,
    manager: str,
    force: bool = False,
    *,
    subresource: str | None = None,
    now: datetime | None = None,
) -> Object:
    """The object with the configuration applied, and `manager` as the manager of its fields.

    Fields that the manager applied before and leaves out now are removed, unless others manage them too.
    An object that does not exist (`current` None) is what the configuration says.

    Raises:
        ApiError: 409 for fields that others manage, unless `force`; 400 or 500 for a configuration that is
        not of
            the resource's type.
    """
    _check_configuration(body, resource)
    schema = schema_of(resource)
    live = _without_managers(empty_object(resource) if current is None else current)
    managers = read_managers(current or {})
    if not managers and current is not None:
        managers = _managers_before_first_apply(live, resource, subresource)
    workflow = applier(manager, subresource)
    time = timestamp(now or datetime.now(UTC))
    application = _Application(live, body, schema, resource, workflow)
    try:
        merged, managers = application.run(managers, time, force=force)
    except _ConflictsError as error:
        owned = _unchanged_since_last_applied(live, resource, schema) if manager == _KUBECTL else frozenset()
        conflicts = [conflict for conflict in error.conflicts if conflict[1] not in owned]
        if conflicts:
            raise _conflict_error(conflicts) from None
        merged, managers = application.run(managers, time, force=True)
    if manager == _KUBECTL:
        merged = _with_last_applied(merged, body)
    return write_managers(merged, managers)


def track_update(
    current: Object | None,
    new: Object,
    resource: Resource,
    manager: str,
    operation: str = "Update",
    subresource: str | None = None,
    *,
    now: datetime | None = None,
) -> Object:
    """`new` with the managed fields it has after `manager` made it of `current` by anything but an apply.

    The managed fields that `new` carries count, so that a client may change or (with one empty entry)
    reset them. Objects that nobody has managed since their creation stay so.
    """
    entries = new.get("metadata", {}).get("managedFields")
    if entries in ([], [{}]) and not subresource:
        return write_managers(new, {})
    managers = (read_managers(new) if not subresource else {}) or read_managers(current or {})
    if not managers and current is not None:
        return write_managers(new, {})
    workflow = updater(manager or "unknown", resource.api_version, subresource)
    before = empty_object(resource) if current is None else with_structs(resource, current)
    after = with_structs(resource, _without_managers(new))
    try:
        changes = compare(_without_managers(before), after, schema_of(resource))
    except TypedValueError:
        return write_managers(new, managers)
    left = release(managers, changes, None)
    taken = _managed_here(frozenset(changes.added | changes.modified), resource, subresource)
    if taken:
        earlier = left[workflow].fields if workflow in left else frozenset()
        time = timestamp(now or datetime.now(UTC))
        left[workflow] = Managed(taken | earlier, resource.api_version, time)
    return write_managers(new, cap_updaters(left))


_Conflict = tuple[Manager, Path]


class _ConflictsError(Exception):
    def __init__(self, conflicts: list[_Conflict]) -> None:
        self.conflicts = conflicts


@dataclass(frozen=True)
class _Application:
    """One configuration to be applied to one object."""

    live: Object
    body: Object
    schema: Schema
    resource: Resource
    workflow: Manager

    def run(self, managers: Managers, time: str, *, force: bool) -> tuple[Object, dict[Manager, Managed]]:
        """The new object and its managers. Raises _ConflictsError unless forced."""
        before = managers.get(self.workflow)
        applied = field_set(self.body, self.schema)
        fields = _managed_here(applied, self.resource, self.workflow.subresource)
        now_managed = {**managers, self.workflow: Managed(fields, self.resource.api_version)}
        merged = merge(self.live, self.body, self.schema)
        if before is not None:
            merged = self._without_given_up(merged, before.fields, now_managed)
        changes = compare(self.live, merged, self.schema)
        conflicts = find_conflicts(now_managed, changes, self.workflow)
        if conflicts and not force:
            raise _ConflictsError([(manager, path) for manager in sorted(conflicts)
                                   for path in sorted(conflicts[manager], key=reading_order)])  # fmt: skip
        left = release(now_managed, changes, self.workflow)
        if self.workflow in left:
            earlier = before.time if before else None
            changed = merged != self.live
            left[self.workflow] = replace(left[self.workflow], time=time if changed else earlier)
        return merged, left

    def _without_given_up(self, merged: Object, before: PathSet, managers: Managers) -> Object:
        """Remove what this manager applied before and not now, but not what others manage or nobody did."""
        owned = with_named_prefixes(frozenset().union(*(managed.fields for managed in managers.values())), self.schema)
        last = with_named_prefixes(before, self.schema)
        everything = with_named_prefixes(field_set(merged, self.schema), self.schema)
        pruned = self._field_set_without(merged, last)
        pruned = self._field_set_without(merged, everything - (pruned | owned))
        given_up = (everything - pruned) & last
        remaining: Object = remove_items(merged, encode_fields(given_up), self.schema)
        return remaining

    def _field_set_without(self, value: Object, unwanted: PathSet) -> PathSet:
        left = remove_items(value, encode_fields(unwanted), self.schema)
        return with_named_prefixes(field_set(left, self.schema), self.schema)


def _check_configuration(body: Object, resource: Resource) -> None:
    api_version, kind = body.get("apiVersion", ""), body.get("kind", "")
    shown = f"{_group_version(api_version)}, Kind={kind}"
    if (api_version, kind) != (resource.api_version, resource.kind):
        raise bad_request(f"invalid object type: {shown}")
    meta = body.get("metadata") or {}
    if meta.get("managedFields"):
        raise bad_request("metadata.managedFields must be nil")
    try:
        check_typed(body, schema_of(resource))
    except TypedValueError as error:
        which = f"{meta.get('namespace', '')}/{meta.get('name', '')}; {shown}"
        raise ApiError(500, "", f"failed to create typed patch object ({which}): {error}") from error


def _group_version(api_version: str) -> str:
    return api_version if "/" in api_version else f"/{api_version}"


def _managers_before_first_apply(live: Object, resource: Resource, subresource: str | None) -> dict[Manager, Managed]:
    """An object that nobody managed so far: all it has belongs to whoever made it."""
    changes = compare(empty_object(resource), with_structs(resource, live), schema_of(resource))
    fields = _managed_here(frozenset(changes.added | changes.modified), resource, subresource)
    if not fields:
        return {}
    manager = updater(_BEFORE_FIRST_APPLY, resource.api_version, subresource)
    return {manager: Managed(fields, resource.api_version, live["metadata"].get("creationTimestamp"))}


def _managed_here(paths: PathSet, resource: Resource, subresource: str | None) -> PathSet:
    """Without what this endpoint does not write, and what nobody manages."""
    if subresource == "status":
        return frozenset(path for path in paths if path[0] == _STATUS)
    if "status" in resource.subresources:
        paths = frozenset(path for path in paths if path[0] != _STATUS)
    return paths - _NEVER_MANAGED


def _without_managers(obj: Object) -> Object:
    return write_managers(obj, {})


def _unchanged_since_last_applied(live: Object, resource: Resource, schema: Schema) -> PathSet:
    """What client-side `kubectl apply` set and nobody changed: its user may move to server-side apply."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED, "")
    try:
        last = json.loads(text)
        if last.get("apiVersion") != resource.api_version:
            return frozenset()
        changes = compare(last, live, schema)
        return field_set(last, schema) - changes.modified - changes.added - changes.removed
    except (ValueError, AttributeError):
        return frozenset()


def _with_last_applied(obj: Object, body: Object) -> Object:
    """Keep the annotation of client-side apply in step where it is, so that its user may also go back."""
    meta = obj.get("metadata", {})
    annotations = meta.get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return obj
    applied_meta = {**(body.get("metadata") or {})}
    if applied_meta.get("annotations"):
        own = {key: value for key, value in applied_meta["annotations"].items() if key != LAST_APPLIED}
        applied_meta["annotations"] = own
    text = format_json({**body, "metadata": applied_meta}) + "\n"
    return {**obj, "metadata": {**meta, "annotations": {**annotations, LAST_APPLIED: text}}}


def _conflict_error(conflicts: list[_Conflict]) -> ApiError:
    causes = [
        Cause(format_path(path), f"conflict with {manager}", "FieldManagerConflict") for manager, path in conflicts
    ]
    if len(conflicts) == 1:
        manager, path = conflicts[0]
        message = f"Apply failed with 1 conflict: conflict with {manager}: {format_path(path)}"
        return apply_conflict(message, causes)
    lines = []
    for manager in dict.fromkeys(manager for manager, _ in conflicts):
        lines.append(f"conflicts with {manager}:")
        lines.extend(f"- {format_path(path)}" for other, path in conflicts if other == manager)
    shown = "\n".join(lines)
    return apply_conflict(f"Apply failed with {len(conflicts)} conflicts: {shown}", causes)
