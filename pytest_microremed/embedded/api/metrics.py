"""The resource metrics API (metrics.k8s.io/v1beta1), as metrics-server answers it from the nodes' samples."""

from __future__ import annotations

from datetime import UTC, datetime

from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.reading import predicate
from pytest_microremed.embedded.api.registry import POD_METRICS
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import NODES, PODS, Resource
from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.api.store import Object, timestamp

_WINDOW = "15s"


def list_metrics(api: Api, info: RequestInfo, resource: Resource) -> list[Object]:
    """The samples of the pods or nodes that the request selects; those without a sample are left out."""
    source = PODS if resource is POD_METRICS else NODES
    wanted, now = predicate(info, source), api.store.now()
    objects = [obj for obj in api.store.list(source, info.namespace or None) if wanted(obj)]
    samples = (_sample(api, resource, obj, now) for obj in objects)
    return [sample for sample in samples if sample is not None]


def get_metrics(api: Api, info: RequestInfo, resource: Resource) -> Object:
    """One sample. Raises ApiError 404 without one."""
    source = PODS if resource is POD_METRICS else NODES
    obj = api.store.get(source, info.namespace, info.name)
    sample = None if obj is None else _sample(api, resource, obj, api.store.now())
    if sample is None:
        name = f"{info.namespace}/{info.name}" if info.namespace else info.name
        details = {"name": name, "group": resource.group, "kind": resource.kind.lower()}
        message = f'{resource.kind.lower()}.{resource.group} "{name}" not found'
        raise ApiError(404, "NotFound", message, details)
    return sample


def _sample(api: Api, resource: Resource, obj: Object, now: datetime) -> Object | None:
    meta = {key: obj["metadata"][key] for key in ("name", "namespace", "labels") if key in obj["metadata"]}
    sample = {
        "kind": resource.kind,
        "apiVersion": resource.api_version,
        "metadata": {**meta, "creationTimestamp": timestamp(now)},
        # Finer than metav1.Time writes it (and reads it): many simulated seconds pass in one of the
        # wall's, and a client has to tell a new sample from the one before.
        "timestamp": now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        "window": _WINDOW,
    }
    if resource is not POD_METRICS:
        return {**sample, "usage": _usage(api.runtime.node_usage(obj))}
    usage = api.runtime.pod_usage(obj)
    if usage is None:
        return None
    return {**sample, "containers": [{"name": name, "usage": _usage(each)} for name, each in usage.items()]}


def _usage(usage: Usage) -> dict[str, str]:
    return {"cpu": f"{round(usage.cpu_cores * 1e9)}n", "memory": f"{usage.memory_bytes // 1024}Ki"}
