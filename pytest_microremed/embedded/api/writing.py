"""The writing verbs: create, update, patch and server-side apply.

All end in the same steps as on a real API server: prune and check fields, default, let the kind's strategy
complete the object, validate, record who manages which field, store.
"""

from __future__ import annotations

import secrets
import uuid
from typing import Any

from pytest_microremed.embedded.api import apply, defaults, patch, strategy, validation
from pytest_microremed.embedded.api.api import Api, Reply
from pytest_microremed.embedded.api.body import decode
from pytest_microremed.embedded.api.errors import (
    ApiError,
    Cause,
    already_exists,
    bad_request,
    conflict,
    forbidden,
    invalid,
    not_found,
)
from pytest_microremed.embedded.api.pod_warnings import pod_warnings
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import NAMESPACES, Resource
from pytest_microremed.embedded.api.store import Object, timestamp

APPLY = "application/apply-patch+yaml"
_SYSTEM_FIELDS = (
    "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation", "selfLink",
)  # fmt: skip
"""Metadata that only the server writes; what a client sends is dropped."""
_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_MANAGER_LENGTH = 128
_NAMESPACE_MISMATCH = "the namespace of the object ({}) does not match the namespace on the URL ({})"
_NAME_MISMATCH = "the name of the object ({}) does not match the name on the URL ({})"


def create(api: Api, info: RequestInfo, resource: Resource, body: Object, manager: str) -> Reply:
    """Store a new object. Raises ApiError 400, 403, 404, 409, 422."""
    obj = _typed(resource, body)
    meta = {key: value for key, value in _metadata(obj).items() if key not in _SYSTEM_FIELDS}
    if meta.pop("resourceVersion", None):
        raise ApiError(500, "", "resourceVersion should not be set on objects to be created")
    mismatch = "the namespace of the provided object does not match the namespace sent on the request"
    _set_namespace(resource, info, meta, mismatch)
    if not meta.get("name") and meta.get("generateName"):
        suffix = "".join(secrets.choice(_SUFFIX_LETTERS) for _ in range(5))
        meta["name"] = f"{meta['generateName']}{suffix}"
    if not meta.get("name"):
        cause = Cause("metadata.name", "Required value: name or generateName is required", "FieldValueRequired")
        raise invalid(resource.group, resource.kind, "", [cause])
    meta["uid"] = str(uuid.uuid4())
    obj, warnings = validation.check_fields(resource, {**obj, "metadata": meta}, _field_validation(info))
    _check_namespace(api, resource, meta)
    obj = defaults.apply_defaults(resource, obj)
    obj = strategy.prepare_create(api.store, resource, obj)
    validation.validate_create(resource, obj)
    warnings.extend(pod_warnings(resource, obj))
    _ask_webhooks(api, resource, obj, None)
    if api.store.get(resource, meta.get("namespace"), meta["name"]) is not None:
        raise already_exists(resource, meta["name"])
    if manager:
        obj = apply.track_update(None, obj, resource, manager, now=api.store.now())
    if info.dry_run:
        obj = {**obj, "metadata": {**obj["metadata"], "creationTimestamp": timestamp(api.store.now())}}
        return Reply(obj, 201, tuple(warnings))
    return Reply(api.store.create(resource, obj), 201, tuple(warnings))


def update(api: Api, info: RequestInfo, resource: Resource, body: Object, manager: str) -> Reply:
    """Replace an object (PUT). Raises ApiError 400, 404, 409, 422."""
    new = _typed(resource, body)
    meta = _metadata(new)
    if meta.get("name", info.name) != info.name:
        raise bad_request(_NAME_MISMATCH.format(meta["name"], info.name))
    _set_namespace(resource, info, meta, _NAMESPACE_MISMATCH.format(meta.get("namespace"), info.namespace))
    current = _current(api, info, resource)
    if resource.custom and not meta.get("resourceVersion"):
        cause = Cause("metadata.resourceVersion", "Invalid value: 0x0: must be specified for an update")
        raise invalid(resource.group, resource.kind, info.name, [cause])
    return replace(api, info, resource, current, {**new, "metadata": {**meta, "name": info.name}}, manager)


