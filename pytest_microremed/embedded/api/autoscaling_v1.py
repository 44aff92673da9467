"""autoscaling/v1: HorizontalPodAutoscalers, stored as autoscaling/v2, in the form of older clients.

The use of CPU to aim at is a field of its own; what v1 has no field for is in annotations, so that nothing is lost
on the way there and back. Their values are the JSON of the v2 fields. Source: Kubernetes documentation, "Horizontal
Pod Autoscaling", API object.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pytest_microremed.embedded.api.errors import bad_request
from pytest_microremed.embedded.api.field_check import check_fields
from pytest_microremed.embedded.api.resources import HORIZONTAL_POD_AUTOSCALERS, HORIZONTAL_POD_AUTOSCALERS_V1
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.workload_defaults import default_autoscaler

_PREFIX = "autoscaling.alpha.kubernetes.io/"
_METRICS, _BEHAVIOR = f"{_PREFIX}metrics", f"{_PREFIX}behavior"
_CURRENT_METRICS, _CONDITIONS = f"{_PREFIX}current-metrics", f"{_PREFIX}conditions"
_ANNOTATIONS: dict[str, type] = {_METRICS: list, _BEHAVIOR: dict, _CURRENT_METRICS: list, _CONDITIONS: list}
_SPEC = ("scaleTargetRef", "minReplicas", "maxReplicas")
_STATUS = ("observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas")
"""Fields that are the same in both versions."""


def to_v1(obj: Object) -> Object:
    """A v2 autoscaler as v1."""
    old_spec, old_status = obj.get("spec") or {}, obj.get("status") or {}
    target, metrics = _without_cpu(old_spec.get("metrics") or (), "target")
    current, current_metrics = _without_cpu(old_status.get("currentMetrics") or (), "current")
    spec = _present(old_spec, _SPEC)
    status = {"currentReplicas": 0, "desiredReplicas": 0, **_present(old_status, _STATUS)}
    if target is not None:
        spec["targetCPUUtilizationPercentage"] = target
    if current is not None:
        status["currentCPUUtilizationPercentage"] = current
    held = {
        _METRICS: metrics,
        _BEHAVIOR: old_spec.get("behavior"),
        _CURRENT_METRICS: current_metrics,
        _CONDITIONS: old_status.get("conditions"),
    }
    annotations = {key: json.dumps(value, separators=(",", ":")) for key, value in held.items() if value}
    return _converted(obj, HORIZONTAL_POD_AUTOSCALERS_V1.api_version, annotations, spec, status)


def to_v2(obj: Object) -> Object:
    """A v1 autoscaler as v2. Raises ApiError 400 for an annotation that does not hold what it is for."""
    old_spec, old_status = obj.get("spec") or {}, obj.get("status") or {}
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    held = {key: _read(key, annotations[key]) for key in _ANNOTATIONS if key in annotations}
    spec, status = _present(old_spec, _SPEC), _present(old_status, _STATUS)
    metrics = [*_cpu("target", old_spec.get("targetCPUUtilizationPercentage")), *held.get(_METRICS, ())]
    current = [*_cpu("current", old_status.get("currentCPUUtilizationPercentage")), *held.get(_CURRENT_METRICS, ())]
    if metrics:
        spec["metrics"] = metrics
    if _BEHAVIOR in held:
        spec["behavior"] = held[_BEHAVIOR]
    if current:
        status["currentMetrics"] = current
    if _CONDITIONS in held:
        status["conditions"] = held[_CONDITIONS]
    return _converted(obj, HORIZONTAL_POD_AUTOSCALERS.api_version, {}, spec, status)


def default_autoscaler_v1(obj: Object) -> Object:
    """A v1 autoscaler with the defaults of v2. Raises ApiError 400 for annotations that are no fields of v2."""
    checked, _ = check_fields(HORIZONTAL_POD_AUTOSCALERS, to_v2(obj), "Ignore")
    return to_v1(default_autoscaler(checked))


def _converted(obj: Object, api_version: str, annotations: dict[str, str], spec: Object, status: Object) -> Object:
    """The object in the other version, its annotations for what a version lacks replaced by `annotations`."""
    meta = dict(obj.get("metadata") or {})
    kept = {key: value for key, value in (meta.get("annotations") or {}).items() if key not in _ANNOTATIONS}
    meta.pop("annotations", None)
    if kept or annotations:
        meta["annotations"] = {**kept, **annotations}
    return {**obj, "apiVersion": api_version, "metadata": meta, "spec": spec, "status": status}


def _without_cpu(metrics: Sequence[Object], field: str) -> tuple[int | None, list[Object]]:
    """The use of CPU in percent that `field` (target or current) of the first such metric says, and the others."""
    for index, metric in enumerate(metrics):
        source = metric.get("resource") or {}
        utilization = (source.get(field) or {}).get("averageUtilization")
        if source.get("name") == "cpu" and utilization is not None:
            return utilization, [*metrics[:index], *metrics[index + 1 :]]
    return None, list(metrics)


def _cpu(field: str, utilization: int | None) -> list[Object]:
    if utilization is None:
        return []
    value: Object = {"averageUtilization": utilization}
    if field == "target":
        value["type"] = "Utilization"
    return [{"type": "Resource", "resource": {"name": "cpu", field: value}}]


def _read(annotation: str, text: str) -> Any:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise bad_request(f"annotation {annotation} cannot be read: {error}") from None
    if not isinstance(value, _ANNOTATIONS[annotation]):
        raise bad_request(f"annotation {annotation} cannot be read: a {_ANNOTATIONS[annotation].__name__} is expected")
    return value


def _present(obj: Object, fields: Sequence[str]) -> Object:
    return {field: obj[field] for field in fields if field in obj}
