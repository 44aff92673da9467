"""What a ResourceQuota counts, and whether one more pod would exceed it.

Source: Kubernetes documentation, "Resource Quotas"; messages as the API server's admission words them.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from pytest_microremed.embedded.api.quantity import canonical_quantity, parse_quantity
from pytest_microremed.embedded.api.resources import (
    BUILT_IN,
    CONFIG_MAPS,
    PERSISTENT_VOLUME_CLAIMS,
    PODS,
    RESOURCE_QUOTAS,
    SECRETS,
    SERVICES,
    Resource,
)
from pytest_microremed.embedded.api.store import Object, Store

_COUNTED: dict[str, Resource] = {
    **{f"count/{resource.qualified}": resource for resource in BUILT_IN if resource.namespaced},
    **{
        resource.plural: resource
        for resource in (CONFIG_MAPS, SECRETS, SERVICES, PERSISTENT_VOLUME_CLAIMS, RESOURCE_QUOTAS)
    },
}
_FINISHED = ("Succeeded", "Failed")
_SHORT = {"cpu": "requests.cpu", "memory": "requests.memory"}


def exceeded(quota: Object, store: Store, new_pod: Object) -> str | None:
    """Why this quota forbids the pod, in the words that follow `pods "x" is forbidden: `, or None."""
    hard = quota["spec"].get("hard") or {}
    missing = _unspecified(hard, new_pod)
    if missing:
        return f"failed quota: {quota['metadata']['name']}: must specify {missing}"
    asked = pod_usage(hard, new_pod)
    used = usage(quota, store)
    over = sorted(name for name, more in asked.items() if more and used[name] + more > parse_quantity(hard[name]))
    if not over:
        return None

    def listed(amounts: Mapping[str, Decimal]) -> str:
        return ",".join(f"{name}={_text(name, amounts[name])}" for name in over)

    limits = {name: parse_quantity(hard[name]) for name in over}
    return (
        f"exceeded quota: {quota['metadata']['name']}, requested: {listed(asked)}, "
        f"used: {listed(used)}, limited: {listed(limits)}"
    )


def quota_refusal(store: Store, pod: Object) -> str | None:
    """Why any quota of the namespace forbids the pod."""
    reasons = (exceeded(quota, store, pod) for quota in store.list(RESOURCE_QUOTAS, pod["metadata"]["namespace"]))
    return next(filter(None, reasons), None)


def usage(quota: Object, store: Store) -> dict[str, Decimal]:
    """How much of each resource in the quota's `hard` the namespace uses."""
    namespace = quota["metadata"]["namespace"]
    hard = quota["spec"].get("hard") or {}
    used = dict.fromkeys(hard, Decimal(0))
    for pod in store.list(PODS, namespace):
        for name, amount in pod_usage(hard, pod).items():
            used[name] += amount
    for name in hard:
        if name in _COUNTED and _COUNTED[name] is not PODS:
            used[name] = Decimal(len(store.list(_COUNTED[name], namespace)))
    if "requests.storage" in hard:
        for claim in store.list(PERSISTENT_VOLUME_CLAIMS, namespace):
            requests = claim["spec"].get("resources", {}).get("requests") or {}
            used["requests.storage"] += parse_quantity(requests.get("storage", 0))
    return used


def pod_usage(hard: Mapping[str, Any], pod: Object) -> dict[str, Decimal]:
    """What one pod takes of the resources in `hard`; a finished one only its place among the objects."""
    used: dict[str, Decimal] = {}
    for name in hard:
        if name == "count/pods":
            used[name] = Decimal(1)
        elif pod.get("status", {}).get("phase") in _FINISHED:
            continue
        elif name == "pods":
            used[name] = Decimal(1)
        elif _is_compute(name):
            kind, _, resource = _SHORT.get(name, name).partition(".")
            amounts = _per_container(pod, kind, resource).values()
            used[name] = sum((amount or Decimal(0) for amount in amounts), Decimal(0))
    return used


def used_text(used: Mapping[str, Decimal]) -> dict[str, str]:
    """The amounts as the quota's status shows them."""
    return {name: _text(name, amount) for name, amount in used.items()}


def _text(name: str, amount: Decimal) -> str:
    in_bytes = "memory" in name or "storage" in name
    return canonical_quantity(f"{amount / 1024}Ki" if in_bytes else f"{amount:f}")


def _is_compute(name: str) -> bool:
    return name in _SHORT or (name.startswith(("requests.", "limits.")) and name != "requests.storage")


def _per_container(pod: Object, kind: str, resource: str) -> dict[str, Decimal | None]:
    """Requests or limits by container; a request that is not given is its limit."""
    amounts: dict[str, Decimal | None] = {}
    for container in pod["spec"]["containers"]:
        resources = container.get("resources") or {}
        given = (resources.get(kind) or {}).get(resource)
        if given is None and kind == "requests":
            given = (resources.get("limits") or {}).get(resource)
        amounts[container["name"]] = None if given is None else parse_quantity(given)
    return amounts


def _unspecified(hard: Mapping[str, Any], pod: Object) -> str:
    """A quota on compute resources demands that each container says what it takes."""
    lacking = []
    for name in sorted(filter(_is_compute, hard)):
        kind, _, resource = _SHORT.get(name, name).partition(".")
        containers = [c for c, amount in _per_container(pod, kind, resource).items() if amount is None]
        if containers:
            lacking.append(f"{name} for: {','.join(sorted(containers))}")
    return "; ".join(lacking)