def patch_object(
    api: Api, info: RequestInfo, resource: Resource, content_type: str, data: bytes, manager: str
) -> Reply:
    """Change an object by JSON, merge or strategic merge patch. Raises ApiError 400, 404, 409, 415, 422."""
    current = _current(api, info, resource)
    new = patch.apply_patch(content_type, current, data, resource)
    return replace(api, info, resource, current, new, manager, patched=(content_type, decode(content_type, data)))


def apply_object(api: Api, info: RequestInfo, resource: Resource, body: Object) -> Reply:
    """Server-side apply: creates what is missing. Raises ApiError 400, 404, 409, 422."""
    manager = info.param("fieldManager")
    if not manager:
        cause = Cause("fieldManager", "Required value: is required for apply patch", "FieldValueRequired")
        raise invalid("meta.k8s.io", "PatchOptions", "", [cause])
    body = _typed(resource, body)
    meta = _metadata(body)
    if meta.get("name", info.name) != info.name:
        raise bad_request(_NAME_MISMATCH.format(meta["name"], info.name))
    if resource.namespaced:
        meta.setdefault("namespace", info.namespace)
    body = {**body, "metadata": {**meta, "name": info.name}}
    current = api.store.get(resource, info.namespace, info.name)
    if current is None and info.subresource:
        raise not_found(resource, info.name)
    subresource = info.subresource or None
    new = apply.server_side_apply(
        current, body, resource, manager, info.flag("force"), subresource=subresource, now=api.store.now()
    )
    if current is None:
        return create(api, info, resource, new, manager="")
    return replace(api, info, resource, current, new, manager="")


def replace(
    api: Api,
    info: RequestInfo,
    resource: Resource,
    current: Object,
    new: Object,
    manager: str,
    patched: tuple[str, Any] | None = None,
) -> Reply:
    """Store `new` over `current`: the end of every change. Without `manager` the managed fields are final.

    `patched` is the patch that led to `new`, for the words of errors.
    """
    _check_identity(resource, current, new)
    new = _merge(info, resource, current, new)
    new, warnings = validation.check_fields(resource, new, _field_validation(info), patch=patched)
    if not info.subresource:
        new = defaults.apply_defaults(resource, new)
        new = strategy.prepare_update(api.store, resource, new, current)
        validation.validate_update(resource, new, current)
        warnings.extend(pod_warnings(resource, new, current))
        _ask_webhooks(api, resource, new, current)
    if manager and _content(new) != _content(current):
        subresource = info.subresource or None
        new = apply.track_update(current, new, resource, manager, subresource=subresource, now=api.store.now())
    if info.dry_run or _content(new, managed=True) == _content(current, managed=True):
        return Reply(new if info.dry_run else current, 200, tuple(warnings))
    return Reply(api.store.update(resource, new), 200, tuple(warnings))


def _merge(info: RequestInfo, resource: Resource, current: Object, new: Object) -> Object:
    """Keep what this endpoint does not write: the status, or on `/status` all else; and system metadata."""
    old_meta, new_meta = current["metadata"], new["metadata"]
    if info.subresource == "status":
        managed = new_meta.get("managedFields")
        meta = {**old_meta, **({"managedFields": managed} if managed is not None else {})}
        return {**current, "metadata": meta, "status": new.get("status", {})}
    if info.subresource == "ephemeralcontainers":
        added = new.get("spec", {}).get("ephemeralContainers", [])
        return {**current, "spec": {**current["spec"], "ephemeralContainers": added}}
    meta = {key: value for key, value in new_meta.items() if key not in _SYSTEM_FIELDS}
    meta.update({key: old_meta[key] for key in _SYSTEM_FIELDS if key in old_meta})
    meta["resourceVersion"] = old_meta["resourceVersion"]
    if not meta.get("managedFields") and "managedFields" in old_meta:
        meta["managedFields"] = old_meta["managedFields"]
    merged = {**new, "metadata": meta}
    if "status" in resource.subresources:
        merged.pop("status", None)
        if "status" in current:
            merged["status"] = current["status"]
    return merged


