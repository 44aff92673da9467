"""Deletion: options, preconditions, what becomes of dependents (Kubernetes: garbage collection)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pytest_microremed.embedded.api import lifecycle
from pytest_microremed.embedded.api.api import Api, Reply
from pytest_microremed.embedded.api.errors import Cause, conflict, invalid
from pytest_microremed.embedded.api.reading import get, selected
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import (
    NAMESPACES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    RESOURCE_QUOTAS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Resource,
)
from pytest_microremed.embedded.api.store import Object

_POLICIES = ("Foreground", "Background", "Orphan")
_RETURNED = (
    PODS, SERVICES, SERVICE_ACCOUNTS, PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, RESOURCE_QUOTAS,
)  # fmt: skip
"""Resources whose deletion answers with the object instead of a Status, also once it has gone."""


@dataclass(frozen=True)
class DeleteOptions:
    """metav1.DeleteOptions, from the body or the query."""

    propagation: str = "Background"
    grace_s: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    dry_run: bool = False


def read_options(info: RequestInfo, body: Object) -> DeleteOptions:
    """Raises ApiError 422 for an unknown propagationPolicy."""
    preconditions: dict[str, Any] = body.get("preconditions") or {}
    propagation = body.get("propagationPolicy") or info.param("propagationPolicy")
    if not propagation:
        propagation = "Orphan" if body.get("orphanDependents") else "Background"
    if propagation not in _POLICIES:
        supported = ", ".join(f'"{policy}"' for policy in sorted(_POLICIES))
        message = f'Unsupported value: "{propagation}": supported values: {supported}'
        cause = Cause("propagationPolicy", message, "FieldValueNotSupported")
        raise invalid("meta.k8s.io", "DeleteOptions", "", [cause])
    grace = body.get("gracePeriodSeconds")
    return DeleteOptions(
        propagation,
        info.integer("gracePeriodSeconds") if grace is None else int(grace),
        preconditions.get("uid"),
        preconditions.get("resourceVersion"),
        info.dry_run or "All" in (body.get("dryRun") or ()),
    )


def delete(api: Api, info: RequestInfo, resource: Resource, body: Object) -> Reply:
    """Delete one object. Raises ApiError 404, 409, 422."""
    options = read_options(info, body)
    obj = get(api, info, resource)
    left = delete_object(api, resource, obj, options)
    if left is not None or resource in _RETURNED:
        return Reply(left or obj)
    details = {
        "name": info.name,
        "group": resource.group,
        "kind": resource.plural,
        "uid": obj["metadata"]["uid"],
    }
    return Reply(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {key: value for key, value in details.items() if value},
        }
    )


def delete_collection(api: Api, info: RequestInfo, resource: Resource, body: Object) -> list[Object]:
    """Delete everything that the request's selectors match; returns it. Raises ApiError 400, 422."""
    options = read_options(info, body)
    objects = selected(api, info, resource)
    for obj in objects:
        current = api.store.get(resource, obj["metadata"].get("namespace"), obj["metadata"]["name"])
        if current is not None:  # an earlier one may have taken it along
            delete_object(api, resource, current, options)
    return objects


def delete_object(api: Api, resource: Resource, obj: Object, options: DeleteOptions) -> Object | None:
    """Delete; returns the object if something still holds it, None if it has gone. Raises ApiError 403, 409."""
    _check_preconditions(resource, obj, options)
    if options.dry_run:
        return None
    meta = obj["metadata"]
    if resource == NAMESPACES:
        lifecycle.terminate_namespace(api.store, obj)
    elif options.propagation == "Foreground":
        lifecycle.delete_foreground(api.store, resource, obj, options.grace_s)
    else:
        if options.propagation == "Orphan":
            lifecycle.orphan_dependents(api.store, obj)
        api.store.delete(resource, obj, grace_s=options.grace_s)
    left = api.store.get(resource, meta.get("namespace"), meta["name"])
    return left if left is not None and left["metadata"]["uid"] == meta["uid"] else None


def _check_preconditions(resource: Resource, obj: Object, options: DeleteOptions) -> None:
    name, uid, version = (obj["metadata"][key] for key in ("name", "uid", "resourceVersion"))
    if options.uid not in (None, uid):
        raise conflict(
            resource,
            name,
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({uid})."
            " The object might have been deleted and then recreated",
        )
    if options.resource_version not in (None, version):
        raise conflict(
            resource,
            name,
            f"the ResourceVersion in the precondition ({options.resource_version}) does not match the"
            f" ResourceVersion in record ({version}). The object might have been modified",
        )
