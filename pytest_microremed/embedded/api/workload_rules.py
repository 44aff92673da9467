"""Rules of the kinds that run pods (Kubernetes: `pkg/apis/apps/validation` and `pkg/apis/batch/validation`)."""

from __future__ import annotations

import math
from typing import Any

from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    forbidden_value,
    invalid_value,
    not_negative,
    not_supported,
    one_of,
    required,
    unchanged,
)
from pytest_microremed.embedded.api.metadata_rules import selector_causes, selects
from pytest_microremed.embedded.api.name_rules import percentage
from pytest_microremed.embedded.api.pod_rules import template_causes
from pytest_microremed.embedded.api.store import Object

_UPDATABLE = (
    "replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy", "minReadySeconds",
)  # fmt: skip
_UPDATES = ("OnDelete", "RollingUpdate")
_POD_MANAGEMENT = ("OrderedReady", "Parallel")
_CONCURRENCY = ("Allow", "Forbid", "Replace")
_CRON_FIELDS = 5
_CRON_NAME_LENGTH = 52


def deployment_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    yield from _selecting_causes(spec, "deployment")
    yield from _strategy_causes(spec.get("strategy") or {}, "spec.strategy")
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))
    yield from not_negative("spec.revisionHistoryLimit", spec.get("revisionHistoryLimit"))
    deadline = spec.get("progressDeadlineSeconds")
    if deadline is not None:
        yield from not_negative("spec.progressDeadlineSeconds", deadline)
        if deadline <= spec.get("minReadySeconds", 0):
            detail = "must be greater than minReadySeconds"
            yield invalid_value("spec.progressDeadlineSeconds", deadline, detail)


def replica_set_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    yield from _selecting_causes(spec, "deployment")
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))


def selector_update_causes(new: Object, old: Object) -> Causes:
    """Deployments, ReplicaSets and DaemonSets keep their selector."""
    new_spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    yield from unchanged("spec.selector", new_spec.get("selector"), old_spec.get("selector"))


def stateful_set_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    yield from one_of("spec.podManagementPolicy", spec.get("podManagementPolicy"), _POD_MANAGEMENT)
    strategy = spec.get("updateStrategy") or {}
    if strategy.get("type") not in _UPDATES:
        detail = "must be 'RollingUpdate' or 'OnDelete'"
        yield invalid_value("spec.updateStrategy", strategy, detail)
    elif strategy["type"] == "OnDelete" and "rollingUpdate" in strategy:
        detail = "only allowed for updateStrategy 'RollingUpdate'"
        yield invalid_value("spec.updateStrategy.rollingUpdate", strategy["rollingUpdate"], detail)
    partition = (strategy.get("rollingUpdate") or {}).get("partition")
    yield from not_negative("spec.updateStrategy.rollingUpdate.partition", partition)
    yield from _selecting_causes(spec, "statefulset")
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))


def stateful_set_update_causes(new: Object, old: Object) -> Causes:
    """Hardly more than the template may change."""
    new_spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    fields = {**old_spec, **new_spec}
    if any(new_spec.get(field) != old_spec.get(field) for field in fields if field not in _UPDATABLE):
        allowed = ", ".join(f"'{field}'" for field in _UPDATABLE[:-1])
        detail = f"updates to statefulset spec for fields other than {allowed} and '{_UPDATABLE[-1]}' are forbidden"
        yield forbidden_value("spec", detail)


def daemon_set_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    yield from _selecting_causes(spec, "daemonset")
    strategy = spec.get("updateStrategy") or {}
    path = "spec.updateStrategy"
    if strategy.get("type") not in _UPDATES:
        yield not_supported(f"{path}.type", strategy.get("type"), ("RollingUpdate", "OnDelete"))
    elif strategy["type"] == "RollingUpdate":
        rolling = strategy.get("rollingUpdate") or {}
        yield from _share_causes(rolling, f"{path}.rollingUpdate")
        if not _amount(rolling.get("maxUnavailable")) and not _amount(rolling.get("maxSurge")):
            detail = "cannot be 0 when maxSurge is 0"
            value = rolling.get("maxUnavailable")
            yield invalid_value(f"{path}.rollingUpdate.maxUnavailable", value, detail)
    yield from not_negative("spec.minReadySeconds", spec.get("minReadySeconds"))


def job_causes(obj: Object) -> Causes:
    yield from _job_spec_causes(obj.get("spec") or {}, "spec")


def job_update_causes(new: Object, old: Object) -> Causes:
    new_spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    for field in ("selector", "template", "completionMode", "completions"):
        yield from unchanged(f"spec.{field}", new_spec.get(field), old_spec.get(field))