def _check_identity(resource: Resource, current: Object, new: Object) -> None:
    old_meta, new_meta = current["metadata"], new["metadata"]
    name = old_meta["name"]
    if new_meta.get("resourceVersion") not in (None, "", old_meta["resourceVersion"]):
        raise conflict(resource, name)
    if new_meta.get("uid") not in (None, "", old_meta["uid"]):
        path = "/".join(filter(None, (resource.plural, old_meta.get("namespace"), name)))
        raise conflict(
            resource,
            name,
            f"StorageError: invalid object, Code: 4, Key: /registry/{path}, ResourceVersion: 0,"
            f" AdditionalErrorMsg: Precondition failed: UID in precondition: {new_meta['uid']},"
            f" UID in object meta: {old_meta['uid']}",
        )
    if new_meta.get("name") != name:
        raise bad_request(_NAME_MISMATCH.format(new_meta.get("name"), name))
    if new_meta.get("namespace") != old_meta.get("namespace"):
        raise bad_request(_NAMESPACE_MISMATCH.format(new_meta.get("namespace"), old_meta.get("namespace")))


def _typed(resource: Resource, body: Object) -> Object:
    """The body with its apiVersion and kind, which must be those of the URL."""
    api_version = body.get("apiVersion") or resource.api_version
    kind = body.get("kind") or resource.kind
    if api_version != resource.api_version:
        raise bad_request(
            f"the API version in the data ({api_version}) does not match the expected API version"
            f" ({resource.api_version})"
        )
    if kind != resource.kind:
        raise bad_request(
            f'{kind} in version "{api_version}" cannot be handled as a {resource.kind}: converting'
            f" ({kind}) to ({resource.kind}): unknown conversion"
        )
    return {"apiVersion": api_version, "kind": kind, **body}


def _metadata(obj: Object) -> Object:
    meta = obj.get("metadata") or {}
    if not isinstance(meta, dict):
        raise bad_request(f'{obj["kind"]} in version "{obj["apiVersion"]}" cannot be handled: metadata is no object')
    return dict(meta)


def _set_namespace(resource: Resource, info: RequestInfo, meta: Object, mismatch: str) -> None:
    if not resource.namespaced:
        meta.pop("namespace", None)
    elif not info.namespace:
        raise bad_request("an empty namespace may not be set during creation")
    elif meta.setdefault("namespace", info.namespace) != info.namespace:
        raise bad_request(mismatch)


def _check_namespace(api: Api, resource: Resource, meta: Object) -> None:
    """Admission plug-in NamespaceLifecycle: nothing is created in a namespace that is missing or ends."""
    if not resource.namespaced:
        return
    name = meta["namespace"]
    namespace = api.store.get(NAMESPACES, None, name)
    if namespace is None:
        raise not_found(NAMESPACES, name)
    if "deletionTimestamp" in namespace["metadata"]:
        raise forbidden(
            resource,
            meta["name"],
            f"unable to create new content in namespace {name} because it is being terminated",
            [Cause("metadata.namespace", f"namespace {name} is being terminated", "NamespaceTerminating")],
        )


def _ask_webhooks(api: Api, resource: Resource, new: Object, old: Object | None) -> None:
    for webhook in api.store.webhooks:
        refusal = webhook(resource, new, old)
        if refusal:
            raise ApiError(403, "Forbidden", refusal)


def _current(api: Api, info: RequestInfo, resource: Resource) -> Object:
    current = api.store.get(resource, info.namespace, info.name)
    if current is None:
        raise not_found(resource, info.name)
    return current


def _field_validation(info: RequestInfo) -> str:
    mode = info.param("fieldValidation") or "Warn"
    if mode not in ("Strict", "Warn", "Ignore"):
        message = f'Unsupported value: "{mode}": supported values: "Ignore", "Strict", "Warn"'
        raise invalid("meta.k8s.io", "CreateOptions", "", [Cause("fieldValidation", message, "FieldValueNotSupported")])
    return mode


def _content(obj: Object, *, managed: bool = False) -> Object:
    """What makes two states of an object differ: not when its managed fields were written."""
    meta = dict(obj["metadata"])
    entries = meta.pop("managedFields", ())
    if managed:
        meta["managedFields"] = [{k: v for k, v in entry.items() if k != "time"} for entry in entries]
    return {**obj, "metadata": meta}


def field_manager(info: RequestInfo, user_agent: str) -> str:
    """Who writes: the fieldManager parameter, else the client's name from its User-Agent."""
    return info.param("fieldManager") or (user_agent.partition("/")[0] or "unknown")[:_MANAGER_LENGTH]
