"""The scheduler: finds a node for each pod that has none, or says why there is none.

Source: Kubernetes documentation, "Kubernetes Scheduler"; messages as kube-scheduler words them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from pytest_microremed.embedded.api.quantity import parse_quantity
from pytest_microremed.embedded.api.resources import NODES, PERSISTENT_VOLUME_CLAIMS, PODS
from pytest_microremed.embedded.api.store import Change, Object, Store, timestamp
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, Manager, key_of
from pytest_microremed.embedded.sim.controllers.pods import is_finished
from pytest_microremed.embedded.sim.controllers.status import find_condition, without_condition
from pytest_microremed.embedded.sim.node_fit import UNSCHEDULABLE, tolerates, untolerated, wants

NAME = "default-scheduler"
_SHORTAGE = ("Insufficient", "Too many")


def start_scheduler(store: Store, clock: SimClock) -> None:
    """Schedule the pods that wait for a node, now and from now on."""
    manager = Manager(store, clock)
    manager.start([Scheduler(manager)])


def requests(pod: Object) -> dict[str, Decimal]:
    """What the pod reserves on its node: the containers' sum, or an init container's if that is more."""
    spec = pod["spec"]
    total: dict[str, Decimal] = defaultdict(Decimal)
    for container in spec["containers"]:
        for name, amount in _container_requests(container).items():
            total[name] += amount
    sidecars: dict[str, Decimal] = defaultdict(Decimal)
    peak: dict[str, Decimal] = defaultdict(Decimal)
    for container in spec.get("initContainers") or ():
        for name, amount in _container_requests(container).items():
            if container.get("restartPolicy") == "Always":
                sidecars[name] += amount
            peak[name] = max(peak[name], sidecars[name] + (0 if container.get("restartPolicy") else amount))
    for name in {*total, *peak}:
        total[name] = max(total[name] + sidecars[name], peak[name])
    for name, amount in (spec.get("overhead") or {}).items():
        total[name] += parse_quantity(amount)
    total["pods"] = Decimal(1)
    return dict(total)


def _container_requests(container: Object) -> dict[str, Decimal]:
    """A request that is not given is the limit."""
    resources = container.get("resources") or {}
    merged = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: parse_quantity(amount) for name, amount in merged.items()}


class Scheduler(Controller):
    component = NAME
    watches = (PODS, NODES, PERSISTENT_VOLUME_CLAIMS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._waiting: dict[Key, None] = {}
        """Pods for which no node was found: tried again when something changes that might help."""
        self._placed: dict[str, tuple[str, dict[str, Decimal]]] = {}
        """Node and requests by uid of the pod."""
        self._used: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is NODES:
            helps = change.old is None or _offer(change.old) != _offer(change.obj)
            return list(self._waiting) if helps else []
        if change.resource is PERSISTENT_VOLUME_CLAIMS:
            return list(self._waiting)
        if self._account(change):
            return list(self._waiting)
        if change.type == "DELETED" or change.obj["spec"].get("nodeName"):
            return []
        key = key_of(change.obj)
        is_news = change.old is None or change.old["spec"] != change.obj["spec"]
        return [key] if is_news or key not in self._waiting else []

    def reconcile(self, namespace: str, name: str) -> None:
        self._waiting.pop((namespace, name), None)
        pod = self.store.get(PODS, namespace, name)
        if pod is None or pod["spec"].get("nodeName") or "deletionTimestamp" in pod["metadata"]:
            return
        if pod["spec"].get("schedulerName", NAME) != NAME or is_finished(pod):
            return
        self._waiting[namespace, name] = None
        if pod["spec"].get("schedulingGates"):
            self._refuse(pod, "SchedulingGated", "Scheduling is blocked due to non-empty scheduling gates")
            return
        nodes = self.store.list(NODES)
        problem = self._claim_problem(pod)
        if problem:
            self._refuse(pod, "Unschedulable", _explain([problem], len(nodes), 0))
            return
        needed = requests(pod)
        obstacles = [self._obstacles(pod, needed, node) for node in nodes]
        fitting = [node for node, reasons in zip(nodes, obstacles, strict=True) if not reasons]
        if fitting:
            self._waiting.pop((namespace, name))
            self._bind(pod, min(fitting, key=self._load))
            return
        counted = Counter(reason for reasons in obstacles for reason in reasons)
        full = sum(reasons[0].startswith(_SHORTAGE) for reasons in obstacles)
        reasons = sorted(f"{count} {reason}" for reason, count in counted.items())
        self._refuse(pod, "Unschedulable", _explain(reasons, len(nodes), full))

    def _obstacles(self, pod: Object, needed: dict[str, Decimal], node: Object) -> list[str]:
        """Why the node will not do, from the first check that fails."""
        spec = pod["spec"]
        if node.get("spec", {}).get("unschedulable") and not tolerates(spec.get("tolerations") or (), UNSCHEDULABLE):
            return ["node(s) were unschedulable"]
        taint = untolerated(spec, node, ["NoSchedule", "NoExecute"])
        if taint:
            return [f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value', '')}}}"]
        if not wants(spec, node):
            return ["node(s) didn't match Pod's node affinity/selector"]
        allocatable = node.get("status", {}).get("allocatable") or {}
        used = self._used[node["metadata"]["name"]]
        short = []
        for name, amount in needed.items():
            if amount and used[name] + amount > parse_quantity(allocatable.get(name, 0)):
                short.append("Too many pods" if name == "pods" else f"Insufficient {name}")
        return short

    def _claim_problem(self, pod: Object) -> str | None:
        """A pod has to wait for its PersistentVolumeClaims."""
        namespace = pod["metadata"]["namespace"]
        for volume in pod["spec"].get("volumes") or ():
            name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
            if not name:
                continue
            claim = self.store.get(PERSISTENT_VOLUME_CLAIMS, namespace, name)
            if claim is None:
                return f'persistentvolumeclaim "{name}" not found'
            if claim.get("status", {}).get("phase") != "Bound":
                return "pod has unbound immediate PersistentVolumeClaims"
        return None

    def _load(self, node: Object) -> Decimal:
        """The node with the most free CPU is taken."""
        allocatable = node.get("status", {}).get("allocatable") or {}
        return self._used[node["metadata"]["name"]]["cpu"] - parse_quantity(allocatable.get("cpu", 0))

    def _account(self, change: Change) -> bool:
        """Keep the sums of what pods reserve; says whether something became free."""
        pod = change.obj
        uid, node = pod["metadata"]["uid"], pod["spec"].get("nodeName")
        gone = change.type == "DELETED" or is_finished(pod)
        if gone and uid in self._placed:
            name, amounts = self._placed.pop(uid)
            for resource, amount in amounts.items():
                self._used[name][resource] -= amount
            return True
        if node and not gone and uid not in self._placed:
            amounts = requests(pod)
            self._placed[uid] = (node, amounts)
            for resource, amount in amounts.items():
                self._used[node][resource] += amount
        return False

    def _bind(self, pod: Object, node: Object) -> None:
        name = node["metadata"]["name"]
        scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None}
        self.store.update(
            PODS,
            {
                **pod,
                "spec": {**pod["spec"], "nodeName": name},
                "status": self._with_condition(pod, scheduled),
            },
        )
        meta = pod["metadata"]
        self.tell(pod, "Normal", "Scheduled", f"Successfully assigned {meta['namespace']}/{meta['name']} to {name}")

    def _refuse(self, pod: Object, reason: str, message: str) -> None:
        conditions = pod.get("status", {}).get("conditions") or []
        known = find_condition(conditions, "PodScheduled") or {}
        if (known.get("reason"), known.get("message")) != (reason, message):
            refused = {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "reason": reason,
                "message": message,
            }
            self.store.update(PODS, {**pod, "status": self._with_condition(pod, refused)})
        if reason == "Unschedulable":
            self.tell(pod, "Warning", "FailedScheduling", message)

    def _with_condition(self, pod: Object, condition: dict[str, Any]) -> Object:
        status = pod.get("status", {})
        conditions = status.get("conditions") or []
        known = find_condition(conditions, "PodScheduled") or {}
        since = known["lastTransitionTime"] if known.get("status") == condition["status"] else None
        condition["lastTransitionTime"] = since or timestamp(self.clock.now())
        return {**status, "conditions": [*without_condition(conditions, "PodScheduled"), condition]}


def _offer(node: Object) -> tuple[Any, ...]:
    """What of a node decides which pods may run there."""
    return node.get("spec"), node["metadata"].get("labels"), node.get("status", {}).get("allocatable")


def _explain(reasons: list[str], nodes: int, full: int) -> str:
    """`full` nodes lack nothing but room, which evicting other pods might make."""
    if nodes == 0:
        return "no nodes available to schedule pods"
    preemption = []
    if full:
        preemption.append(f"{full} No preemption victims found for incoming pod")
    if full < nodes:
        preemption.append(f"{nodes - full} Preemption is not helpful for scheduling")
    none = f"0/{nodes} nodes are available: "
    return f"{none}{', '.join(reasons)}. preemption: {none}{', '.join(preemption)}."
