"""What a Deployment's status says of its ReplicaSets, and how far a rollout has come."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from pytest_microremed.embedded.api.store import Object, timestamp
from pytest_microremed.embedded.sim.controllers.rolling import Limits, size
from pytest_microremed.embedded.sim.controllers.status import (
    Condition,
    condition,
    conditions_of,
    counts,
    find_condition,
    with_condition,
    without_condition,
)

COMPLETE = "NewReplicaSetAvailable"
TIMED_OUT = "ProgressDeadlineExceeded"
PAUSED = "DeploymentPaused"

_NO_DEADLINE = 2**31 - 1


def deadline_s(deployment: Object) -> int | None:
    """progressDeadlineSeconds, or None if the Deployment has no deadline."""
    seconds = int(deployment["spec"].get("progressDeadlineSeconds", 600))
    return None if seconds == _NO_DEADLINE else seconds


def deployment_status(
    deployment: Object, new: Object | None, old: Sequence[Object], limits: Limits, now: datetime
) -> Object:
    """Counts and the condition Available; Progressing stays as it was."""
    replica_sets = [*old, *([new] if new else [])]
    available = _total(replica_sets, "availableReplicas")
    if available >= limits.fewest_available:
        verdict = ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
    else:
        verdict = ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
    conditions = with_condition(conditions_of(deployment), deployment_condition(now, "Available", *verdict))
    return {
        **counts(
            observedGeneration=deployment["metadata"]["generation"],
            replicas=_total(replica_sets, "replicas"),
            updatedReplicas=_total([new] if new else [], "replicas"),
            readyReplicas=_total(replica_sets, "readyReplicas"),
            availableReplicas=available,
            unavailableReplicas=max(0, sum(map(size, replica_sets)) - available),
        ),
        "conditions": _with_failure(conditions, new, old, now),
    }


def deployment_condition(now: datetime, type_: str, status: str, reason: str, message: str) -> Condition:
    """Deployments also say when a condition was last updated."""
    return condition(now, type_, status, reason, message, lastUpdateTime=timestamp(now))


def is_complete(deployment: Object, status: Object) -> bool:
    """All pods are of the new template and available, and no other is left."""
    desired = deployment["spec"].get("replicas", 1)
    counted = ("updatedReplicas", "replicas", "availableReplicas")
    return all(status.get(count, 0) == desired for count in counted)


def has_progressed(before: Object, after: Object) -> bool:
    """More new pods, fewer old ones, or more ready or available ones than at the last look."""
    old_left = after.get("replicas", 0) - after.get("updatedReplicas", 0)
    old_before = before.get("replicas", 0) - before.get("updatedReplicas", 0)
    return old_left < old_before or any(
        after.get(count, 0) > before.get(count, 0)
        for count in ("updatedReplicas", "readyReplicas", "availableReplicas")
    )


def _total(replica_sets: Sequence[Object], count: str) -> int:
    return sum(each.get("status", {}).get(count, 0) for each in replica_sets)


def _with_failure(
    conditions: list[Condition], new: Object | None, old: Sequence[Object], now: datetime
) -> list[Condition]:
    """The condition ReplicaFailure of a ReplicaSet, the new one's first, becomes the Deployment's."""
    for replica_set in [*([new] if new else []), *old]:
        failure = find_condition(conditions_of(replica_set), "ReplicaFailure")
        if failure:
            words = (failure[field] for field in ("type", "status", "reason", "message"))
            return with_condition(conditions, deployment_condition(now, *words))
    return without_condition(conditions, "ReplicaFailure")
