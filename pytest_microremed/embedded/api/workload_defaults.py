"""Defaults of the kinds that run pods, and of what scales them."""

from __future__ import annotations

from pytest_microremed.embedded.api.pod_defaults import default_template
from pytest_microremed.embedded.api.store import Object

_QUARTER = "25%"
_REVISIONS = 10
_PERIOD_S = 15
_SCALE_UP = {
    "stabilizationWindowSeconds": 0,
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": _PERIOD_S},
        {"type": "Percent", "value": 100, "periodSeconds": _PERIOD_S},
    ],
}
_SCALE_DOWN = {
    "selectPolicy": "Max",
    "policies": [{"type": "Percent", "value": 100, "periodSeconds": _PERIOD_S}],
}
_CPU_METRIC = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}


def default_deployment(obj: Object) -> Object:
    spec = {"replicas": 1, "revisionHistoryLimit": _REVISIONS, "progressDeadlineSeconds": 600, **_spec(obj)}
    strategy = {"type": "RollingUpdate", **(spec.get("strategy") or {})}
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        strategy["rollingUpdate"] = {"maxUnavailable": _QUARTER, "maxSurge": _QUARTER, **rolling}
    return {**obj, "spec": {**spec, "strategy": strategy}}


def default_replica_set(obj: Object) -> Object:
    return {**obj, "spec": {"replicas": 1, **_spec(obj)}}


def default_stateful_set(obj: Object) -> Object:
    spec = {
        "replicas": 1,
        "podManagementPolicy": "OrderedReady",
        "revisionHistoryLimit": _REVISIONS,
        "serviceName": "",
        **_spec(obj),
    }
    strategy = {"type": "RollingUpdate", **(spec.get("updateStrategy") or {})}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {"partition": 0, **(strategy.get("rollingUpdate") or {})}
    retention = spec.get("persistentVolumeClaimRetentionPolicy") or {}
    spec["updateStrategy"] = strategy
    spec["persistentVolumeClaimRetentionPolicy"] = {
        "whenDeleted": "Retain",
        "whenScaled": "Retain",
        **retention,
    }
    if spec.get("volumeClaimTemplates"):
        spec["volumeClaimTemplates"] = [_claim_template(claim) for claim in spec["volumeClaimTemplates"]]
    return {**obj, "spec": spec}


def default_daemon_set(obj: Object) -> Object:
    spec = {"revisionHistoryLimit": _REVISIONS, **_spec(obj)}
    strategy = {"type": "RollingUpdate", **(spec.get("updateStrategy") or {})}
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        strategy["rollingUpdate"] = {"maxUnavailable": 1, "maxSurge": 0, **rolling}
    return {**obj, "spec": {**spec, "updateStrategy": strategy}}


def default_job(obj: Object) -> Object:
    spec = {"backoffLimit": 6, "completionMode": "NonIndexed", "suspend": False, **_spec(obj)}
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("podReplacementPolicy", "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed")
    return {**obj, "spec": spec}


def default_cron_job(obj: Object) -> Object:
    """The job inside gets its own defaults only when it is created; its pods' are shown already."""
    job = obj.get("spec", {}).get("jobTemplate") or {}
    spec = {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
        **(obj.get("spec") or {}),
        "jobTemplate": {"metadata": {}, **job, "spec": _spec(job)},
    }
    return {**obj, "spec": spec}


def default_autoscaler(obj: Object) -> Object:
    spec = {"minReplicas": 1, **(obj.get("spec") or {})}
    if not spec.get("metrics"):
        spec["metrics"] = [_CPU_METRIC]
    if behavior := spec.get("behavior"):
        spec["behavior"] = {
            "scaleUp": {**_SCALE_UP, **(behavior.get("scaleUp") or {})},
            "scaleDown": {**_SCALE_DOWN, **(behavior.get("scaleDown") or {})},
        }
    return {**obj, "spec": spec}


def _spec(obj: Object) -> Object:
    """The spec with its pod template defaulted."""
    spec = dict(obj.get("spec") or {})
    if "template" in spec:
        spec["template"] = default_template(spec["template"])
    return spec


def _claim_template(claim: Object) -> Object:
    spec = {"volumeMode": "Filesystem", **(claim.get("spec") or {})}
    status = {"phase": "Pending", **(claim.get("status") or {})}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **claim, "spec": spec, "status": status}
