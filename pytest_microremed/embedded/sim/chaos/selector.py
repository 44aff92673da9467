"""Which pods and containers an experiment is about: Chaos Mesh's selectors and modes."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from typing import Any

from pytest_microremed.embedded.api.resources import NODES, PODS
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Object, Store


class SelectionError(Exception):
    """Nothing can be selected; the message is Chaos Mesh's."""


def select_pods(
    store: Store, selector: Mapping[str, Any], mode: str, value: str, namespace: str, rng: random.Random
) -> list[Object]:
    """The pods that a selector finds, as many of them as the mode says. Raises `SelectionError`."""
    try:
        found = _matching(store, selector, namespace)
    except KeyError as operator:
        raise SelectionError(f"{operator} is not a valid label selector operator") from None
    if not found:
        raise SelectionError("no pod is selected")
    return _by_mode(found, mode, value, rng)


def containers_of(pod: Object, names: Sequence[str]) -> list[str]:
    """The containers that are meant in a pod: the named ones, or the first."""
    containers = [container["name"] for container in pod["spec"]["containers"]]
    return [name for name in containers if name in names] if names else containers[:1]


def _matching(store: Store, selector: Mapping[str, Any], namespace: str) -> list[Object]:
    if selector.get("pods"):
        named = [(place, name) for place, names in selector["pods"].items() for name in names]
        return [pod for place, name in named if (pod := store.get(PODS, place, name)) is not None]
    namespaces = selector.get("namespaces") or [namespace]
    pods = [pod for place in namespaces for pod in store.list(PODS, place)]
    return [pod for pod in pods if _is_meant(store, pod, selector)]


def _is_meant(store: Store, pod: Object, selector: Mapping[str, Any]) -> bool:
    meta = pod["metadata"]
    labels = {
        "matchLabels": selector.get("labelSelectors"),
        "matchExpressions": selector.get("expressionSelectors"),
    }
    phases = selector.get("podPhaseSelectors")
    nodes = selector.get("nodes")
    node_name = pod["spec"].get("nodeName", "")
    return (
        matches_labels(labels, meta.get("labels") or {})
        and matches_labels({"matchLabels": selector.get("annotationSelectors")}, meta.get("annotations") or {})
        and all(_field(pod, path) == value for path, value in (selector.get("fieldSelectors") or {}).items())
        and (not phases or pod.get("status", {}).get("phase") in phases)
        and (not nodes or node_name in nodes)
        and _node_is_meant(store, node_name, selector.get("nodeSelectors") or {})
    )


def _node_is_meant(store: Store, node_name: str, wanted: Mapping[str, str]) -> bool:
    node = store.get(NODES, None, node_name) if wanted else None
    return not wanted or (
        node is not None and matches_labels({"matchLabels": wanted}, node["metadata"].get("labels") or {})
    )


def _field(pod: Object, path: str) -> str:
    value: Any = pod
    for key in path.split("."):
        value = value.get(key, "") if isinstance(value, dict) else ""
    return str(value)


def _by_mode(pods: list[Object], mode: str, value: str, rng: random.Random) -> list[Object]:
    if mode == "one":
        return [rng.choice(pods)]
    if mode == "all":
        return pods
    try:
        number = int(value)
    except ValueError:
        raise SelectionError(f'strconv.Atoi: parsing "{value}": invalid syntax') from None
    if number == 0 or (mode == "fixed" and number < 0):
        raise SelectionError("cannot select any object as value below or equal 0")
    if mode == "fixed":
        return rng.sample(pods, min(number, len(pods)))
    if not 0 < number <= 100:
        limits = "(0,100]" if mode == "fixed-percent" else "[0-100]"
        raise SelectionError(f"fixed percentage value of {number} is invalid, Must be {limits}")
    share = number if mode == "fixed-percent" else rng.randint(0, number)
    return rng.sample(pods, math.ceil(len(pods) * share / 100))
