"""Whether a pod may run on a node, as far as the node's labels and taints say.

Source: Kubernetes documentation, "Assigning Pods to Nodes" and "Taints and Tolerations".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pytest_microremed.embedded.api.store import Object

UNSCHEDULABLE = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
"""The taint of a cordoned node."""

_NUMERIC: dict[str, Callable[[int, int], bool]] = {"Gt": lambda a, b: a > b, "Lt": lambda a, b: a < b}


def tolerates(tolerations: Iterable[Mapping[str, Any]], taint: Mapping[str, Any]) -> bool:
    return any(_tolerates(toleration, taint) for toleration in tolerations)


def tolerated_s(tolerations: Iterable[Mapping[str, Any]], taint: Mapping[str, Any]) -> float:
    """For how many seconds the pod may stay in spite of a NoExecute taint; infinite = for ever."""
    matching = [toleration for toleration in tolerations if _tolerates(toleration, taint)]
    if not matching:
        return 0.0
    return min(float(toleration.get("tolerationSeconds", "inf")) for toleration in matching)


def untolerated(pod_spec: Mapping[str, Any], node: Object, effects: Iterable[str]) -> Mapping[str, Any] | None:
    """The first taint of these effects that keeps the pod off the node."""
    tolerations = pod_spec.get("tolerations") or ()
    taints: list[Mapping[str, Any]] = node.get("spec", {}).get("taints") or []
    return next((taint for taint in taints if taint["effect"] in effects and not tolerates(tolerations, taint)), None)


def wants(pod_spec: Mapping[str, Any], node: Object) -> bool:
    """Whether the pod's nodeSelector and required node affinity allow the node."""
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in (pod_spec.get("nodeSelector") or {}).items()):
        return False
    affinity = (pod_spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    return required is None or _matches_any_term(required.get("nodeSelectorTerms") or (), node)


def _matches_any_term(terms: Iterable[Mapping[str, Any]], node: Object) -> bool:
    """A term without requirements matches nothing."""
    labels = node["metadata"].get("labels") or {}
    fields = {"metadata.name": node["metadata"]["name"]}
    for term in terms:
        on_labels, on_fields = term.get("matchExpressions") or (), term.get("matchFields") or ()
        if (
            (on_labels or on_fields)
            and all(_satisfies(requirement, labels) for requirement in on_labels)
            and all(_satisfies(requirement, fields) for requirement in on_fields)
        ):
            return True
    return False


def _satisfies(requirement: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    operator: str = requirement["operator"]
    values: Sequence[str] = requirement.get("values") or ()
    value = labels.get(requirement["key"])
    match operator:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
    try:
        return value is not None and _NUMERIC[operator](int(value), int(values[0]))
    except ValueError:
        return False


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, Any]) -> bool:
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if not toleration.get("key"):
        return toleration.get("operator") == "Exists"
    if toleration["key"] != taint["key"]:
        return False
    return toleration.get("operator") == "Exists" or toleration.get("value", "") == taint.get("value", "")
