"""The namespace of a system: the harness works only in namespaces that it has created itself."""

from __future__ import annotations

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import NAMESPACES
from pytest_microremed.cluster.labels import MANAGED_BY, is_ours
from pytest_microremed.errors import ClusterError
from pytest_microremed.systems.render import namespace_manifest
from pytest_microremed.systems.system import System

GONE_S = 300.0
"""How long a namespace may take to disappear with all that is in it, in cluster seconds."""


def claim_namespace(cluster: Cluster, system: System, namespace: str) -> None:
    """Create the namespace, empty; one that an earlier run has left, whole or half deleted, goes first.

    ClusterError if somebody else's is in the way, WaitTimeout if the old one does not go.
    """
    existing = cluster.get(NAMESPACES, None, namespace)
    if existing is not None:
        if not is_ours(existing):
            label = ",".join(f"{key}={value}" for key, value in MANAGED_BY.items())
            raise ClusterError(
                f"namespace {namespace} of cluster {cluster.name} is somebody else's and is left alone; "
                f"delete it, or give up all that is in it: kubectl label namespace {namespace} {label}"
            )
        if "deletionTimestamp" not in existing["metadata"]:
            cluster.delete(NAMESPACES, None, namespace)
        _wait_until_gone(cluster, namespace)
    cluster.create(namespace_manifest(system, namespace))


def _wait_until_gone(cluster: Cluster, namespace: str) -> None:
    last = ""

    def gone() -> bool:
        nonlocal last
        existing = cluster.get(NAMESPACES, None, namespace)
        if existing is None:
            return True
        conditions = existing.get("status", {}).get("conditions") or ()
        last = "; ".join(c.get("message", "") for c in conditions if c.get("status") == "True")
        return False

    cluster.wait_for(f"namespace {namespace} deleted", gone, GONE_S, last_seen=lambda: last)
