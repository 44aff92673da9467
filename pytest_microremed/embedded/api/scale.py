"""The scale subresource of workloads: their replica count as an autoscaling/v1 Scale."""

from __future__ import annotations

from pytest_microremed.embedded.api.api import Api, Reply
from pytest_microremed.embedded.api.body import decode_object
from pytest_microremed.embedded.api.errors import Cause, bad_request, conflict, invalid
from pytest_microremed.embedded.api.patch import apply_patch
from pytest_microremed.embedded.api.reading import get
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.selectors import format_selector
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.writing import replace

_SCALE = Resource("autoscaling", "v1", "scales", "Scale")


def read_scale(api: Api, info: RequestInfo, resource: Resource) -> Object:
    """Raises ApiError 404."""
    return _scale(get(api, info, resource))


def write_scale(api: Api, info: RequestInfo, resource: Resource, content_type: str, data: bytes, manager: str) -> Reply:
    """Set the replica count by PUT or PATCH. Raises ApiError 400, 404, 409, 415, 422."""
    current = get(api, info, resource)
    if info.verb == "patch":
        wanted = apply_patch(content_type, _scale(current), data, _SCALE)
    else:
        wanted = decode_object(content_type, data)
    version = (wanted.get("metadata") or {}).get("resourceVersion")
    if version not in (None, "", current["metadata"]["resourceVersion"]):
        raise conflict(resource, info.name)
    replicas = (wanted.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int):
        raise bad_request(f'Scale in version "autoscaling/v1" cannot be handled: replicas {replicas!r} is no integer')
    if replicas < 0:
        cause = Cause("spec.replicas", f"Invalid value: {replicas}: must be greater than or equal to 0")
        raise invalid("autoscaling", "Scale", info.name, [cause])
    new = {**current, "spec": {**current["spec"], "replicas": replicas}}
    return Reply(_scale(replace(api, info, resource, current, new, manager).obj))


def _scale(workload: Object) -> Object:
    meta, spec, status = workload["metadata"], workload["spec"], workload.get("status", {})
    kept = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: meta[key] for key in kept if key in meta},
        "spec": {"replicas": spec.get("replicas", 1)},
        "status": {"replicas": status.get("replicas", 0), "selector": format_selector(spec.get("selector"))},
    }
