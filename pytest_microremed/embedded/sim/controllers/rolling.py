"""The arithmetic of a Deployment's rollout: which ReplicaSet gets which size next. No store is touched.

Source: Kubernetes documentation, "Deployments": rolling update, max unavailable, max surge, proportional
scaling.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from pytest_microremed.embedded.api.store import Object

DESIRED = "deployment.kubernetes.io/desired-replicas"
MAXIMUM = "deployment.kubernetes.io/max-replicas"
REVISION = "deployment.kubernetes.io/revision"


@dataclass(frozen=True)
class Limits:
    """What a Deployment asks for, in pods."""

    desired: int
    surge: int
    unavailable: int

    @classmethod
    def of(cls, deployment: Object) -> Limits:
        spec = deployment["spec"]
        desired = spec.get("replicas", 1)
        strategy = spec.get("strategy") or {}
        if strategy.get("type", "RollingUpdate") != "RollingUpdate":
            return cls(desired, 0, 0)
        rolling = strategy.get("rollingUpdate") or {}
        surge = share(rolling.get("maxSurge", "25%"), desired, round_up=True)
        unavailable = share(rolling.get("maxUnavailable", "25%"), desired, round_up=False)
        if surge == 0 and unavailable == 0:
            unavailable = 1  # both may round to zero, and then nothing could ever move
        return cls(desired, surge, min(unavailable, desired))

    @property
    def most(self) -> int:
        """More pods than this must never be there."""
        return self.desired + self.surge

    @property
    def fewest_available(self) -> int:
        return self.desired - self.unavailable


def share(value: int | str, total: int, *, round_up: bool) -> int:
    """An IntOrString: a number of pods, or per cent of `total`."""
    if isinstance(value, str) and value.endswith("%"):
        percent = int(value[:-1]) * total
        return -(-percent // 100) if round_up else percent // 100
    return int(value)


def size(replica_set: Object) -> int:
    return int(replica_set["spec"].get("replicas", 1))


def available(replica_set: Object) -> int:
    """Available pods that will stay: those above the size are about to be deleted."""
    return min(int(replica_set.get("status", {}).get("availableReplicas", 0)), size(replica_set))


def revision(replica_set: Object) -> int:
    text = (replica_set["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isdigit() else 0


def plan_rollout(limits: Limits, new: Object, old: Sequence[Object]) -> dict[str, int]:
    """Sizes by name for the next step of a rolling update; empty while there is nothing to do but wait.

    Growth of the new ReplicaSet and shrinking of the old ones are separate steps.
    """
    total = size(new) + sum(map(size, old))
    if size(new) > limits.desired:
        return {new["metadata"]["name"]: limits.desired}
    growth = min(limits.most - total, limits.desired - size(new))
    if growth > 0:
        return {new["metadata"]["name"]: size(new) + growth}
    return _plan_shrinking(limits, new, old)


def _plan_shrinking(limits: Limits, new: Object, old: Sequence[Object]) -> dict[str, int]:
    """First the old pods that do not work anyway, then as many more as availability allows; oldest first."""
    sizes = {each["metadata"]["name"]: size(each) for each in old if size(each)}
    total = size(new) + sum(sizes.values())
    most_removed = total - limits.fewest_available - (size(new) - available(new))
    if most_removed <= 0:
        return {}
    ordered = [each for each in sorted(old, key=revision) if size(each)]
    for each in ordered:
        broken = min(size(each) - available(each), most_removed)
        sizes[each["metadata"]["name"]] -= broken
        most_removed -= broken
    spare = available(new) + sum(map(available, old)) - limits.fewest_available
    for each in ordered:
        name = each["metadata"]["name"]
        removed = max(0, min(sizes[name], spare))
        sizes[name] -= removed
        spare -= removed
    return {name: sizes[name] for each in ordered if sizes[name := each["metadata"]["name"]] != size(each)}


def plan_scaling(limits: Limits, new: Object | None, old: Sequence[Object], *, rolling: bool) -> dict[str, int]:
    """Sizes by name after the Deployment's own size changed, or while it is paused.

    In the middle of a rollout the ReplicaSets share the difference in proportion to their sizes.
    """
    everything = [*old, *([new] if new else [])]
    active = [each for each in everything if size(each)]
    if len(active) <= 1:
        only = active[0] if active else new or max(old, key=revision, default=None)
        return {only["metadata"]["name"]: limits.desired} if only else {}
    if new and _is_saturated(new, limits.desired):
        return {each["metadata"]["name"]: 0 for each in old if size(each)}
    return _share_out(limits, active) if rolling else {}


def _is_saturated(new: Object, desired: int) -> bool:
    recorded = (new["metadata"].get("annotations") or {}).get(DESIRED)
    return size(new) == desired and available(new) == desired and recorded == str(desired)


def _share_out(limits: Limits, active: Sequence[Object]) -> dict[str, int]:
    """Largest first, and of equal ones the newest first when growing, the oldest first when shrinking."""
    to_add = (limits.most if limits.desired else 0) - sum(map(size, active))
    newest_first = -1 if to_add > 0 else 1
    ordered = sorted(active, key=lambda each: (-size(each), newest_first * revision(each)))
    sizes = {}
    left = to_add
    for each in ordered:
        change = _proportion(each, limits) if left else 0
        change = min(change, left) if to_add > 0 else max(change, left)
        sizes[each["metadata"]["name"]] = size(each) + change
        left -= change
    largest = ordered[0]["metadata"]["name"]
    sizes[largest] = max(0, sizes[largest] + left)
    return sizes


def _proportion(replica_set: Object, limits: Limits) -> int:
    """By how much it would change if it kept its share of all pods."""
    if limits.desired == 0:
        return -size(replica_set)
    recorded = (replica_set["metadata"].get("annotations") or {}).get(MAXIMUM, "")
    before = int(recorded) if recorded.isdigit() and int(recorded) else limits.most
    return math.floor(Fraction(size(replica_set) * limits.most, before) + Fraction(1, 2)) - size(replica_set)
