"""DaemonSets: one pod on each node that allows it, replaced node by node when the template changes.

Source: Kubernetes documentation, "DaemonSet" and "Perform a Rolling Update on a DaemonSet".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.resources import DAEMON_SETS, NODES, PODS
from pytest_microremed.embedded.api.selectors import matches_labels
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, RetryLaterError, key_of
from pytest_microremed.embedded.sim.controllers.ownership import controller_name, controller_of, labels_of
from pytest_microremed.embedded.sim.controllers.pods import is_ready, is_terminating, phase
from pytest_microremed.embedded.sim.controllers.podwriter import PodWriter
from pytest_microremed.embedded.sim.controllers.revisions import (
    REVISION_LABEL,
    clean_up,
    current_revision,
    revision_hash,
    revision_on,
    revisions_of,
)
from pytest_microremed.embedded.sim.controllers.rolling import share
from pytest_microremed.embedded.sim.controllers.status import counts, write_status
from pytest_microremed.embedded.sim.node_fit import untolerated, wants

_FIELD = "metadata.name"
_TOLERATED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
"""Taints `node.kubernetes.io/…` that daemons stay on a node in spite of."""


class DaemonSetController(Controller):
    component = "daemonset-controller"
    watches = (DAEMON_SETS, PODS, NODES)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._writer = PodWriter(self)

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is DAEMON_SETS:
            return [key_of(change.obj)]
        if change.resource is NODES:
            return [key_of(each) for each in self.store.list(DAEMON_SETS)]
        namespace = change.obj["metadata"]["namespace"]
        pods = [pod for pod in (change.obj, change.old) if pod]
        names = [(namespace, name) for pod in pods if (name := controller_name(pod, "DaemonSet"))]
        if change.type != "DELETED" and controller_of(change.obj) is None:
            for each in self.store.list(DAEMON_SETS, namespace):
                if matches_labels(each["spec"]["selector"], labels_of(change.obj)):
                    names.append(key_of(each))
        return names

    def reconcile(self, namespace: str, name: str) -> None:
        daemon_set = self.store.get(DAEMON_SETS, namespace, name)
        if daemon_set is None:
            return
        revision = revision_hash(current_revision(self.store, daemon_set))
        failure = None
        if "deletionTimestamp" not in daemon_set["metadata"]:
            try:
                self._place(daemon_set, revision)
            except RetryLaterError as error:
                failure = error
            if (daemon_set["spec"].get("updateStrategy") or {}).get("type") != "OnDelete":
                self._replace_outdated(daemon_set, revision)
        self._report(daemon_set, revision)
        hashes = {revision_on(pod) for pod in self.claim(PODS, daemon_set)} | {revision}
        live = [each for each in revisions_of(self.store, daemon_set) if revision_hash(each) in hashes]
        clean_up(self.store, daemon_set, [each["metadata"]["name"] for each in live])
        if failure:
            raise failure

    def _by_node(self, daemon_set: Object) -> dict[str, list[Object]]:
        """The pods of each node, the oldest first."""
        nodes: dict[str, list[Object]] = defaultdict(list)
        for pod in sorted(self.claim(PODS, daemon_set), key=self.pods.first_seen):
            nodes[_node_of(pod)].append(pod)
        return nodes

    def _place(self, daemon_set: Object, revision: str) -> None:
        """Create what is missing; delete what is surplus, failed, or on a node that no longer allows it."""
        pods = self._by_node(daemon_set)
        for node in self.store.list(NODES):
            name = node["metadata"]["name"]
            staying = [pod for pod in pods.pop(name, []) if not is_terminating(pod)]
            failed = [pod for pod in staying if phase(pod) in ("Failed", "Succeeded")]
            for pod in failed:
                self._tell_failed(daemon_set, pod, name)
                self._writer.delete(daemon_set, pod)
            working = [pod for pod in staying if pod not in failed]
            if not _belongs_on(daemon_set, node):
                if untolerated(_tolerant_spec(daemon_set), node, ["NoExecute"]) or not _is_wanted(daemon_set, node):
                    for pod in working:
                        self._writer.delete(daemon_set, pod)
            elif not staying:
                self._create(daemon_set, name, revision)
            else:
                for pod in working[1:]:
                    self._writer.delete(daemon_set, pod)
        for pod in [pod for left in pods.values() for pod in left if not is_terminating(pod)]:
            self._writer.delete(daemon_set, pod)  # its node has gone

    def _tell_failed(self, daemon_set: Object, pod: Object, node: str) -> None:
        subject = f"{pod['metadata']['namespace']}/{pod['metadata']['name']} on node {node}"
        self.tell(
            daemon_set,
            "Warning",
            "FailedDaemonPod",
            f"Found failed daemon pod {subject}, will try to kill it",
        )

    def _create(self, daemon_set: Object, node: str, revision: str) -> None:
        template = daemon_set["spec"]["template"]
        spec = _tolerant_spec(daemon_set)
        pinned = {"nodeSelectorTerms": [{"matchFields": [{"key": _FIELD, "operator": "In", "values": [node]}]}]}
        affinity = spec.get("affinity") or {}
        node_affinity = {
            **(affinity.get("nodeAffinity") or {}),
            "requiredDuringSchedulingIgnoredDuringExecution": pinned,
        }
        spec["affinity"] = {**affinity, "nodeAffinity": node_affinity}
        try:
            self._writer.create(daemon_set, {**template, "spec": spec}, {REVISION_LABEL: revision})
        except ApiError as refusal:
            raise RetryLaterError(refusal.message) from refusal

    def _replace_outdated(self, daemon_set: Object, revision: str) -> None:
        """Delete old pods: those that do not work at once, of the others as many as may be unavailable."""
        nodes = [node for node in self.store.list(NODES) if _belongs_on(daemon_set, node)]
        rolling = (daemon_set["spec"].get("updateStrategy") or {}).get("rollingUpdate") or {}
        spare = share(rolling.get("maxUnavailable", 1), len(nodes), round_up=True)
        pods = self._by_node(daemon_set)
        working = []
        for node in nodes:
            present = [pod for pod in pods.get(node["metadata"]["name"], []) if not is_terminating(pod)]
            outdated = [pod for pod in present if revision_on(pod) != revision]
            available = [pod for pod in present if self._is_available(daemon_set, pod)]
            if not available:
                spare -= 1
                for pod in outdated:
                    self._writer.delete(daemon_set, pod)
            else:
                working += [pod for pod in outdated if pod in available]
        for pod in working[: max(0, spare)]:
            self._writer.delete(daemon_set, pod)

    def _is_available(self, daemon_set: Object, pod: Object) -> bool:
        return self.pods.seconds_to_available(pod, daemon_set["spec"].get("minReadySeconds", 0)) == 0

    def _report(self, daemon_set: Object, revision: str) -> None:
        pods = self._by_node(daemon_set)
        desired = [node["metadata"]["name"] for node in self.store.list(NODES) if _belongs_on(daemon_set, node)]
        chosen = {name: pods[name][0] for name in desired if pods.get(name)}
        for name in chosen:
            chosen[name] = next((pod for pod in pods[name] if not is_terminating(pod)), chosen[name])
        staying = [pod for pod in chosen.values() if not is_terminating(pod)]
        available = [pod for pod in staying if self._is_available(daemon_set, pod)]
        status = {
            "currentNumberScheduled": len(chosen),
            "desiredNumberScheduled": len(desired),
            "numberMisscheduled": sum(bool(found) for name, found in pods.items() if name not in desired),
            "numberReady": sum(map(is_ready, staying)),
            **counts(
                observedGeneration=daemon_set["metadata"]["generation"],
                updatedNumberScheduled=sum(revision_on(pod) == revision for pod in staying),
                numberAvailable=len(available),
                numberUnavailable=len(desired) - len(available),
            ),
        }
        write_status(self.store, DAEMON_SETS, daemon_set, status)
        wait_s = self.pods.next_available(staying, daemon_set["spec"].get("minReadySeconds", 0))
        if wait_s is not None:
            self.later(wait_s, daemon_set)


def _node_of(pod: Object) -> str:
    """The node that the pod is on, or is meant for while it is not scheduled yet."""
    if pod["spec"].get("nodeName"):
        return str(pod["spec"]["nodeName"])
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for requirement in term.get("matchFields") or ():
            if requirement["key"] == _FIELD:
                return str(requirement["values"][0])
    return ""


def _tolerant_spec(daemon_set: Object) -> dict[str, Any]:
    spec = daemon_set["spec"]["template"]["spec"]
    own = [{"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect} for name, effect in _TOLERATED]
    return {**spec, "tolerations": [*(spec.get("tolerations") or ()), *own]}


def _is_wanted(daemon_set: Object, node: Object) -> bool:
    return wants(daemon_set["spec"]["template"]["spec"], node)


def _belongs_on(daemon_set: Object, node: Object) -> bool:
    """The daemon's own selectors and tolerations decide; a cordon does not keep it away."""
    return _is_wanted(daemon_set, node) and not untolerated(
        _tolerant_spec(daemon_set), node, ["NoSchedule", "NoExecute"]
    )
