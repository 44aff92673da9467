"""The handle on one Kubernetes cluster, embedded or real: the verbs of its API on plain JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, TypeVar

from pytest_microremed.clock import Clock, WallClock
from pytest_microremed.cluster import execution
from pytest_microremed.cluster.connection import Conflict, Connection, RequestFailed
from pytest_microremed.cluster.execution import ExecOutput
from pytest_microremed.cluster.kinds import POD_METRICS, PODS, Kind, Obj, kind_of
from pytest_microremed.cluster.quantity import parse_quantity
from pytest_microremed.errors import WaitTimeout

__all__ = ["Cluster", "Conflict", "ContainerUsage", "ExecOutput", "Obj", "RequestFailed"]

T = TypeVar("T")

_WRITER = {"fieldManager": "pytest-microremed"}
_PATCH_TYPES = {
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
}


@dataclass(frozen=True)
class ContainerUsage:
    """A sample of the metrics API: what a container used around `time`."""

    pod: str
    container: str
    cpu_cores: float
    memory_bytes: int
    time: datetime


class Cluster:
    """A cluster by kubeconfig. Thread-safe.

    Every method raises RequestFailed (a ClusterError) with verb, object, HTTP status and the server's message
    when the API server refuses or cannot be reached, and Conflict for 409. Requests have time limits of their
    own.
    """

    def __init__(
        self,
        kubeconfig: Path,
        *,
        context: str | None = None,
        name: str | None = None,
        clock: Clock | None = None,
        on_close: Callable[[], None] | None = None,
    ) -> None:
        """Open no connection yet; ClusterError if the kubeconfig is unusable or does not have the context."""
        self.kubeconfig = kubeconfig
        self.connection = Connection(kubeconfig, context)
        self.name = name or context or self.connection.server
        self.clock = clock or WallClock()
        """Cluster seconds: the embedded cluster's run faster than the wall's."""
        self._on_close = on_close

    def get(self, kind: Kind, namespace: str | None, name: str) -> Obj | None:
        """The object, or None if there is none."""
        try:
            found: Obj = self._request("GET", kind, namespace, name)
        except RequestFailed as error:
            if error.status == 404:
                return None
            raise
        return found

    def list(self, kind: Kind, namespace: str | None, labels: Mapping[str, str] | None = None) -> list[Obj]:
        """The objects of a namespace, or of all namespaces, that carry all of `labels`."""
        items: list[Obj] = self._request("GET", kind, namespace, query=_selector(labels))["items"] or []
        for item in items:  # items of a typed list leave out what the list says of all of them
            item.setdefault("apiVersion", kind.api_version)
            item.setdefault("kind", kind.kind)
        return items

    def create(self, obj: Obj) -> Obj:
        """POST; the kind is the object's own, the name may be a `generateName`. Conflict if it exists."""
        kind, meta = kind_of(obj), obj["metadata"]
        namespace = meta.get("namespace")
        what = _describe(kind, namespace, meta.get("name") or meta.get("generateName"))
        created: Obj = self._request("POST", kind, namespace, query=_WRITER, body=obj, what=what)
        return created

    def replace(self, obj: Obj) -> Obj:
        """PUT the whole object; without a resourceVersion whatever is there is overwritten."""
        meta = obj["metadata"]
        replaced: Obj = self._request("PUT", kind_of(obj), meta.get("namespace"), meta["name"], query=_WRITER, body=obj)
        return replaced

    def apply(self, obj: Obj) -> Obj:
        """Server-side apply as field manager `pytest-microremed`, taking over fields that others own."""
        meta = obj["metadata"]
        applied: Obj = self._request(
            "PATCH",
            kind_of(obj),
            meta.get("namespace"),
            meta["name"],
            query={**_WRITER, "force": "true"},
            body=obj,
            content_type="application/apply-patch+yaml",
        )
        return applied

    def patch(
        self,
        kind: Kind,
        namespace: str | None,
        name: str,
        patch: Obj | Sequence[Obj],
        *,
        how: Literal["strategic", "merge", "json"] = "merge",
    ) -> Obj:
        """Change a part of an object (Kubernetes API concepts: patch types)."""
        patched: Obj = self._request(
            "PATCH", kind, namespace, name, query=_WRITER, body=patch, content_type=_PATCH_TYPES[how]
        )
        return patched

    def delete(self, kind: Kind, namespace: str | None, name: str, *, grace_s: int | None = None) -> None:
        """Ask for deletion with background garbage collection; it is fine if there is no such object."""
        try:
            self._request("DELETE", kind, namespace, name, body=_delete_options(grace_s))
        except RequestFailed as error:
            if error.status != 404:
                raise

    def delete_all(self, kind: Kind, namespace: str, labels: Mapping[str, str] | None = None) -> None:
        """Ask for deletion of every object of the kind in the namespace that carries all of `labels`."""
        self._request("DELETE", kind, namespace, query=_selector(labels), body=_delete_options(None))

    def create_subresource(self, kind: Kind, namespace: str, name: str, subresource: str, body: Obj) -> Obj:
        """POST to a subresource, for instance `token` of a ServiceAccount or `eviction` of a Pod."""
        answer: Obj = self._request("POST", kind, namespace, name, subresource=subresource, query=_WRITER, body=body)
        return answer

    def execute(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, timeout_s: float
    ) -> ExecOutput:
        """Run a command in a container without stdin.

        `timeout_s` is wall-clock time on every cluster, as it guards against a hang; WaitTimeout when it runs
        out.
        """
        what = f"{_describe(PODS, namespace, pod)} container {container}"
        path = PODS.path(namespace, pod, "exec")
        return execution.run(self.connection, path, what, command, container, timeout_s)

    def usage(self, namespace: str, labels: Mapping[str, str]) -> Sequence[ContainerUsage]:
        """The newest sample of each container of the pods with these labels (metrics.k8s.io)."""
        return [
            ContainerUsage(
                pod=sample["metadata"]["name"],
                container=container["name"],
                cpu_cores=parse_quantity(container["usage"]["cpu"]),
                memory_bytes=int(parse_quantity(container["usage"]["memory"])),
                time=datetime.fromisoformat(sample["timestamp"]),
            )
            for sample in self.list(POD_METRICS, namespace, labels)
            for container in sample["containers"]
        ]

    def wait_for(
        self,
        what: str,
        condition: Callable[[], T | None],
        timeout_s: float,
        interval_s: float = 1.0,
        last_seen: Callable[[], str] = str,
    ) -> T:
        """The first result of `condition` that is true, asked every `interval_s`; both in cluster seconds.

        Raises WaitTimeout naming `what`, and what `last_seen` says then. The condition is asked once more after the
        limit, so that a slow machine that slept over the end does not miss what had come true.
        """
        deadline = self.clock.now() + timeout_s
        while True:
            last_chance = self.clock.now() >= deadline
            result = condition()
            if result:
                return result
            if last_chance:
                raise WaitTimeout(what, timeout_s, last_seen())
            self.clock.sleep(interval_s)

    def close(self) -> None:
        """Drop the connections; an embedded cluster stops."""
        self.connection.close()
        if self._on_close:
            self._on_close()

    def _request(
        self,
        verb: str,
        kind: Kind,
        namespace: str | None,
        name: str | None = None,
        *,
        subresource: str | None = None,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
        what: str | None = None,
    ) -> Any:
        return self.connection.request(
            verb,
            kind.path(namespace, name, subresource),
            what or _describe(kind, namespace, name, subresource),
            query=query,
            body=body,
            content_type=content_type,
        )


def _selector(labels: Mapping[str, str] | None) -> Mapping[str, str] | None:
    return {"labelSelector": ",".join(f"{key}={value}" for key, value in labels.items())} if labels else None


def _delete_options(grace_s: int | None) -> Obj:
    options: Obj = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
    return options if grace_s is None else {**options, "gracePeriodSeconds": grace_s}


def _describe(kind: Kind, namespace: str | None, name: str | None, subresource: str | None = None) -> str:
    return f"{kind} {'/'.join(part for part in (namespace, name or '*', subresource) if part)}"
