"""What follows from the state of nodes: the taint of a cordon, evictions, the end of pods of a lost node.

Source: Kubernetes documentation, "Taints and Tolerations" and "Pod garbage collection".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.resources import NODES, PODS
from pytest_microremed.embedded.api.store import Change, Object, timestamp
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
from pytest_microremed.embedded.sim.controllers.pods import is_terminating
from pytest_microremed.embedded.sim.node_fit import UNSCHEDULABLE, tolerated_s


class CordonController(Controller):
    """Keeps the taint of cordoned nodes."""

    component = "node-controller"
    watches = (NODES,)

    def keys(self, change: Change) -> Iterable[Key]:
        return [key_of(change.obj)] if change.type != "DELETED" else []

    def reconcile(self, namespace: str, name: str) -> None:
        node = self.store.get(NODES, None, name)
        if node is None:
            return
        spec = node.get("spec") or {}
        taints = spec.get("taints") or []
        others = [taint for taint in taints if taint["key"] != UNSCHEDULABLE["key"]]
        cordoned = bool(spec.get("unschedulable"))
        if cordoned == (len(others) < len(taints)):
            return
        wanted = [*others, {**UNSCHEDULABLE, "timeAdded": timestamp(self.clock.now())}] if cordoned else others
        spec = {key: value for key, value in spec.items() if key != "taints"}
        self.store.update(NODES, {**node, "spec": {**spec, "taints": wanted} if wanted else spec})


class EvictionController(Controller):
    """Deletes pods that must not stay on their node."""

    component = "taint-eviction-controller"
    watches = (NODES, PODS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._tainted: dict[str, float] = {}
        """Nodes with a NoExecute taint, and since when in simulated seconds."""

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is PODS:
            node = change.obj["spec"].get("nodeName")
            arrives = node and (change.old is None or not change.old["spec"].get("nodeName"))
            return [key_of(change.obj)] if arrives and (node in self._tainted or not self._node(node)) else []
        name = change.obj["metadata"]["name"]
        if change.type != "DELETED" and not _evicting_taints(change.obj):
            self._tainted.pop(name, None)
            return []
        self._tainted.setdefault(name, self.clock.seconds())
        return [key_of(pod) for pod in self.store.list(PODS) if pod["spec"].get("nodeName") == name]

    def reconcile(self, namespace: str, name: str) -> None:
        pod = self.store.get(PODS, namespace, name)
        if pod is None or not pod["spec"].get("nodeName"):
            return
        node = self._node(pod["spec"]["nodeName"])
        if node is None:
            self.store.remove(PODS, pod)  # no kubelet is left to end it
            return
        tolerations = pod["spec"].get("tolerations") or ()
        allowed_s = min((tolerated_s(tolerations, taint) for taint in _evicting_taints(node)), default=float("inf"))
        since = max(self._tainted.get(node["metadata"]["name"], 0.0), self.pods.first_seen(pod))
        left_s = since + allowed_s - self.clock.seconds()
        if is_terminating(pod) or left_s == float("inf"):
            return
        if left_s > 0:
            self.later(left_s, pod)
            return
        self.tell(pod, "Normal", "TaintManagerEviction", f"Marking for deletion Pod {namespace}/{name}")
        self.store.delete(PODS, pod)

    def _node(self, name: str) -> Object | None:
        return self.store.get(NODES, None, name)


def _evicting_taints(node: Object) -> list[dict[str, Any]]:
    taints: list[dict[str, Any]] = node.get("spec", {}).get("taints") or []
    return [taint for taint in taints if taint["effect"] == "NoExecute"]
