"""Server-side apply, and what every other write means for who manages which fields.

Source: the Kubernetes documentation on server-side apply, and `managedfields` in `k8s.io/apimachinery`.
"""

from __future__ import annotations

from datetime import UTC, datetime

from pytest_microremed.embedded.api.application import Application, ConflictsError, conflict_error
from pytest_microremed.embedded.api.empty_objects import empty_object, with_structs
from pytest_microremed.embedded.api.errors import ApiError, bad_request
from pytest_microremed.embedded.api.last_applied import unchanged_since_last_applied, with_last_applied
from pytest_microremed.embedded.api.managed_fields import (
    Managed,
    Manager,
    applier,
    cap_updaters,
    manageable,
    read_managers,
    release,
    updater,
    write_managers,
)
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.schema import schema_of
from pytest_microremed.embedded.api.store import Object, timestamp
from pytest_microremed.embedded.api.typed_check import check_typed
from pytest_microremed.embedded.api.typed_value import TypedValueError, compare

_BEFORE_FIRST_APPLY = "before-first-apply"
_KUBECTL = "kubectl"


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
        ApiError: 409 for fields that others manage, unless `force`; 400 or 500 for a configuration that is not
            of the resource's type.
    """
    _check_configuration(body, resource)
    schema = schema_of(resource)
    live = _without_managers(empty_object(resource) if current is None else current)
    managers = read_managers(current or {})
    if not managers and current is not None:
        managers = _managers_before_first_apply(live, resource, subresource)
    workflow = applier(manager, subresource)
    time = timestamp(now or datetime.now(UTC))
    application = Application(live, body, schema, resource, workflow)
    try:
        merged, managers = application.run(managers, time, force=force)
    except ConflictsError as error:
        owned = unchanged_since_last_applied(live, schema) if manager == _KUBECTL else frozenset()
        conflicts = [conflict for conflict in error.conflicts if conflict[1] not in owned]
        if conflicts:
            raise conflict_error(conflicts) from None
        merged, managers = application.run(managers, time, force=True)
    if manager == _KUBECTL:
        merged = with_last_applied(merged, body)
    return write_managers(merged, managers)


def track_update(
    current: Object | None,
    new: Object,
    resource: Resource,
    manager: str,
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
    taken = manageable(frozenset(changes.added | changes.modified), resource, subresource)
    if taken:
        earlier = left[workflow].fields if workflow in left else frozenset()
        time = timestamp(now or datetime.now(UTC))
        left[workflow] = Managed(taken | earlier, resource.api_version, time)
    return write_managers(new, cap_updaters(left))


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
    fields = manageable(frozenset(changes.added | changes.modified), resource, subresource)
    if not fields:
        return {}
    manager = updater(_BEFORE_FIRST_APPLY, resource.api_version, subresource)
    return {manager: Managed(fields, resource.api_version, live["metadata"].get("creationTimestamp"))}


def _without_managers(obj: Object) -> Object:
    return write_managers(obj, {})
