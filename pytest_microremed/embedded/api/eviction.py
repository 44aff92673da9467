"""Eviction: a deletion that asks the PodDisruptionBudget first (Kubernetes: API-initiated eviction)."""

from __future__ import annotations

from pytest_microremed.embedded.api.api import Api, Reply
from pytest_microremed.embedded.api.deleting import delete_object, read_options
from pytest_microremed.embedded.api.errors import ApiError, Cause, bad_request, too_many_requests
from pytest_microremed.embedded.api.reading import get
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import POD_DISRUPTION_BUDGETS, PODS
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Object

_TERMINAL = ("Succeeded", "Failed")
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def evict(api: Api, info: RequestInfo, body: Object) -> Reply:
    """Evict a pod. Raises ApiError 404, 409, and 429 where a budget forbids it."""
    name = (body.get("metadata") or {}).get("name", info.name)
    if name != info.name:
        raise bad_request(f"name in URL does not match name in Eviction object: {info.name} {name}")
    pod = get(api, info, PODS)
    options = read_options(info, body.get("deleteOptions") or {})
    budget = _budget(api, pod)
    if budget is not None and _counts(pod):
        _spend(api, budget, dry_run=options.dry_run)
    delete_object(api, PODS, pod, options)
    return Reply({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, 201)


def _budget(api: Api, pod: Object) -> Object | None:
    meta = pod["metadata"]
    budgets = [
        budget
        for budget in api.store.list(POD_DISRUPTION_BUDGETS, meta["namespace"])
        if matches_labels(budget["spec"].get("selector"), meta.get("labels") or {})
    ]
    if len(budgets) > 1:
        raise ApiError(500, "InternalError", _SEVERAL)
    return budgets[0] if budgets else None


def _counts(pod: Object) -> bool:
    """Pods that have ended, or never began, are evicted whatever the budget says."""
    phase = pod.get("status", {}).get("phase")
    return phase not in (*_TERMINAL, "Pending") and "deletionTimestamp" not in pod["metadata"]


def _spend(api: Api, budget: Object, *, dry_run: bool) -> None:
    """Take one of the allowed disruptions; the disruption controller counts anew when the pod has gone."""
    status = budget.get("status") or {}
    name, allowed = budget["metadata"]["name"], status.get("disruptionsAllowed", 0)
    if allowed <= 0:
        needed, healthy = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
        message = f"The disruption budget {name} needs {needed} healthy pods and has {healthy} currently"
        raise too_many_requests(
            "Cannot evict pod as it would violate the pod's disruption budget.",
            [Cause("", message, "DisruptionBudget")],
        )
    if not dry_run:
        api.store.update_status(POD_DISRUPTION_BUDGETS, budget, disruptionsAllowed=allowed - 1)
