"""Putting the objects of a namespace back to what is wanted of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytest_microremed.cluster import kinds
from pytest_microremed.cluster.cluster import Cluster, Conflict, RequestFailed
from pytest_microremed.cluster.kinds import Obj, kind_of
from pytest_microremed.errors import ClusterError
from pytest_microremed.systems.state import (
    LAST_APPLIED,
    SERVER_ANNOTATIONS,
    Key,
    State,
    differing_paths,
    wanted,
)

GONE_S = 60.0
"""How long an object may take to disappear, in cluster seconds."""
_POD_GRACE_S = 1
_WRITE_ATTEMPTS = 5


def put_back(cluster: Cluster, baseline: Mapping[Key, Obj], live: Mapping[Key, Obj]) -> None:
    """Delete what is beyond the baseline, create what is missing, overwrite what differs."""
    for key in reversed([key for key in live if key not in baseline]):
        remove(cluster, live[key])
    for key, obj in baseline.items():
        current = live.get(key)
        if current is None:
            create(cluster, obj)
        elif "deletionTimestamp" in current["metadata"]:
            _create_again(cluster, obj, current)
        elif any(differing_paths(obj, wanted(current))):
            _overwrite(cluster, obj, current)


def create(cluster: Cluster, obj: Obj) -> None:
    """Create the object, or overwrite what a controller was quicker to create (a default ServiceAccount)."""
    try:
        cluster.create(obj)
    except Conflict:
        meta = obj["metadata"]
        current = cluster.get(kind_of(obj), meta["namespace"], meta["name"])
        if current is None:
            raise
        _overwrite(cluster, obj, current)


def remove(cluster: Cluster, obj: Obj) -> None:
    """Delete the object, and do not let finalizers hold it: nobody is left who would act on them."""
    kind, meta = kind_of(obj), obj["metadata"]
    cluster.delete(kind, meta["namespace"], meta["name"], grace_s=_POD_GRACE_S if kind is kinds.PODS else None)
    if meta.get("finalizers"):
        try:
            cluster.patch(kind, meta["namespace"], meta["name"], {"metadata": {"finalizers": None}})
        except RequestFailed as error:
            if error.status != 404:
                raise


def forget_past(cluster: Cluster, namespace: str, state: State) -> None:
    """Remove what could be read of earlier cases: old revisions, events, the notes of `kubectl apply`."""
    for replica_set in state.replica_sets:
        if not replica_set["spec"].get("replicas"):
            remove(cluster, replica_set)
    current = {obj.get("status", {}).get("updateRevision") for obj in state.objects.values()}
    for revision in cluster.list(kinds.CONTROLLER_REVISIONS, namespace):
        if revision["metadata"]["name"] not in current:
            remove(cluster, revision)
    for (kind, name), obj in state.objects.items():
        if LAST_APPLIED in obj["metadata"].get("annotations", {}):
            cluster.patch(kind, namespace, name, {"metadata": {"annotations": {LAST_APPLIED: None}}})
    cluster.delete_all(kinds.EVENTS, namespace)


def replace_pods(cluster: Cluster, pods: Iterable[Obj]) -> None:
    """Delete the pods of a controller, so that it makes new ones; their processes get a second to end."""
    for pod in pods:
        remove(cluster, pod)


def _overwrite(cluster: Cluster, obj: Obj, current: Obj) -> None:
    """PUT the object; one that cannot be changed in place (immutable fields) is deleted and created again."""
    kind, meta = kind_of(obj), obj["metadata"]
    for _ in range(_WRITE_ATTEMPTS):
        try:
            cluster.replace(_onto(obj, current))
            return
        except Conflict:
            latest = cluster.get(kind, meta["namespace"], meta["name"])
            if latest is None:
                cluster.create(obj)
                return
            current = latest
        except RequestFailed as error:
            if error.status != 422:
                raise
            _create_again(cluster, obj, current)
            return
    raise ClusterError(f"{kind}/{meta['name']} changes faster than it can be put back")


def _onto(obj: Obj, current: Obj) -> Obj:
    """The object as a new version of the current one, with the annotations that the server keeps on it."""
    kept = {k: v for k, v in current["metadata"].get("annotations", {}).items() if k in SERVER_ANNOTATIONS}
    annotations = {**kept, **obj["metadata"].get("annotations", {})}
    meta = {**obj["metadata"], "resourceVersion": current["metadata"]["resourceVersion"]}
    return {**obj, "metadata": {**meta, "annotations": annotations} if annotations else meta}


def _create_again(cluster: Cluster, obj: Obj, current: Obj) -> None:
    kind, meta = kind_of(obj), obj["metadata"]
    uid = current["metadata"]["uid"]
    remove(cluster, current)

    def gone() -> bool:
        there = cluster.get(kind, meta["namespace"], meta["name"])
        return there is None or there["metadata"]["uid"] != uid

    cluster.wait_for(f"{kind}/{meta['name']} deleted", gone, GONE_S)
    create(cluster, obj)
