"""Deployments: a ReplicaSet for each pod template, rolled out, scaled, paused, rolled back, and cleaned up.

Source: Kubernetes documentation, "Deployments"; annotations, reasons and messages as kubectl knows them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.resources import DEPLOYMENTS, PODS, REPLICA_SETS
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
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
    owner_reference,
)
from pytest_microremed.embedded.sim.controllers.pods import is_finished
from pytest_microremed.embedded.sim.controllers.rolling import (
    DESIRED,
    MAXIMUM,
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
from pytest_microremed.embedded.sim.controllers.templates import TEMPLATE_HASH, same_template, template_hash

_HISTORY = "deployment.kubernetes.io/revision-history"
_NOT_COPIED = (
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.rollbackTo",
    REVISION,
    _HISTORY,
    DESIRED,
    MAXIMUM,
)
_LONGEST_HISTORY = 2000
"""Characters."""


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
            deployment, new = self._sync_revision(deployment, new, old)
        if deployment["spec"].get("paused") or _was_scaled(deployment, replica_sets):
            self._scale(deployment, new, old)
        elif (deployment["spec"].get("strategy") or {}).get("type") == "Recreate":
            self._recreate(deployment, new, old)
        else:
            self._roll(deployment, new, old)

    def _scale(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        limits = Limits.of(deployment)
        rolling = (deployment["spec"].get("strategy") or {}).get("type") != "Recreate"
        sizes = plan_scaling(limits, new, old, rolling=rolling)
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
        """The ReplicaSet of the Deployment's present template."""
        meta, spec = deployment["metadata"], deployment["spec"]
        digest = template_hash(spec["template"])
        labels = {**(spec["template"]["metadata"].get("labels") or {}), TEMPLATE_HASH: digest}
        selector = spec["selector"]
        number = str(max(map(revision, old), default=0) + 1)
        annotations = {**_copied_annotations(deployment), REVISION: number, **_size_annotations(deployment)}
        name = f"{meta['name']}-{digest}"
        if self.store.get(REPLICA_SETS, meta["namespace"], name) is not None:
            raise RuntimeError(
                f"ReplicaSet {name} of somebody else is in the way of Deployment {meta['name']}"
            )
        new = self.store.create(
            REPLICA_SETS,
            {
                "apiVersion": "apps/v1",
                "kind": "ReplicaSet",
                "metadata": {
                    "name": name,
                    "namespace": meta["namespace"],
                    "labels": labels,
                    "annotations": annotations,
                    "ownerReferences": [owner_reference(deployment)],
                },
                "spec": {
                    "replicas": replicas,
                    **({"minReadySeconds": spec["minReadySeconds"]} if spec.get("minReadySeconds") else {}),
                    "selector": {
                        **selector,
                        "matchLabels": {**(selector.get("matchLabels") or {}), TEMPLATE_HASH: digest},
                    },
                    "template": {
                        **spec["template"],
                        "metadata": {**spec["template"]["metadata"], "labels": labels},
                    },
                },
                "status": {"replicas": 0},
            },
        )
        if replicas:
            self._tell_size(deployment, new, 0)
        deployment = self._set_revision(deployment, number)
        return self._progressing(deployment, "NewReplicaSetCreated", f'Created new replica set "{name}"'), new

    def _sync_revision(self, deployment: Object, new: Object, old: list[Object]) -> tuple[Object, Object]:
        """The current ReplicaSet has the highest revision: one that is rolled back to gets a new number."""
        number = max(max(map(revision, old), default=0) + 1, revision(new))
        before = new["metadata"].get("annotations") or {}
        annotations = {**before, **_copied_annotations(deployment), REVISION: str(number)}
        if before.get(REVISION) and before[REVISION] != str(number):
            history = [*filter(None, before.get(_HISTORY, "").split(",")), before[REVISION]]
            while len(",".join(history)) > _LONGEST_HISTORY:
                history.pop(0)
            annotations[_HISTORY] = ",".join(history)
        spec = new["spec"]
        min_ready_s = deployment["spec"].get("minReadySeconds", 0)
        if spec.get("minReadySeconds", 0) != min_ready_s:
            spec = {**spec, "minReadySeconds": min_ready_s}
        new = self.store.update(
            REPLICA_SETS, {**new, "metadata": {**new["metadata"], "annotations": annotations}, "spec": spec}
        )
        deployment = self._set_revision(deployment, str(number))
        if find_condition(conditions_of(deployment), "Progressing") is None:
            message = f'Found new replica set "{new["metadata"]["name"]}"'
            deployment = self._progressing(deployment, "FoundNewReplicaSet", message)
        return deployment, new

    def _set_revision(self, deployment: Object, number: str) -> Object:
        annotations = {**(deployment["metadata"].get("annotations") or {}), REVISION: number}
        return self.store.update(
            DEPLOYMENTS, {**deployment, "metadata": {**deployment["metadata"], "annotations": annotations}}
        )

    def _resize(
        self, deployment: Object, new: Object | None, old: list[Object], sizes: dict[str, int]
    ) -> tuple[Object | None, list[Object], bool]:
        """Give the ReplicaSets their sizes; returns them as they are now, and whether a size changed."""
        changed = False

        def resized(replica_set: Object) -> Object:
            nonlocal changed
            name = replica_set["metadata"]["name"]
            if name not in sizes:
                return replica_set
            before, wanted = size(replica_set), sizes[name]
            annotations = {
                **(replica_set["metadata"].get("annotations") or {}),
                **_size_annotations(deployment),
            }
            updated = self.store.update(
                REPLICA_SETS,
                {
                    **replica_set,
                    "metadata": {**replica_set["metadata"], "annotations": annotations},
                    "spec": {**replica_set["spec"], "replicas": wanted},
                },
            )
            if before != wanted:
                changed = True
                self._tell_size(deployment, updated, before)
            return updated

        return (resized(new) if new else None), [resized(each) for each in old], changed

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
        if deadline_s(deployment) is None or current.get("reason") == TIMED_OUT:
            return deployment
        paused, noted = bool(deployment["spec"].get("paused")), current.get("reason") == PAUSED
        if paused and not noted:
            return self._progressing(deployment, PAUSED, "Deployment is paused", "Unknown")
        if noted and not paused:
            return self._progressing(deployment, "DeploymentResumed", "Deployment is resumed", "Unknown")
        return deployment

    def _progressing(self, deployment: Object, reason: str, message: str, verdict: str = "True") -> Object:
        if deadline_s(deployment) is None:
            return deployment
        self._progress[deployment["metadata"]["uid"]] = self.clock.seconds()
        new = deployment_condition(self.clock.now(), "Progressing", verdict, reason, message)
        status = {
            **deployment.get("status", {}),
            "conditions": with_condition(conditions_of(deployment), new),
        }
        return write_status(self.store, DEPLOYMENTS, deployment, status)

    def _report(self, deployment: Object, new: Object | None, old: list[Object]) -> None:
        """Write the status, with what can be said of the rollout's progress."""
        before = deployment.get("status", {})
        status = deployment_status(deployment, new, old, Limits.of(deployment), self.clock.now())
        current = find_condition(status["conditions"], "Progressing") or {}
        uid, limit_s = deployment["metadata"]["uid"], deadline_s(deployment)
        if limit_s is None:
            status["conditions"] = without_condition(status["conditions"], "Progressing")
        elif current.get("reason") != COMPLETE or status.get("replicas") != status.get("updatedReplicas"):
            moved = new or deployment
            subject = f'{moved["kind"]} "{moved["metadata"]["name"]}"'
            left_s = self._progress.setdefault(uid, self.clock.seconds()) + limit_s - self.clock.seconds()
            if is_complete(deployment, status):
                self._judge(status, "True", COMPLETE, f"{subject} has successfully progressed.")
            elif has_progressed(before, status):
                self._progress[uid] = self.clock.seconds()
                # Progress with the same reason as before still counts as an update of the condition.
                status["conditions"] = without_condition(status["conditions"], "Progressing")
                self._judge(status, "True", "ReplicaSetUpdated", f"{subject} is progressing.", since=current)
                self.later(limit_s, deployment)
            elif current.get("reason") not in (None, COMPLETE, TIMED_OUT, PAUSED):
                if left_s <= 0:
                    self._judge(status, "False", TIMED_OUT, f"{subject} has timed out progressing.")
                else:
                    self.later(left_s, deployment)
        write_status(self.store, DEPLOYMENTS, deployment, status)

    def _judge(
        self, status: Object, verdict: str, reason: str, message: str, *, since: Condition | None = None
    ) -> None:
        new = deployment_condition(self.clock.now(), "Progressing", verdict, reason, message)
        if since and since["status"] == verdict:
            new["lastTransitionTime"] = since["lastTransitionTime"]
        status["conditions"] = with_condition(status["conditions"], new)


def _was_scaled(deployment: Object, replica_sets: Iterable[Object]) -> bool:
    """The Deployment's size is not the one that its ReplicaSets were last given."""
    desired = str(deployment["spec"].get("replicas", 1))
    annotations = [each["metadata"].get("annotations") or {} for each in replica_sets if size(each)]
    return any(each.get(DESIRED, desired) != desired for each in annotations)


def _copied_annotations(deployment: Object) -> dict[str, str]:
    annotations = deployment["metadata"].get("annotations") or {}
    return {key: value for key, value in annotations.items() if key not in _NOT_COPIED}


def _size_annotations(deployment: Object) -> dict[str, str]:
    limits = Limits.of(deployment)
    return {DESIRED: str(limits.desired), MAXIMUM: str(limits.most)}
