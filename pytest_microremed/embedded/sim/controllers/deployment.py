"""Deployments: a ReplicaSet for each pod template, rolled out, scaled, paused, rolled back, and cleaned up.

Source: Kubernetes documentation, "Deployments"; reasons and messages as kubectl knows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, is_status_only, key_of
from pytest_microremed.embedded.sim.controllers.deployment_revision import (
    current_replica_set,
    new_replica_set,
    resized,
)
from pytest_microremed.embedded.sim.controllers.deployment_status import (
    COMPLETE,
    PAUSED,
    TIMED_OUT,
    deadline_s,
    deployment_condition,
    deployment_status,
    has_progressed,
    is_complete,
)
from pytest_microremed.embedded.sim.controllers.ownership import (
    controller_name,
    controller_of,
    labels_of,
    owned,
)
from pytest_microremed.embedded.sim.controllers.pods import is_finished
from pytest_microremed.embedded.sim.controllers.rolling import (
    DESIRED,
    REVISION,
    Limits,
    plan_rollout,
    plan_scaling,
    revision,
    size,
)
from pytest_microremed.embedded.sim.controllers.status import (
    Condition,
    conditions_of,
    find_condition,
    with_condition,
    without_condition,
    write_status,
)
from pytest_microremed.embedded.sim.controllers.templates import same_template


class DeploymentController(Controller):
    component = "deployment-controller"
    watches = (DEPLOYMENTS, REPLICA_SETS, PODS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._progress: dict[str, float] = {}
        """By uid: when the rollout last got on, in simulated seconds."""

    def keys(self, change: Change) -> Iterable[Key]:
        namespace = change.obj["metadata"]["namespace"]
        if change.resource is DEPLOYMENTS:
            if change.type == "DELETED":
                self._progress.pop(change.obj["metadata"]["uid"], None)
            elif not is_status_only(change):
                yield key_of(change.obj)
        elif change.resource is PODS:
            # Recreate waits for the end of old pods; all else shows in the ReplicaSets' status.
            if change.type == "DELETED" and (replica_set := controller_name(change.obj, "ReplicaSet")):
                parent = self.store.get(REPLICA_SETS, namespace, replica_set)
                if parent and (name := controller_name(parent, "Deployment")):
                    yield namespace, name
        elif name := controller_name(change.obj, "Deployment"):
            yield namespace, name
        elif controller_of(change.obj) is None:
            for deployment in self.store.list(DEPLOYMENTS, namespace):
                if matches_labels(deployment["spec"]["selector"], labels_of(change.obj)):
                    yield key_of(deployment)

    def reconcile(self, namespace: str, name: str) -> None:
        deployment = self.store.get(DEPLOYMENTS, namespace, name)
        if deployment is None:
            return
        replica_sets = sorted(self.claim(REPLICA_SETS, deployment), key=revision)
        template = deployment["spec"]["template"]
        new = next((each for each in replica_sets if same_template(each["spec"]["template"], template)), None)
        old = [each for each in replica_sets if each is not new]
        if "deletionTimestamp" in deployment["metadata"]:
            self._report(deployment, new, old)
            return
        deployment = self._note_pause(deployment)
        if new:
            new = self.store.update(REPLICA_SETS, current_replica_set(deployment, new, old))
            deployment = self._adopt_revision(deployment, new, "FoundNewReplicaSet", "Found")
        if deployment["spec"].get("paused") or _was_scaled(deployment, replica_sets):
            self._scale(deployment, new, old)
        elif _is_recreate(deployment):
            self._recreate(deployment, new, old)
        else:
            self._roll(deployment, new, old)

    def _scale(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        limits = Limits.of(deployment)
        sizes = plan_scaling(limits, new, old, rolling=not _is_recreate(deployment))
        new, old, _ = self._resize(deployment, new, old, sizes)
        if deployment["spec"].get("paused"):
            self._clean_up(deployment, old)
        status = deployment_status(deployment, new, old, limits, self.clock.now())
        write_status(self.store, DEPLOYMENTS, deployment, status)

    def _roll(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        limits = Limits.of(deployment)
        if new is None:
            first_size = min(limits.desired, max(0, limits.most - sum(map(size, old))))
            deployment, new = self._create(deployment, old, first_size)
        else:
            new, old, changed = self._resize(deployment, new, old, plan_rollout(limits, new, old))
            if not changed:
                self._clean_up_if_complete(deployment, new, old)
        self._report(deployment, new, old)

    def _recreate(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        sizes = {each["metadata"]["name"]: 0 for each in old if size(each)}
        new, old, changed = self._resize(deployment, new, old, sizes)
        if not changed and not any(self._has_running_pods(each) for each in old):
            desired = deployment["spec"].get("replicas", 1)
            if new is None:
                deployment, new = self._create(deployment, old, desired)
            else:
                new, old, _ = self._resize(deployment, new, old, {new["metadata"]["name"]: desired})
            self._clean_up_if_complete(deployment, new, old)
        self._report(deployment, new, old)

    def _has_running_pods(self, replica_set: Object) -> bool:
        return any(not is_finished(pod) for pod in owned(self.store, PODS, replica_set))

    def _create(self, deployment: Object, old: list[Object], replicas: int) -> tuple[Object, Object]:
        new = new_replica_set(deployment, old, replicas)
        namespace, name = key_of(new)
        if self.store.get(REPLICA_SETS, namespace, name) is not None:
            raise RuntimeError(f"ReplicaSet {name} of somebody else is in the way of its Deployment")
        new = self.store.create(REPLICA_SETS, new)
        if replicas:
            self._tell_size(deployment, new, 0)
        return self._adopt_revision(deployment, new, "NewReplicaSetCreated", "Created"), new

    def _adopt_revision(self, deployment: Object, new: Object, reason: str, verb: str) -> Object:
        """The Deployment bears its ReplicaSet's number; a rollout begins, unless that ReplicaSet is known."""
        number = new["metadata"]["annotations"][REVISION]
        annotations = {**(deployment["metadata"].get("annotations") or {}), REVISION: number}
        deployment = {**deployment, "metadata": {**deployment["metadata"], "annotations": annotations}}
        known = find_condition(conditions_of(deployment), "Progressing")
        if verb == "Created" or known is None:
            message = f'{verb} new replica set "{new["metadata"]["name"]}"'
            deployment = self._progressing(deployment, "True", reason, message)
        return self.store.update(DEPLOYMENTS, deployment)

    def _resize(
        self, deployment: Object, new: Object | None, old: list[Object], sizes: dict[str, int]
    ) -> tuple[Object | None, list[Object], bool]:
        """Give the ReplicaSets their sizes; returns them as they are now, and whether a size changed."""
        changed = False

        def resize(replica_set: Object) -> Object:
            nonlocal changed
            wanted = sizes.get(replica_set["metadata"]["name"])
            if wanted is None:
                return replica_set
            updated = self.store.update(REPLICA_SETS, resized(deployment, replica_set, wanted))
            if wanted != size(replica_set):
                changed = True
                self._tell_size(deployment, updated, size(replica_set))
            return updated

        return (resize(new) if new else None), [resize(each) for each in old], changed

    def _tell_size(self, deployment: Object, replica_set: Object, before: int) -> None:
        after = size(replica_set)
        direction = "up" if after > before else "down"
        message = f"Scaled {direction} replica set {replica_set['metadata']['name']} from {before} to {after}"
        self.tell(deployment, "Normal", "ScalingReplicaSet", message)

    def _clean_up_if_complete(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        status = deployment_status(deployment, new, old, Limits.of(deployment), self.clock.now())
        if is_complete(deployment, status):
            self._clean_up(deployment, old)

    def _clean_up(self, deployment: Object, old: list[Object]) -> None:
        """Remove the oldest ReplicaSets above revisionHistoryLimit, as far as they are empty."""
        limit = deployment["spec"].get("revisionHistoryLimit", 10)
        for each in sorted(old, key=revision)[: max(0, len(old) - limit)]:
            if not size(each) and not each.get("status", {}).get("replicas", 0):
                self.store.delete(REPLICA_SETS, each)

    def _note_pause(self, deployment: Object) -> Object:
        """So that a rollout is not called late for the time it was paused."""
        current = find_condition(conditions_of(deployment), "Progressing") or {}
        if current.get("reason") == TIMED_OUT:
            return deployment
        paused, noted = bool(deployment["spec"].get("paused")), current.get("reason") == PAUSED
        if paused == noted:
            return deployment
        words = (PAUSED, "Deployment is paused") if paused else ("DeploymentResumed", "Deployment is resumed")
        return self.store.update(DEPLOYMENTS, self._progressing(deployment, "Unknown", *words))

    def _progressing(self, deployment: Object, verdict: str, reason: str, message: str) -> Object:
        """The Deployment with a new condition Progressing, from which its deadline counts anew."""
        if deadline_s(deployment) is None:
            return deployment
        self._progress[deployment["metadata"]["uid"]] = self.clock.seconds()
        new = deployment_condition(self.clock.now(), "Progressing", verdict, reason, message)
        conditions = with_condition(conditions_of(deployment), new)
        return {**deployment, "status": {**deployment.get("status", {}), "conditions": conditions}}

    def _report(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        """Write the status, with what can be said of the rollout's progress."""
        status = deployment_status(deployment, new, old, Limits.of(deployment), self.clock.now())
        current = find_condition(status["conditions"], "Progressing") or {}
        if deadline_s(deployment) is None:
            status["conditions"] = without_condition(status["conditions"], "Progressing")
        elif current.get("reason") != COMPLETE or status.get("replicas") != status.get("updatedReplicas"):
            self._judge(deployment, new, status, current)
        write_status(self.store, DEPLOYMENTS, deployment, status)

    def _judge(self, deployment: Object, new: Object | None, status: Object, current: Condition) -> None:
        """Has the rollout come to its end, got on, or been stuck for too long?"""
        moved = new or deployment
        subject = f'{moved["kind"]} "{moved["metadata"]["name"]}"'
        uid, now_s, limit_s = deployment["metadata"]["uid"], self.clock.seconds(), deadline_s(deployment) or 0
        if is_complete(deployment, status):
            self._verdict(status, "True", COMPLETE, f"{subject} has successfully progressed.")
        elif has_progressed(deployment.get("status", {}), status):
            self._progress[uid] = now_s
            # Progress for the same reason as before still counts as an update of the condition.
            status["conditions"] = without_condition(status["conditions"], "Progressing")
            self._verdict(status, "True", "ReplicaSetUpdated", f"{subject} is progressing.", since=current)
            self.later(limit_s, deployment)
        elif current.get("reason") not in (None, COMPLETE, TIMED_OUT, PAUSED):
            left_s = self._progress.setdefault(uid, now_s) + limit_s - now_s
            if left_s > 0:
                self.later(left_s, deployment)
            else:
                self._verdict(status, "False", TIMED_OUT, f"{subject} has timed out progressing.")

    def _verdict(
        self, status: Object, verdict: str, reason: str, message: str, *, since: Condition | None = None
    ) -> None:
        new = deployment_condition(self.clock.now(), "Progressing", verdict, reason, message)
        if since and since["status"] == verdict:
            new["lastTransitionTime"] = since["lastTransitionTime"]
        status["conditions"] = with_condition(status["conditions"], new)


def _is_recreate(deployment: Object) -> bool:
    return (deployment["spec"].get("strategy") or {}).get("type") == "Recreate"


def _was_scaled(deployment: Object, replica_sets: Iterable[Object]) -> bool:
    """The Deployment's size is not the one that its ReplicaSets were last given."""
    desired = str(deployment["spec"].get("replicas", 1))
    annotations = [each["metadata"].get("annotations") or {} for each in replica_sets if size(each)]
    return any(each.get(DESIRED, desired) != desired for each in annotations)
