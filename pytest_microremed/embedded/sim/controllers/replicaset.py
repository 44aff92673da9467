"""ReplicaSets: keep so many pods of a template there, and choose well which ones go.

Source: Kubernetes documentation, "ReplicaSet", and the order in which pods are chosen for deletion.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.resources import PODS, REPLICA_SETS
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.controllers.base import (
    Controller,
    Key,
    RetryLaterError,
    is_status_only,
    key_of,
)
from pytest_microremed.embedded.sim.controllers.ownership import controller_name, controller_of, labels_of
from pytest_microremed.embedded.sim.controllers.pods import is_active, is_ready, phase
from pytest_microremed.embedded.sim.controllers.podwriter import PodWriter
from pytest_microremed.embedded.sim.controllers.rolling import size
from pytest_microremed.embedded.sim.controllers.status import (
    condition,
    conditions_of,
    counts,
    with_condition,
    without_condition,
    write_status,
)

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
_PHASES = {"Pending": 0, "Unknown": 1, "Running": 2}


class ReplicaSetController(Controller):
    component = "replicaset-controller"
    watches = (REPLICA_SETS, PODS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._writer = PodWriter(self)

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is REPLICA_SETS:
            if not is_status_only(change):
                yield key_of(change.obj)
            return
        namespace = change.obj["metadata"]["namespace"]
        for pod in (change.obj, change.old):
            if pod and (name := controller_name(pod, "ReplicaSet")):
                yield namespace, name
        if change.type != "DELETED" and controller_of(change.obj) is None:
            for replica_set in self.store.list(REPLICA_SETS, namespace):
                if matches_labels(replica_set["spec"]["selector"], labels_of(change.obj)):
                    yield key_of(replica_set)

    def reconcile(self, namespace: str, name: str) -> None:
        replica_set = self.store.get(REPLICA_SETS, namespace, name)
        if replica_set is None:
            return
        pods = [pod for pod in self.claim(PODS, replica_set) if is_active(pod)]
        failure = ""
        if "deletionTimestamp" not in replica_set["metadata"]:
            try:
                while len(pods) < size(replica_set):
                    pods.append(self._writer.create(replica_set, replica_set["spec"]["template"]))
            except ApiError as refusal:
                failure = refusal.message
            pods = self._without_surplus(replica_set, pods)
        self._report(replica_set, pods, failure)
        if failure:
            raise RetryLaterError(failure)

    def _without_surplus(self, replica_set: Object, pods: list[Object]) -> list[Object]:
        """Delete pods above the size; returns those that stay."""
        if len(pods) <= size(replica_set):
            return pods
        on_node = Counter(pod["spec"].get("nodeName") for pod in pods)
        ordered = sorted(pods, key=lambda pod: self._worth(pod, on_node[pod["spec"].get("nodeName")]))
        surplus = len(pods) - size(replica_set)
        for pod in ordered[:surplus]:
            self._writer.delete(replica_set, pod)
        return ordered[surplus:]

    def _worth(self, pod: Object, neighbours: int) -> tuple[Any, ...]:
        """The least worthy goes first: unscheduled, pending, not ready, cheap, crowded, restarted, young."""
        ready = is_ready(pod)
        statuses = pod.get("status", {}).get("containerStatuses") or ()
        return (
            "nodeName" in pod["spec"],
            _PHASES.get(phase(pod), 0),
            ready,
            _deletion_cost(pod),
            -neighbours,
            -self.pods.ready_since(pod) if ready else 0.0,
            -max((each.get("restartCount", 0) for each in statuses), default=0),
            -self.pods.first_seen(pod),
        )

    def _report(self, replica_set: Object, pods: list[Object], failure: str) -> None:
        spec = replica_set["spec"]
        template_labels = (spec["template"].get("metadata") or {}).get("labels") or {}
        min_ready_s = spec.get("minReadySeconds", 0)
        conditions = without_condition(conditions_of(replica_set), "ReplicaFailure")
        if failure:
            new = condition(self.clock.now(), "ReplicaFailure", "True", "FailedCreate", failure)
            conditions = with_condition(conditions_of(replica_set), new)
        status = {
            "replicas": len(pods),
            **counts(
                fullyLabeledReplicas=sum(template_labels.items() <= labels_of(pod).items() for pod in pods),
                readyReplicas=sum(map(is_ready, pods)),
                availableReplicas=sum(self.pods.seconds_to_available(pod, min_ready_s) == 0 for pod in pods),
                observedGeneration=replica_set["metadata"]["generation"],
            ),
            **({"conditions": conditions} if conditions else {}),
        }
        write_status(self.store, REPLICA_SETS, replica_set, status)
        wait_s = self.pods.next_available(pods, min_ready_s)
        if wait_s is not None:
            self.later(wait_s, replica_set)


def _deletion_cost(pod: Object) -> int:
    text = (pod["metadata"].get("annotations") or {}).get(DELETION_COST, "0")
    try:
        return int(text)
    except ValueError:
        return 0
