"""Removing what cases have left in a cluster, known by its label: faults of Chaos Mesh and credentials."""

from __future__ import annotations

from pytest_microremed.cluster.cluster import Cluster, RequestFailed
from pytest_microremed.cluster.kinds import CHAOS_KINDS, ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS, Kind, Obj
from pytest_microremed.cluster.labels import MANAGED_BY

FAULTS_GONE_S = 120.0
"""How long Chaos Mesh may take to undo its faults, in cluster seconds; finalizers hold them until then."""


def clean(cluster: Cluster) -> list[str]:
    """Remove leftover faults and credentials; returns what there was, each as `Kind namespace/name`.

    Systems stay: they carry the label too, but have a baseline to go back to. WaitTimeout if Chaos Mesh does
    not undo a fault; what it has done to a pod then stays until the pod is replaced.
    """
    searched = (*CHAOS_KINDS, ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS)
    leftovers = [(kind, obj) for kind in searched for obj in _labelled(cluster, kind)]
    for kind, obj in leftovers:
        cluster.delete(kind, obj["metadata"]["namespace"], obj["metadata"]["name"])
    if any(kind in CHAOS_KINDS for kind, _ in leftovers):
        cluster.wait_for(
            "faults of an earlier run undone",
            lambda: not any(_labelled(cluster, kind) for kind in CHAOS_KINDS),
            FAULTS_GONE_S,
        )
    return [f"{kind} {obj['metadata']['namespace']}/{obj['metadata']['name']}" for kind, obj in leftovers]


def _labelled(cluster: Cluster, kind: Kind) -> list[Obj]:
    """The objects that carry our label; none where Chaos Mesh is not installed."""
    try:
        return cluster.list(kind, None, MANAGED_BY)
    except RequestFailed as error:
        if error.status == 404:
            return []
        raise
