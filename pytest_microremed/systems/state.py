"""What is in a namespace, and how objects differ in what is wanted of them, whatever controllers do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pytest_microremed.cluster import kinds
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import Kind, Obj
from pytest_microremed.cluster.labels import is_ours

Key = tuple[Kind, str]
"""An object of a namespace: kind and name."""

WATCHED_KINDS = (
    kinds.SERVICE_ACCOUNTS,
    kinds.ROLES,
    kinds.ROLE_BINDINGS,
    kinds.RESOURCE_QUOTAS,
    kinds.LIMIT_RANGES,
    kinds.CONFIG_MAPS,
    kinds.SECRETS,
    kinds.PERSISTENT_VOLUME_CLAIMS,
    kinds.SERVICES,
    kinds.INGRESSES,
    kinds.NETWORK_POLICIES,
    kinds.POD_DISRUPTION_BUDGETS,
    kinds.HORIZONTAL_POD_AUTOSCALERS,
    kinds.DEPLOYMENTS,
    kinds.STATEFUL_SETS,
    kinds.DAEMON_SETS,
    kinds.REPLICA_SETS,
    kinds.CRON_JOBS,
    kinds.JOBS,
    kinds.PODS,
)
"""All that an agent may create or change in a namespace, in an order in which it can be created."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
SERVER_ANNOTATIONS = frozenset({"deployment.kubernetes.io/revision", "deprecated.daemonset.template.generation"})
_NOT_WANTED = SERVER_ANNOTATIONS | {LAST_APPLIED}
_WANTED_METADATA = frozenset({"name", "namespace", "labels", "annotations", "finalizers", "ownerReferences"})
_REVISION_LABELS = frozenset(
    {
        "pod-template-hash",
        "controller-revision-hash",
        "statefulset.kubernetes.io/pod-name",
        "apps.kubernetes.io/pod-index",
    }
)


@dataclass
class State:
    """The objects of a namespace as the API server gives them."""

    objects: dict[Key, Obj] = field(default_factory=dict)
    """Those that nobody else looks after."""
    pods: list[Obj] = field(default_factory=list)
    """The pods of controllers."""
    replica_sets: list[Obj] = field(default_factory=list)
    """The revisions of Deployments."""


def read_state(cluster: Cluster, namespace: str, only: tuple[Kind, ...] = WATCHED_KINDS) -> State:
    """The namespace now; one request a kind."""
    state = State()
    for kind in only:
        for obj in cluster.list(kind, namespace):
            if not _is_controlled(obj):
                if not _is_of_the_control_plane(kind, obj):
                    state.objects[kind, obj["metadata"]["name"]] = obj
            elif kind is kinds.PODS:
                state.pods.append(obj)
            elif kind is kinds.REPLICA_SETS:
                state.replica_sets.append(obj)
    return state


def wanted(obj: Obj) -> Obj:
    """The object without what the server and controllers write into it: what to create it from again."""
    meta = {key: value for key, value in obj["metadata"].items() if key in _WANTED_METADATA}
    annotations = {k: v for k, v in meta.pop("annotations", {}).items() if k not in _NOT_WANTED}
    if annotations:
        meta["annotations"] = annotations
    return {**{key: value for key, value in obj.items() if key != "status"}, "metadata": meta}


def pod_shape(pod: Obj) -> Obj:
    """What can be changed on a running pod without its controller noticing."""
    spec, labels = pod["spec"], pod["metadata"].get("labels", {})
    return {
        "labels": {key: value for key, value in labels.items() if key not in _REVISION_LABELS},
        "containers": [
            {key: container.get(key) for key in ("name", "image", "resources")} for container in spec["containers"]
        ],
        "ephemeralContainers": [container["name"] for container in spec.get("ephemeralContainers") or ()],
    }


def differing_paths(before: Any, after: Any, path: str = "") -> Iterator[str]:
    """The fields in which two JSON values differ: `spec.template.spec.containers[server].image`.

    Items of lists are known by their `name` where all have one, and otherwise by their place.
    """
    if before == after:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if key not in before or key not in after:
                yield _field(path, key)
            else:
                yield from differing_paths(before[key], after[key], _field(path, key))
    elif isinstance(before, list) and isinstance(after, list):
        yield from _differing_items(before, after, path)
    else:
        yield path


def _differing_items(before: list[Any], after: list[Any], path: str) -> Iterator[str]:
    named_before, named_after = _by_name(before), _by_name(after)
    if named_before is None or named_after is None:
        named_before, named_after = dict(enumerate(before)), dict(enumerate(after))
    elif list(named_before) != list(named_after) and named_before == named_after:
        yield path  # only the order differs
    for name in [*named_before, *(name for name in named_after if name not in named_before)]:
        item = f"{path}[{name}]"
        if name not in named_before or name not in named_after:
            yield item
        else:
            yield from differing_paths(named_before[name], named_after[name], item)


def _by_name(items: list[Any]) -> dict[Any, Any] | None:
    names = [item.get("name") if isinstance(item, Mapping) else None for item in items]
    if None in names or len(set(names)) < len(names):
        return None
    return dict(zip(names, items, strict=True))


def _field(path: str, key: str) -> str:
    if "." in key or "/" in key:
        return f"{path}[{key}]"
    return f"{path}.{key}" if path else key


def _is_controlled(obj: Obj) -> bool:
    return any(owner.get("controller") is True for owner in obj["metadata"].get("ownerReferences", ()))


def _is_of_the_control_plane(kind: Kind, obj: Obj) -> bool:
    """The cluster's own certificate, and the rights of an agent, which come and go with the cases."""
    if kind in (kinds.ROLES, kinds.ROLE_BINDINGS):
        return is_ours(obj)
    return kind is kinds.CONFIG_MAPS and bool(obj["metadata"]["name"] == "kube-root-ca.crt")
