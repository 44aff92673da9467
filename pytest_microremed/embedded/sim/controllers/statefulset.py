"""StatefulSets: pods with stable names and storage, created, updated and removed in order.

Source: Kubernetes documentation, "StatefulSets": pod identity, scaling guarantees, update strategies, and
"Forced rollback": a broken rollout stays stuck until its pod is deleted by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from pytest_microremed.embedded.api.errors import ApiError, already_exists
from pytest_microremed.embedded.api.resources import PERSISTENT_VOLUME_CLAIMS, PODS, STATEFUL_SETS
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, RetryLaterError, key_of
from pytest_microremed.embedded.sim.controllers.ownership import controller_name, controller_of, labels_of
from pytest_microremed.embedded.sim.controllers.pods import is_finished, is_ready, is_terminating, phase
from pytest_microremed.embedded.sim.controllers.podwriter import admitted
from pytest_microremed.embedded.sim.controllers.revisions import (
    clean_up,
    current_revision,
    revision_on,
    revisions_of,
    template_of,
)
from pytest_microremed.embedded.sim.controllers.statefulpods import claims_of, ordinal, stateful_pod
from pytest_microremed.embedded.sim.controllers.status import counts, write_status


class _Step(Enum):
    """What came of looking at one pod."""

    GO_ON = "the next pod may be looked at"
    STOP = "wait for this pod first"


@dataclass(frozen=True)
class _Set:
    """A StatefulSet with what a reconciliation needs to know of it."""

    obj: Object
    current: Object
    """Revision that pods below the partition have, and all had before the rollout."""
    update: Object
    """Revision of the present template."""

    @property
    def spec(self) -> Object:
        spec: Object = self.obj["spec"]
        return spec

    @property
    def ordinals(self) -> range:
        start = (self.spec.get("ordinals") or {}).get("start", 0)
        return range(start, start + self.spec.get("replicas", 1))

    @property
    def ordered(self) -> bool:
        return bool(self.spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady")

    @property
    def on_delete(self) -> bool:
        return bool((self.spec.get("updateStrategy") or {}).get("type") == "OnDelete")

    @property
    def partition(self) -> int:
        """Pods with an ordinal below keep the current revision."""
        rolling = {} if self.on_delete else (self.spec.get("updateStrategy") or {}).get("rollingUpdate") or {}
        return self.ordinals.start + int(rolling.get("partition", 0))

    def revision_for(self, number: int) -> Object:
        return self.current if number < self.partition else self.update


class StatefulSetController(Controller):
    component = "statefulset-controller"
    watches = (STATEFUL_SETS, PODS)

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is STATEFUL_SETS:
            yield key_of(change.obj)
            return
        namespace = change.obj["metadata"]["namespace"]
        for pod in (change.obj, change.old):
            if pod and (name := controller_name(pod, "StatefulSet")):
                yield namespace, name
        if change.type != "DELETED" and controller_of(change.obj) is None:
            for stateful_set in self.store.list(STATEFUL_SETS, namespace):
                if matches_labels(stateful_set["spec"]["selector"], labels_of(change.obj)):
                    yield key_of(stateful_set)

    def reconcile(self, namespace: str, name: str) -> None:
        obj = self.store.get(STATEFUL_SETS, namespace, name)
        if obj is None:
            return
        update = current_revision(self.store, obj)
        known = {each["metadata"]["name"]: each for each in revisions_of(self.store, obj)}
        current = known.get(obj.get("status", {}).get("currentRevision", ""), update)
        stateful_set = _Set(obj, current, update)
        failure = None
        if "deletionTimestamp" not in obj["metadata"]:
            try:
                self._next_step(stateful_set, self._pods_of(stateful_set))
            except RetryLaterError as error:
                failure = error
        pods = self._pods_of(stateful_set)
        self._report(stateful_set, pods)
        used = [current["metadata"]["name"], update["metadata"]["name"], *map(revision_on, pods.values())]
        clean_up(self.store, obj, used)
        if failure:
            raise failure

    def _pods_of(self, stateful_set: _Set) -> dict[int, Object]:
        pods = ((ordinal(stateful_set.obj, pod), pod) for pod in self.claim(PODS, stateful_set.obj))
        return {number: pod for number, pod in pods if number is not None}

    def _next_step(self, stateful_set: _Set, pods: dict[int, Object]) -> None:
        """Fill gaps from the lowest ordinal, then remove surplus and then update from the highest."""
        for number in stateful_set.ordinals:
            if self._keep(stateful_set, number, pods) is _Step.STOP and stateful_set.ordered:
                return
        surplus = sorted((number for number in pods if number not in stateful_set.ordinals), reverse=True)
        first_unhealthy = next((n for n in sorted(surplus) if not self._is_available(stateful_set, pods[n])), None)
        for number in surplus:
            self._remove_surplus(stateful_set, pods[number], number == first_unhealthy)
            if stateful_set.ordered:
                return
        if stateful_set.on_delete:
            return
        for number in reversed(stateful_set.ordinals):
            if number < stateful_set.partition or self._update(stateful_set, pods.get(number)) is _Step.STOP:
                return

    def _keep(self, stateful_set: _Set, number: int, pods: dict[int, Object]) -> _Step:
        """See to it that the pod of this ordinal is there and works."""
        pod = pods.get(number)
        if pod is None:
            self._create(stateful_set, number)
            return _Step.STOP
        if is_finished(pod):
            if not is_terminating(pod):
                self._delete(stateful_set, pod)
            return _Step.STOP
        if phase(pod) == "Pending" and not is_terminating(pod):
            self._create_claims(stateful_set, number)
        if is_terminating(pod) or not self._is_available(stateful_set, pod):
            return _Step.STOP
        return _Step.GO_ON

    def _remove_surplus(self, stateful_set: _Set, pod: Object, is_first_unhealthy: bool) -> None:
        blocked = stateful_set.ordered and not is_first_unhealthy and not self._is_available(stateful_set, pod)
        if not blocked and not is_terminating(pod):
            self._delete(stateful_set, pod)

    def _update(self, stateful_set: _Set, pod: Object | None) -> _Step:
        """Replace the pod if it is of another revision; wait for it while it is not available."""
        if pod is None:
            return _Step.STOP
        if revision_on(pod) != stateful_set.update["metadata"]["name"] and not is_terminating(pod):
            self._delete(stateful_set, pod)
            return _Step.STOP
        return _Step.GO_ON if self._is_available(stateful_set, pod) else _Step.STOP

    def _is_available(self, stateful_set: _Set, pod: Object) -> bool:
        min_ready_s = stateful_set.spec.get("minReadySeconds", 0)
        return not is_terminating(pod) and self.pods.seconds_to_available(pod, min_ready_s) == 0

    def _create(self, stateful_set: _Set, number: int) -> None:
        revision = stateful_set.revision_for(number)
        pod = stateful_pod(stateful_set.obj, number, template_of(revision), revision["metadata"]["name"])
        subject = f"Pod {pod['metadata']['name']} in StatefulSet {stateful_set.obj['metadata']['name']}"
        self._create_claims(stateful_set, number)
        try:
            if self.store.get(PODS, pod["metadata"]["namespace"], pod["metadata"]["name"]) is not None:
                raise already_exists(PODS, pod["metadata"]["name"])
            self.store.create(PODS, admitted(self.store, pod))
        except ApiError as refusal:
            message = f"create {subject} failed error: {refusal.message}"
            self.tell(stateful_set.obj, "Warning", "FailedCreate", message)
            raise RetryLaterError(message) from refusal
        self.tell(stateful_set.obj, "Normal", "SuccessfulCreate", f"create {subject} successful")

    def _create_claims(self, stateful_set: _Set, number: int) -> None:
        for claim in claims_of(stateful_set.obj, number):
            meta = claim["metadata"]
            if self.store.get(PERSISTENT_VOLUME_CLAIMS, meta["namespace"], meta["name"]) is None:
                self.store.create(PERSISTENT_VOLUME_CLAIMS, claim)
                name = stateful_set.obj["metadata"]["name"]
                message = f"create Claim {meta['name']} Pod {name}-{number} in StatefulSet {name} success"
                self.tell(stateful_set.obj, "Normal", "SuccessfulCreate", message)

    def _delete(self, stateful_set: _Set, pod: Object) -> None:
        self.store.delete(PODS, pod)
        subject = f"Pod {pod['metadata']['name']} in StatefulSet {stateful_set.obj['metadata']['name']}"
        self.tell(stateful_set.obj, "Normal", "SuccessfulDelete", f"delete {subject} successful")

    def _report(self, stateful_set: _Set, pods: dict[int, Object]) -> None:
        current, update = stateful_set.current["metadata"]["name"], stateful_set.update["metadata"]["name"]
        min_ready_s = stateful_set.spec.get("minReadySeconds", 0)
        staying = [pod for pod in pods.values() if not is_terminating(pod)]
        updated = sum(revision_on(pod) == update for pod in staying)
        ready = [pod for pod in pods.values() if is_ready(pod)]
        if not stateful_set.on_delete and updated == len(pods) == len(ready):
            current = update  # the rollout is complete
        status = {
            "observedGeneration": stateful_set.obj["metadata"]["generation"],
            "replicas": len(pods),
            **counts(
                readyReplicas=len(ready),
                currentReplicas=sum(revision_on(pod) == current for pod in staying),
                updatedReplicas=updated,
            ),
            "availableReplicas": sum(self.pods.seconds_to_available(pod, min_ready_s) == 0 for pod in ready),
            "currentRevision": current,
            "updateRevision": update,
            "collisionCount": 0,
        }
        write_status(self.store, STATEFUL_SETS, stateful_set.obj, status)
        wait_s = self.pods.next_available(pods.values(), min_ready_s)
        if wait_s is not None:
            self.later(wait_s, stateful_set.obj)
