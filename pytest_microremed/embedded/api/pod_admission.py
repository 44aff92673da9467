"""What the API server adds to a new Pod: the work of the admission plug-ins ServiceAccount, Priority and
DefaultTolerationSeconds, the quality of service class, and the status it starts with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_microremed.embedded.api.errors import forbidden
from pytest_microremed.embedded.api.resources import PODS, PRIORITY_CLASSES, SERVICE_ACCOUNTS
from pytest_microremed.embedded.api.store import Object, Store

_EVICTED_AFTER_S = 300
_SYSTEM_PRIORITIES = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}


def admit_pod(store: Store, pod: Object) -> Object:
    """The pod as stored. Raises ApiError 403: its service account or priority class does not exist."""
    meta, spec = pod["metadata"], pod.get("spec") or {}
    account = spec.get("serviceAccountName") or "default"
    if store.get(SERVICE_ACCOUNTS, meta["namespace"], account) is None:
        looked_up = f"error looking up service account {meta['namespace']}/{account}"
        why = f'{looked_up}: serviceaccount "{account}" not found'
        raise forbidden(PODS, meta["name"], why)
    return {
        **pod,
        "spec": {
            **spec,
            "serviceAccountName": account,
            "serviceAccount": account,
            "tolerations": _tolerations(spec.get("tolerations") or []),
            "priority": _priority(store, meta["name"], spec.get("priorityClassName")),
            "preemptionPolicy": spec.get("preemptionPolicy") or "PreemptLowerPriority",
        },
        "status": {"phase": "Pending", "qosClass": quality_of_service(spec)},
    }


def quality_of_service(spec: Mapping[str, Any]) -> str:
    """Guaranteed, Burstable or BestEffort (Kubernetes: Pod Quality of Service Classes)."""
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    resources = [container.get("resources") or {} for container in containers]
    if not any(each.get("requests") or each.get("limits") for each in resources):
        return "BestEffort"
    for each in resources:
        limits, requests = each.get("limits") or {}, each.get("requests") or {}
        if any(name not in limits or requests.get(name, limits[name]) != limits[name] for name in ("cpu", "memory")):
            return "Burstable"
    return "Guaranteed"


def _tolerations(declared: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those declared, and five minutes on a node that is lost."""
    added = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _EVICTED_AFTER_S}
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    ]
    tolerated = {each.get("key") for each in declared if each.get("effect") in (None, "", "NoExecute")}
    return [*declared, *(each for each in added if each["key"] not in tolerated and None not in tolerated)]


def _priority(store: Store, pod: str, class_name: str | None) -> int:
    if class_name in _SYSTEM_PRIORITIES:
        return _SYSTEM_PRIORITIES[class_name]
    if class_name:
        priority_class = store.get(PRIORITY_CLASSES, None, class_name)
        if priority_class is None:
            raise forbidden(PODS, pod, f"no PriorityClass with name {class_name} was found")
        return int(priority_class.get("value", 0))
    defaults = [each for each in store.list(PRIORITY_CLASSES) if each.get("globalDefault")]
    return int(defaults[0].get("value", 0)) if defaults else 0
