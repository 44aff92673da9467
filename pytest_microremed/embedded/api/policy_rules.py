"""Rules of autoscaling, disruption and access: HPA, PodDisruptionBudget, roles and bindings."""

from __future__ import annotations

from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    invalid_value,
    not_negative,
    not_supported,
    required,
)
from pytest_microremed.embedded.api.metadata_rules import selector_causes
from pytest_microremed.embedded.api.name_rules import percentage
from pytest_microremed.embedded.api.store import Object

_RBAC = "rbac.authorization.k8s.io"
_METRICS = ("ContainerResource", "External", "Object", "Pods", "Resource")
_METRIC_FIELDS = {
    "Resource": "resource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
    "ContainerResource": "containerResource",
}
_SUBJECTS = ("Group", "ServiceAccount", "User")


def autoscaler_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    lowest, highest = spec.get("minReplicas"), spec.get("maxReplicas", 0)
    if lowest is not None and lowest < 1:
        yield invalid_value("spec.minReplicas", lowest, "must be greater than or equal to 1")
    if highest < 1:
        yield invalid_value("spec.maxReplicas", highest, "must be greater than 0")
    if lowest is not None and highest < lowest:
        yield invalid_value("spec.maxReplicas", highest, "must be greater than or equal to `minReplicas`")
    target = spec.get("scaleTargetRef") or {}
    for field in ("kind", "name"):
        if not target.get(field):
            yield required(f"spec.scaleTargetRef.{field}")
    for index, metric in enumerate(spec.get("metrics") or ()):
        yield from _metric_causes(metric, f"spec.metrics[{index}]")


def budget_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    if "minAvailable" in spec and "maxUnavailable" in spec:
        detail = "minAvailable and maxUnavailable cannot be both set"
        yield invalid_value("spec", spec, detail)
    for field in ("minAvailable", "maxUnavailable"):
        value = spec.get(field)
        if isinstance(value, str):
            yield from all_invalid(f"spec.{field}", value, percentage(value))
        else:
            yield from not_negative(f"spec.{field}", value)
    yield from selector_causes(spec.get("selector"), "spec.selector")


def role_causes(obj: Object) -> Causes:
    cluster = obj.get("kind") == "ClusterRole"
    for index, rule in enumerate(obj.get("rules") or ()):
        here = f"rules[{index}]"
        if not rule.get("verbs"):
            yield required(f"{here}.verbs", "verbs must contain at least one value")
        if rule.get("nonResourceURLs"):
            urls = rule["nonResourceURLs"]
            if not cluster:
                detail = "namespaced rules cannot apply to non-resource URLs"
                yield invalid_value(f"{here}.nonResourceURLs", urls, detail)
            elif rule.get("apiGroups") or rule.get("resources"):
                detail = "rules cannot apply to both regular resources and non-resource URLs"
                yield invalid_value(f"{here}.nonResourceURLs", urls, detail)
            continue
        if not rule.get("apiGroups"):
            yield required(f"{here}.apiGroups", "resource rules must supply at least one api group")
        if not rule.get("resources"):
            yield required(f"{here}.resources", "resource rules must supply at least one resource")


def binding_causes(obj: Object) -> Causes:
    role = obj.get("roleRef") or {}
    cluster = obj.get("kind") == "ClusterRoleBinding"
    kinds = ("ClusterRole",) if cluster else ("Role", "ClusterRole")
    if role.get("apiGroup") != _RBAC:
        yield not_supported("roleRef.apiGroup", role.get("apiGroup", ""), (_RBAC,))
    if role.get("kind") not in kinds:
        yield not_supported("roleRef.kind", role.get("kind", ""), kinds)
    if not role.get("name"):
        yield required("roleRef.name")
    for index, subject in enumerate(obj.get("subjects") or ()):
        yield from _subject_causes(subject, f"subjects[{index}]")


def binding_update_causes(new: Object, old: Object) -> Causes:
    """Whom a role is bound to may change, but not which role."""
    if new.get("roleRef") != old.get("roleRef"):
        role = new.get("roleRef") or {}
        shown = {"APIGroup": role.get("apiGroup"), "Kind": role.get("kind"), "Name": role.get("name")}
        yield invalid_value("roleRef", shown, "cannot change roleRef")


def _metric_causes(metric: Object, path: str) -> Causes:
    kind = metric.get("type", "")
    if not kind:
        yield required(f"{path}.type", "must specify a metric source type")
    elif kind not in _METRICS:
        yield not_supported(f"{path}.type", kind, _METRICS)
    elif _METRIC_FIELDS[kind] not in metric:
        field = _METRIC_FIELDS[kind]
        yield required(f"{path}.{field}", "must populate information for the given metric source")
    else:
        yield from _target_causes(metric[_METRIC_FIELDS[kind]], f"{path}.{_METRIC_FIELDS[kind]}")


def _target_causes(source: Object, path: str) -> Causes:
    if "name" in source and not source["name"]:
        yield required(f"{path}.name", "must specify a resource name")
    target = source.get("target") or {}
    utilization = target.get("averageUtilization")
    if utilization is not None and utilization < 1:
        yield invalid_value(f"{path}.target.averageUtilization", utilization, "must be greater than 0")
    if not any(field in target for field in ("averageUtilization", "averageValue", "value")):
        yield required(
            f"{path}.target.averageUtilization", "must set either a target raw value or a target utilization"
        )


def _subject_causes(subject: Object, path: str) -> Causes:
    kind = subject.get("kind")
    if not subject.get("name"):
        yield required(f"{path}.name")
    if kind not in _SUBJECTS:
        yield not_supported(f"{path}.kind", kind or "", _SUBJECTS)
    elif kind == "ServiceAccount":
        if subject.get("apiGroup"):
            yield not_supported(f"{path}.apiGroup", subject["apiGroup"], ("",))
        if not subject.get("namespace"):
            yield required(f"{path}.namespace")
    elif subject.get("apiGroup") != _RBAC:
        yield not_supported(f"{path}.apiGroup", subject.get("apiGroup", ""), (_RBAC,))
