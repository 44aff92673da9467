"""PodDisruptionBudgets: how many of their pods may be evicted now.

Source: Kubernetes documentation, "Specifying a Disruption Budget for your Application".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    REPLICA_SETS,
    STATEFUL_SETS,
)
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
from pytest_microremed.embedded.sim.controllers.ownership import controller_of, labels_of
from pytest_microremed.embedded.sim.controllers.pods import is_finished, is_ready, is_terminating
from pytest_microremed.embedded.sim.controllers.rolling import share
from pytest_microremed.embedded.sim.controllers.status import (
    condition,
    conditions_of,
    with_condition,
    write_status,
)

_SCALED = {each.kind: each for each in (DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, JOBS)}


class DisruptionController(Controller):
    component = "controllermanager"
    watches = (POD_DISRUPTION_BUDGETS, PODS, DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._budgets: dict[str, dict[str, Object]] = defaultdict(dict)

    def keys(self, change: Change) -> Iterable[Key]:
        namespace, name = key_of(change.obj)
        budgets = self._budgets[namespace]
        if change.resource is POD_DISRUPTION_BUDGETS:
            if change.type == "DELETED":
                budgets.pop(name, None)
                return []
            budgets[name] = change.obj
            return [(namespace, name)]
        if change.resource is PODS:
            return [
                (namespace, budget["metadata"]["name"])
                for budget in budgets.values()
                if matches_labels(budget["spec"].get("selector"), labels_of(change.obj))
            ]
        return [(namespace, name) for name in budgets]

    def reconcile(self, namespace: str, name: str) -> None:
        budget = self.store.get(POD_DISRUPTION_BUDGETS, namespace, name)
        if budget is None:
            return
        selector = budget["spec"].get("selector")
        pods = [
            pod
            for pod in self.pods.in_namespace(namespace)
            if not is_finished(pod) and matches_labels(selector, labels_of(pod))
        ]
        expected, desired = self._wanted(budget, pods)
        healthy = sum(is_ready(pod) and not is_terminating(pod) for pod in pods)
        allowed = max(0, healthy - desired) if expected else 0
        verdict = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
        generation = budget["metadata"]["generation"]
        new = condition(self.clock.now(), "DisruptionAllowed", *verdict, "", observedGeneration=generation)
        status = {
            "observedGeneration": generation,
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "conditions": with_condition(conditions_of(budget), new),
        }
        write_status(self.store, POD_DISRUPTION_BUDGETS, budget, status)

    def _wanted(self, budget: Object, pods: list[Object]) -> tuple[int, int]:
        """How many pods there should be, and how many of them healthy."""
        spec = budget["spec"]
        if spec.get("maxUnavailable") is not None:
            expected = self._expected(pods)
            return expected, max(0, expected - share(spec["maxUnavailable"], expected, round_up=True))
        minimum = spec.get("minAvailable", 1)
        expected = self._expected(pods) if isinstance(minimum, str) else len(pods)
        return expected, share(minimum, expected, round_up=True)

    def _expected(self, pods: list[Object]) -> int:
        """The sizes of the workloads that the pods belong to."""
        sizes: dict[str, int] = {}
        for pod in pods:
            workload = self._workload(pod)
            if workload is None:
                sizes[pod["metadata"]["uid"]] = 1
            else:
                sizes[workload["metadata"]["uid"]] = int(workload["spec"].get("replicas", 1))
        return sum(sizes.values())

    def _workload(self, obj: Object) -> Object | None:
        """The object at the top of the chain of owners."""
        reference = controller_of(obj)
        if reference is None or reference["kind"] not in _SCALED:
            return None
        namespace = obj["metadata"]["namespace"]
        owner = self.store.get(_SCALED[reference["kind"]], namespace, reference["name"])
        return (self._workload(owner) or owner) if owner else None
