"""The ReplicaSet that stands for one revision of a Deployment: how it is made, and how it gets its number.

Source: Kubernetes documentation, "Deployments". `kubectl rollout history` reads these annotations.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.controllers.ownership import owner_reference
from pytest_microremed.embedded.sim.controllers.rolling import DESIRED, MAXIMUM, REVISION, Limits, revision
from pytest_microremed.embedded.sim.controllers.templates import TEMPLATE_HASH, template_hash

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


def new_replica_set(deployment: Object, old: Sequence[Object], replicas: int) -> Object:
    """The ReplicaSet of the Deployment's present template."""
    meta, spec = deployment["metadata"], deployment["spec"]
    template, selector = spec["template"], spec["selector"]
    digest = template_hash(template)
    labels = {**(template["metadata"].get("labels") or {}), TEMPLATE_HASH: digest}
    annotations = {
        **_copied_annotations(deployment),
        **size_annotations(deployment),
        REVISION: str(_next_revision(old)),
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{meta['name']}-{digest}",
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
            "template": {**template, "metadata": {**template["metadata"], "labels": labels}},
        },
        "status": {"replicas": 0},
    }


def current_replica_set(deployment: Object, new: Object, old: Sequence[Object]) -> Object:
    """The current ReplicaSet as it should be: one that is rolled back to gets the highest number."""
    number = str(max(_next_revision(old), revision(new)))
    before = new["metadata"].get("annotations") or {}
    annotations = {**before, **_copied_annotations(deployment), REVISION: number}
    if before.get(REVISION, number) != number:
        history = [*filter(None, before.get(_HISTORY, "").split(",")), before[REVISION]]
        while len(",".join(history)) > _LONGEST_HISTORY:
            history.pop(0)
        annotations[_HISTORY] = ",".join(history)
    spec = new["spec"]
    min_ready_s = deployment["spec"].get("minReadySeconds", 0)
    if spec.get("minReadySeconds", 0) != min_ready_s:
        spec = {**spec, "minReadySeconds": min_ready_s}
    return {**new, "metadata": {**new["metadata"], "annotations": annotations}, "spec": spec}


def resized(deployment: Object, replica_set: Object, replicas: int) -> Object:
    """The ReplicaSet with another size, and the Deployment's sizes that led to it."""
    annotations = {**(replica_set["metadata"].get("annotations") or {}), **size_annotations(deployment)}
    return {
        **replica_set,
        "metadata": {**replica_set["metadata"], "annotations": annotations},
        "spec": {**replica_set["spec"], "replicas": replicas},
    }


def size_annotations(deployment: Object) -> dict[str, str]:
    """By which a later change of the Deployment's size is noticed, and shared out in proportion."""
    limits = Limits.of(deployment)
    return {DESIRED: str(limits.desired), MAXIMUM: str(limits.most)}


def _next_revision(old: Sequence[Object]) -> int:
    return max(map(revision, old), default=0) + 1


def _copied_annotations(deployment: Object) -> dict[str, str]:
    annotations = deployment["metadata"].get("annotations") or {}
    return {key: value for key, value in annotations.items() if key not in _NOT_COPIED}
