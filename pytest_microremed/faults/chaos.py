"""Faults as Chaos Mesh custom resources: created, awaited, and removed with their finalizers."""

from __future__ import annotations

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import NAMESPACES, Obj, kind_of
from pytest_microremed.cluster.labels import MANAGED_BY
from pytest_microremed.errors import NotPosed, WaitTimeout

INJECTOR_NAMESPACE = "microremed-injector"
"""The custom resources live apart from the system: what an agent does to *all* objects of its namespace
cannot reach them, whatever its rights are."""

INJECT_S = 120.0
"""How long Chaos Mesh may take to inject, in cluster seconds."""
RECOVER_S = 60.0
"""How long Chaos Mesh may take to take the fault back before its finalizer is forced."""
FORCE_S = 30.0
FORCED = {"metadata": {"annotations": {"chaos-mesh.chaos-mesh.org/cleanFinalizer": "forced"}}}
"""Makes Chaos Mesh drop its finalizer although it could not recover the pod."""


class ChaosInjection:
    """A Chaos Mesh experiment in the cluster."""

    mechanism = "chaos-mesh"

    def __init__(self, cluster: Cluster, resource: Obj) -> None:
        self.cluster = cluster
        self.kind = kind_of(resource)
        self.name: str = resource["metadata"]["name"]
        self.namespace: str = resource["metadata"]["namespace"]
        self._resource = resource

    def start(self) -> None:
        """Create the custom resource and wait until every selected pod is injected.

        Raises NotPosed with Chaos Mesh's own message if it is not so in `INJECT_S`, ClusterError if it is
        refused.
        """
        self._make_namespace()
        # Chaos Mesh refuses to change a spec: an experiment left over by a killed run has to go first.
        if self.cluster.get(self.kind, self.namespace, self.name) is not None:
            self.stop()
        labelled = {**self._resource["metadata"], "labels": MANAGED_BY}
        self.cluster.create({**self._resource, "metadata": labelled})
        try:
            self.cluster.wait_for(f"{self}: AllInjected", self._injected, INJECT_S)
        except WaitTimeout as error:
            message = _message(self.cluster.get(self.kind, self.namespace, self.name) or {})
            self.stop()
            raise NotPosed(f"{error}{f' ({message})' if message else ''}") from None

    def active(self) -> bool:
        """Whether the experiment is still there and not being removed."""
        found = self.cluster.get(self.kind, self.namespace, self.name)
        return found is not None and not found["metadata"].get("deletionTimestamp")

    def stop(self) -> None:
        """Remove the experiment; WaitTimeout if not even forcing the finalizer does it.

        The finalizer waits for Chaos Mesh to recover the pods, which fails for ever where they are not what
        they were.
        """
        self.cluster.delete(self.kind, self.namespace, self.name)
        try:
            self.cluster.wait_for(f"{self}: removal", self._gone, RECOVER_S)
        except WaitTimeout:
            self.cluster.patch(self.kind, self.namespace, self.name, FORCED)
            self.cluster.wait_for(f"{self}: forced removal", self._gone, FORCE_S)

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"

    def _make_namespace(self) -> None:
        if self.cluster.get(NAMESPACES, None, self.namespace) is None:
            metadata = {"name": self.namespace, "labels": MANAGED_BY}
            self.cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})

    def _injected(self) -> bool:
        found = self.cluster.get(self.kind, self.namespace, self.name) or {}
        conditions = {c["type"]: c["status"] for c in found.get("status", {}).get("conditions") or []}
        return conditions.get("Selected") == "True" and conditions.get("AllInjected") == "True"

    def _gone(self) -> bool:
        return self.cluster.get(self.kind, self.namespace, self.name) is None


def _message(experiment: Obj) -> str:
    """What Chaos Mesh last said went wrong: the newest failure in its records, else the reason of a
    condition."""
    status = experiment.get("status", {})
    records = status.get("experiment", {}).get("containerRecords") or []
    failures = [e for record in records for e in record.get("events") or [] if e.get("type") == "Failed"]
    if failures:
        newest = max(failures, key=lambda event: str(event.get("timestamp", "")))
        return str(newest.get("message", ""))
    reasons = [c.get("reason") for c in status.get("conditions") or [] if c.get("status") == "False"]
    selected = "" if records else "no pod is selected"
    return next((str(reason) for reason in reasons if reason), selected)
