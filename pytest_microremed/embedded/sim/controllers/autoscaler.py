"""HorizontalPodAutoscalers: the size of their target follows the use of CPU and memory.

Source: Kubernetes documentation, "Horizontal Pod Autoscaling". Of `behavior`, the stabilization
windows are followed and the scaling policies are not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pytest_microremed.embedded.api.resources import (
    DEPLOYMENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    REPLICA_SETS,
    STATEFUL_SETS,
    Resource,
)
from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Change, Object, timestamp
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, Manager, key_of
from pytest_microremed.embedded.sim.controllers.ownership import labels_of
from pytest_microremed.embedded.sim.controllers.pods import is_active
from pytest_microremed.embedded.sim.controllers.scaling_metrics import MetricError, Proposal, propose
from pytest_microremed.embedded.sim.controllers.status import (
    Condition,
    condition,
    conditions_of,
    find_condition,
    write_status,
)

PERIOD_S = 15.0
_DOWN_WINDOW_S = 300.0
_SCALED = {each.kind: each for each in (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS)}


class AutoscalerController(Controller):
    component = "horizontal-pod-autoscaler"
    watches = (HORIZONTAL_POD_AUTOSCALERS,)

    def __init__(self, manager: Manager, usage: Callable[[Object], Mapping[str, Usage] | None] | None) -> None:
        super().__init__(manager)
        self._usage = usage
        self._recommended: dict[str, list[tuple[float, int]]] = {}
        """By uid: sizes recommended lately, with their simulated times."""

    def keys(self, change: Change) -> Iterable[Key]:
        if change.type == "DELETED":
            self._recommended.pop(change.obj["metadata"]["uid"], None)
        elif change.old is None or change.old["spec"] != change.obj["spec"]:
            yield key_of(change.obj)

    def reconcile(self, namespace: str, name: str) -> None:
        autoscaler = self.store.get(HORIZONTAL_POD_AUTOSCALERS, namespace, name)
        if autoscaler is None:
            return
        self.later(PERIOD_S, autoscaler)
        reference = autoscaler["spec"]["scaleTargetRef"]
        resource = _SCALED.get(reference["kind"])
        target = self.store.get(resource, namespace, reference["name"]) if resource else None
        if resource is None or target is None:
            kind = resource.qualified if resource else reference["kind"]
            reason = f'{kind} "{reference["name"]}" not found'
            self.tell(autoscaler, "Warning", "FailedGetScale", reason)
            message = f"the HPA controller was unable to get the target's current scale: {reason}"
            self._report(autoscaler, {}, [("AbleToScale", "False", "FailedGetScale", message)])
            return
        self._scale(autoscaler, resource, target)

    def _scale(self, autoscaler: Object, resource: Resource, target: Object) -> None:
        spec = autoscaler["spec"]
        low, high = spec.get("minReplicas", 1), spec["maxReplicas"]
        current = int(target["spec"].get("replicas", 1))
        verdicts: list[tuple[str, str, str, str]] = []
        metrics: list[Object] = []
        if current == 0 and low != 0:
            message = "scaling is disabled since the replica count of the target is zero"
            self._report(
                autoscaler,
                {"currentReplicas": 0, "desiredReplicas": 0},
                [
                    (
                        "AbleToScale",
                        "True",
                        "SucceededGetScale",
                        "the HPA controller was able to get the target's current scale",
                    ),
                    ("ScalingActive", "False", "ScalingDisabled", message),
                ],
            )
            return
        if current > high:
            desired, why = high, "Current number of Replicas above Spec.MaxReplicas"
        elif current < low:
            desired, why = low, "Current number of Replicas below Spec.MinReplicas"
        elif self._usage is None:
            desired, why = current, ""
        else:
            try:
                proposals = self._proposals(autoscaler, target, current)
            except MetricError as error:
                self._tell_metric_error(autoscaler, current, error)
                return
            best = max(proposals, key=lambda proposal: proposal.replicas)
            metrics = [proposal.status for proposal in proposals]
            verdicts.append(
                (
                    "ScalingActive",
                    "True",
                    "ValidMetricFound",
                    f"the HPA was able to successfully calculate a replica count from {best.metric}",
                )
            )
            stable = self._stabilized(autoscaler, current, best.replicas)
            desired = max(low, min(high, stable, max(2 * current, current + 4)))
            verdicts.append(_limit_verdict(stable, low, high))
            why = f"{best.metric} above target" if desired > current else "All metrics below target"
        verdicts.insert(0, self._resize(autoscaler, resource, target, current, desired, why))
        status: Object = {"currentReplicas": current, "desiredReplicas": desired}
        if metrics:
            status["currentMetrics"] = metrics
        if desired != current:
            status["lastScaleTime"] = timestamp(self.clock.now())
        self._report(autoscaler, status, verdicts)

    def _resize(
        self, autoscaler: Object, resource: Resource, target: Object, current: int, desired: int, why: str
    ) -> tuple[str, str, str, str]:
        if desired == current:
            return "AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size"
        self.store.update(resource, {**target, "spec": {**target["spec"], "replicas": desired}})
        self.tell(autoscaler, "Normal", "SuccessfulRescale", f"New size: {desired}; reason: {why}")
        message = f"the HPA controller was able to update the target scale to {desired}"
        return "AbleToScale", "True", "SucceededRescale", message

    def _proposals(self, autoscaler: Object, target: Object, current: int) -> list[Proposal]:
        selector = target["spec"]["selector"]
        pods = [
            pod
            for pod in self.pods.in_namespace(target["metadata"]["namespace"])
            if is_active(pod) and matches_labels(selector, labels_of(pod))
        ]
        samples = {pod["metadata"]["name"]: self._usage(pod) if self._usage else None for pod in pods}
        default = [{"type": "Resource", "resource": {"name": "cpu", "target": {"averageUtilization": 80}}}]
        return [propose(metric, pods, samples, current) for metric in autoscaler["spec"].get("metrics") or default]

    def _tell_metric_error(self, autoscaler: Object, current: int, error: MetricError) -> None:
        self.tell(autoscaler, "Warning", error.reason, str(error))
        message = f"the HPA was unable to compute the replica count: {error}"
        self._report(
            autoscaler,
            {
                "currentReplicas": current,
                "desiredReplicas": autoscaler.get("status", {}).get("desiredReplicas", 0),
            },
            [
                (
                    "AbleToScale",
                    "True",
                    "SucceededGetScale",
                    "the HPA controller was able to get the target's current scale",
                ),
                ("ScalingActive", "False", error.reason, message),
            ],
        )

    def _stabilized(self, autoscaler: Object, current: int, recommended: int) -> int:
        """Shrink only to the largest size recommended within the window, grow only to the smallest."""
        behavior = autoscaler["spec"].get("behavior") or {}
        down_s = float((behavior.get("scaleDown") or {}).get("stabilizationWindowSeconds", _DOWN_WINDOW_S))
        up_s = float((behavior.get("scaleUp") or {}).get("stabilizationWindowSeconds") or 0)
        now = self.clock.seconds()
        history = self._recommended.setdefault(autoscaler["metadata"]["uid"], [(now, current)])
        highest = max([recommended, *(size for time, size in history if time > now - down_s)])
        lowest = min([recommended, *(size for time, size in history if time > now - up_s)])
        history[:] = [(time, size) for time, size in history if time > now - max(down_s, up_s)]
        history.append((now, recommended))
        return min(current, highest) if recommended < current else max(current, lowest)

    def _report(self, autoscaler: Object, status: Object, verdicts: Iterable[tuple[str, str, str, str]]) -> None:
        before = autoscaler.get("status", {})
        conditions = conditions_of(autoscaler)
        for verdict in verdicts:
            conditions = _with_verdict(conditions, condition(self.clock.now(), *verdict))
        kept = {key: before[key] for key in ("lastScaleTime", "currentMetrics") if key in before}
        write_status(
            self.store,
            HORIZONTAL_POD_AUTOSCALERS,
            autoscaler,
            {
                "observedGeneration": autoscaler["metadata"].get("generation", 1),
                "currentReplicas": before.get("currentReplicas", 0),
                "desiredReplicas": before.get("desiredReplicas", 0),
                "currentMetrics": None,
                **kept,
                **status,
                "conditions": conditions,
            },
        )


def _limit_verdict(recommended: int, low: int, high: int) -> tuple[str, str, str, str]:
    if recommended > high:
        message = "the desired replica count is more than the maximum replica count"
        return "ScalingLimited", "True", "TooManyReplicas", message
    if recommended < low:
        message = "the desired replica count is less than the minimum replica count"
        return "ScalingLimited", "True", "TooFewReplicas", message
    return "ScalingLimited", "False", "DesiredWithinRange", "the desired count is within the acceptable range"


def _with_verdict(conditions: list[Condition], new: Condition) -> list[Condition]:
    """In its old place, with the new reason and message."""
    old = find_condition(conditions, new["type"])
    if old is None:
        return [*conditions, new]
    if old["status"] == new["status"]:
        new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    return [new if each is old else each for each in conditions]
