"""Pods as controllers see them: their state, an index of them all, and how one is made from a template."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.controllers.ownership import owner_reference

_EVICTED_AFTER_S = 300
"""How long a pod stays on a node that is not ready (admission plugin DefaultTolerationSeconds)."""


def is_terminating(pod: Object) -> bool:
    return "deletionTimestamp" in pod["metadata"]


def phase(pod: Object) -> str:
    return str(pod.get("status", {}).get("phase", "Pending"))


def is_finished(pod: Object) -> bool:
    return phase(pod) in ("Succeeded", "Failed")


def is_active(pod: Object) -> bool:
    """Counts as a replica: neither finished nor on its way out."""
    return not is_terminating(pod) and not is_finished(pod)


def is_ready(pod: Object) -> bool:
    return any(
        condition["type"] == "Ready" and condition["status"] == "True"
        for condition in pod.get("status", {}).get("conditions") or ()
    )


class PodIndex:
    """All pods by namespace, and since when they exist and are ready, in simulated time."""

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        self._pods: dict[str, dict[str, Object]] = defaultdict(dict)
        self._seen: dict[str, float] = {}
        self._ready_since: dict[str, float] = {}

    def observe(self, change: Change) -> None:
        if change.resource is not PODS:
            return
        meta = change.obj["metadata"]
        namespace, name, uid = meta["namespace"], meta["name"], meta["uid"]
        if change.type == "DELETED":
            self._pods[namespace].pop(name, None)
            self._seen.pop(uid, None)
            self._ready_since.pop(uid, None)
            return
        self._pods[namespace][name] = change.obj
        self._seen.setdefault(uid, self._clock.seconds())
        if not is_ready(change.obj):
            self._ready_since.pop(uid, None)
        elif uid not in self._ready_since:
            self._ready_since[uid] = self._clock.seconds()

    def in_namespace(self, namespace: str) -> list[Object]:
        return list(self._pods[namespace].values())

    def first_seen(self, pod: Object) -> float:
        """When it was created, in simulated seconds."""
        return self._seen.get(pod["metadata"]["uid"], 0.0)

    def ready_since(self, pod: Object) -> float:
        """When it became ready, in simulated seconds; infinite if it is not."""
        return self._ready_since.get(pod["metadata"]["uid"], float("inf"))

    def seconds_to_available(self, pod: Object, min_ready_s: float) -> float:
        """How much longer it must stay ready to count as available: 0 = it is, infinite = it is not ready."""
        return max(0.0, self.ready_since(pod) + min_ready_s - self._clock.seconds())

    def next_available(self, pods: Iterable[Object], min_ready_s: float) -> float | None:
        """Simulated seconds until the next ready pod becomes available; None if there is none to wait for."""
        waits = [self.seconds_to_available(pod, min_ready_s) for pod in pods]
        return min((wait for wait in waits if 0 < wait < float("inf")), default=None)


def pod_from_template(
    owner: Object, template: Mapping[str, Any], name: str, labels: Mapping[str, str]
) -> Object:
    """A pod of the owner's template, with what an API server's defaulting and admission would add.

    `labels` come on top of the template's.
    """
    meta = template.get("metadata") or {}
    spec = template["spec"]
    account = spec.get("serviceAccountName") or "default"
    metadata = {
        "name": name,
        "namespace": owner["metadata"]["namespace"],
        "labels": {**(meta.get("labels") or {}), **labels},
        "ownerReferences": [owner_reference(owner)],
    }
    if meta.get("annotations"):
        metadata["annotations"] = dict(meta["annotations"])
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "restartPolicy": "Always",
            "dnsPolicy": "ClusterFirst",
            "schedulerName": "default-scheduler",
            "terminationGracePeriodSeconds": 30,
            "securityContext": {},
            "enableServiceLinks": True,
            "preemptionPolicy": "PreemptLowerPriority",
            "priority": 0,
            **spec,
            "serviceAccountName": account,
            "serviceAccount": account,
            "tolerations": _tolerations(spec.get("tolerations") or []),
        },
        "status": {"phase": "Pending", "qosClass": qos_class(spec)},
    }


def qos_class(spec: Mapping[str, Any]) -> str:
    """Guaranteed, Burstable or BestEffort (Kubernetes: Pod Quality of Service Classes)."""
    containers = [*(spec.get("initContainers") or ()), *spec["containers"]]
    resources = [container.get("resources") or {} for container in containers]
    if not any(each.get("requests") or each.get("limits") for each in resources):
        return "BestEffort"
    for each in resources:
        limits, requests = each.get("limits") or {}, each.get("requests") or {}
        for name in ("cpu", "memory"):
            if name not in limits or requests.get(name, limits[name]) != limits[name]:
                return "Burstable"
    return "Guaranteed"


def _tolerations(declared: list[dict[str, Any]]) -> list[dict[str, Any]]:
    defaults = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": _EVICTED_AFTER_S}
        for key in ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
    ]
    known = {each.get("key") for each in declared if each.get("effect") in (None, "", "NoExecute")}
    if None in known:
        return declared
    return [*declared, *(each for each in defaults if each["key"] not in known)]