def cron_job_causes(obj: Object) -> Causes:
    name = obj["metadata"].get("name", "")
    if len(name) > _CRON_NAME_LENGTH:
        detail = f"must be no more than {_CRON_NAME_LENGTH} characters"
        yield invalid_value("metadata.name", name, detail)
    spec = obj.get("spec") or {}
    schedule = spec.get("schedule", "")
    if not schedule:
        yield required("spec.schedule")
    elif not schedule.startswith("@") and len(schedule.split()) != _CRON_FIELDS:
        parts = schedule.split()
        detail = f"expected exactly {_CRON_FIELDS} fields, found {len(parts)}: [{' '.join(parts)}]"
        yield invalid_value("spec.schedule", schedule, detail)
    yield from not_negative("spec.startingDeadlineSeconds", spec.get("startingDeadlineSeconds"))
    yield from one_of("spec.concurrencyPolicy", spec.get("concurrencyPolicy"), _CONCURRENCY)
    yield from _job_spec_causes((spec.get("jobTemplate") or {}).get("spec") or {}, "spec.jobTemplate.spec")
    for field in ("successfulJobsHistoryLimit", "failedJobsHistoryLimit"):
        yield from not_negative(f"spec.{field}", spec.get(field))


def _selecting_causes(spec: Object, kind: str) -> Causes:
    """Replicas, selector and template, which must fit each other and run for ever."""
    yield from not_negative("spec.replicas", spec.get("replicas"))
    selector, template = spec.get("selector"), spec.get("template") or {}
    if selector is None:
        yield required("spec.selector")
    else:
        yield from selector_causes(selector, "spec.selector")
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            yield invalid_value("spec.selector", selector, f"empty selector is invalid for {kind}")
    labels = (template.get("metadata") or {}).get("labels")
    if not selects(selector, labels or {}):
        detail = "`selector` does not match template `labels`"
        yield invalid_value("spec.template.metadata.labels", labels, detail)
    yield from template_causes(template, "spec.template")
    pod = template.get("spec") or {}
    if pod.get("restartPolicy") != "Always":
        yield not_supported("spec.template.spec.restartPolicy", pod.get("restartPolicy", ""), ("Always",))
    if pod.get("activeDeadlineSeconds") is not None:
        name = {"deployment": "ReplicaSet", "statefulset": "StatefulSet", "daemonset": "DaemonSet"}[kind]
        detail = f"activeDeadlineSeconds in {name} is not Supported"
        yield forbidden_value("spec.template.spec.activeDeadlineSeconds", detail)


def _strategy_causes(strategy: Object, path: str) -> Causes:
    kind, rolling = strategy.get("type"), strategy.get("rollingUpdate")
    if kind == "Recreate":
        if rolling is not None:
            detail = "may not be specified when strategy `type` is 'Recreate'"
            yield forbidden_value(f"{path}.rollingUpdate", detail)
    elif kind == "RollingUpdate":
        rolling = rolling or {}
        yield from _share_causes(rolling, f"{path}.rollingUpdate")
        unavailable = rolling.get("maxUnavailable")
        if not _amount(unavailable) and not _amount(rolling.get("maxSurge")):
            detail = "may not be 0 when `maxSurge` is 0"
            yield invalid_value(f"{path}.rollingUpdate.maxUnavailable", unavailable, detail)
        if isinstance(unavailable, str) and _amount(unavailable) > 100:
            detail = "must not be greater than 100%"
            yield invalid_value(f"{path}.rollingUpdate.maxUnavailable", unavailable, detail)
    else:
        yield not_supported(path, strategy, ("Recreate", "RollingUpdate"))


def _share_causes(rolling: Object, path: str) -> Causes:
    """Numbers or percentages of pods."""
    for field in ("maxUnavailable", "maxSurge"):
        value = rolling.get(field)
        if isinstance(value, str):
            yield from all_invalid(f"{path}.{field}", value, percentage(value))
        else:
            yield from not_negative(f"{path}.{field}", value)


def _amount(value: Any) -> float:
    """A number, or that of a percentage; what is neither counts as not zero, and is told elsewhere."""
    if isinstance(value, str):
        return int(value[:-1]) if not percentage(value) else math.inf
    return value or 0


def _job_spec_causes(spec: Object, path: str) -> Causes:
    fields = ("parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished")
    for field in fields:
        yield from not_negative(f"{path}.{field}", spec.get(field))
    template = spec.get("template") or {}
    yield from template_causes(template, f"{path}.template")
    policy = (template.get("spec") or {}).get("restartPolicy")
    if policy not in ("OnFailure", "Never"):
        detail = 'valid values: "OnFailure", "Never"'
        yield required(f"{path}.template.spec.restartPolicy", detail)
