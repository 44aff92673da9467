"""What the API server itself completes when an object is written (Kubernetes: the strategy of each registry).

Service addresses, finalizers and label of namespaces, Secret data, selectors of Jobs, initial statuses.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from pytest_microremed.embedded.api.custom import complete_definition
from pytest_microremed.embedded.api.errors import forbidden
from pytest_microremed.embedded.api.lifecycle import new_namespace
from pytest_microremed.embedded.api.pod_admission import admit_pod
from pytest_microremed.embedded.api.quota import quota_refusal
from pytest_microremed.embedded.api.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    JOBS,
    NAMESPACES,
    NODES,
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    PODS,
    SECRETS,
    SERVICES,
    Resource,
)
from pytest_microremed.embedded.api.service_addresses import allocate
from pytest_microremed.embedded.api.store import Object, Store


def prepare_create(store: Store, resource: Resource, obj: Object) -> Object:
    """The object as it is stored first. Raises ApiError 403, 422."""
    if "status" in resource.subresources and resource is not NODES:
        obj = {key: value for key, value in obj.items() if key != "status"}
    complete = _CREATE.get(resource)
    if complete is not None:
        return complete(store, obj)
    if "status" in resource.subresources and not resource.custom and resource is not NODES:
        return {**obj, "status": {}}
    return obj


def prepare_update(store: Store, resource: Resource, new: Object, old: Object) -> Object:
    """The new state of a stored object. Raises ApiError 422."""
    if resource is SERVICES:
        return allocate(store, new, old)
    if resource is SECRETS:
        return _secret(store, new)
    if resource is CUSTOM_RESOURCE_DEFINITIONS:
        return complete_definition(new)
    if resource is NAMESPACES:
        return {**new, "spec": old.get("spec", {})}  # only the finalize subresource changes it
    return new


def _namespace(store: Store, obj: Object) -> Object:
    complete = new_namespace(obj["metadata"]["name"])
    labels = {**(obj["metadata"].get("labels") or {}), **complete["metadata"]["labels"]}
    return {**obj, **complete, "metadata": {**obj["metadata"], "labels": labels}}


def _pod(store: Store, obj: Object) -> Object:
    admitted = admit_pod(store, obj)
    if refusal := quota_refusal(store, admitted):
        raise forbidden(PODS, obj["metadata"]["name"], refusal)
    return admitted


def _service(store: Store, obj: Object) -> Object:
    return {**allocate(store, obj, None), "status": {"loadBalancer": {}}}


def _secret(store: Store, obj: Object) -> Object:
    """Plain text in stringData becomes data."""
    text: dict[str, str] = obj.get("stringData") or {}
    obj = {key: value for key, value in obj.items() if key != "stringData"}
    if text:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in text.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}
    return obj


def _job(store: Store, obj: Object) -> Object:
    """A Job selects its own pods by its uid, unless it says that its selector is made by hand."""
    spec: dict[str, Any] = obj.get("spec") or {}
    if spec.get("manualSelector"):
        return {**obj, "status": {}}
    uid, name = obj["metadata"]["uid"], obj["metadata"]["name"]
    own = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }
    template = spec.get("template") or {}
    meta = template.get("metadata") or {}
    template = {**template, "metadata": {**meta, "labels": {**(meta.get("labels") or {}), **own}}}
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    spec = {**spec, "selector": selector, "template": template}
    labels = {**template["metadata"]["labels"], **(obj["metadata"].get("labels") or {})}
    return {**obj, "metadata": {**obj["metadata"], "labels": labels}, "spec": spec, "status": {}}


def _pending(store: Store, obj: Object) -> Object:
    return {**obj, "status": {"phase": "Pending"}}


def _definition(store: Store, obj: Object) -> Object:
    return complete_definition(obj)


_CREATE: dict[Resource, Callable[[Store, Object], Object]] = {
    NAMESPACES: _namespace,
    PODS: _pod,
    SERVICES: _service,
    SECRETS: _secret,
    JOBS: _job,
    PERSISTENT_VOLUMES: _pending,
    PERSISTENT_VOLUME_CLAIMS: _pending,
    CUSTOM_RESOURCE_DEFINITIONS: _definition,
}
