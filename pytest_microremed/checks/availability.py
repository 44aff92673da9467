"""How long a Service had nobody to send requests to beyond what the fault did, seen from its Endpoints as
they change."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import ENDPOINTS, PODS, Obj
from pytest_microremed.errors import ClusterError

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

_SILENCE_S = 30.0
"""Wall-clock seconds without an event after which the watch is begun anew."""
_JOIN_S = 5.0
_RETRY_S = 1.0


@dataclass(frozen=True)
class Availability:
    """What the monitor has seen between start and stop."""

    disruption_s: float | None
    """Cluster seconds without any ready endpoint that the fault does not account for; None where there is
    no Service."""
    down_at_start: bool
    """Whether there was no ready endpoint to begin with."""


class AvailabilityMonitor:
    """Watches the Endpoints of one Service in a thread of its own, from `start` to `stop`.

    A fault may by itself make a pod unready at any time: half of the packets lost is enough now and then.
    That is no interruption of the playbook's as long as a pod from the start is still there, unready, with
    the containers it had. The time in which those pods are gone and no other is ready is.

    A watch that ends, breaks or falls silent is begun anew with a fresh list; what happened in between is
    then seen as late as that.
    """

    def __init__(self, cluster: Cluster, namespace: str, service: str | None) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._service = service
        self._path = ENDPOINTS.path(namespace)
        self._query = {"fieldSelector": f"metadata.name={service}"}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._stream: BaseHTTPResponse | None = None
        self._thread = threading.Thread(target=self._run, name=f"availability of {service}", daemon=True)
        self._first_pods: dict[str, frozenset[str]] = {}
        """Running containers at the start by pod uid."""
        self._down_since: float | None = None
        self._down_at_start = False
        self._disruption_s = 0.0
        self._version = ""

    def start(self) -> None:
        """Look once, and go on watching. Raises ClusterError if the first look fails."""
        if self._service is None:
            return
        endpoints = self._list()
        self._down_at_start = not has_endpoint(endpoints)
        for name in _pod_names(endpoints, "addresses", "notReadyAddresses"):
            pod = self._cluster.get(PODS, self._namespace, name)
            if pod is not None:
                self._first_pods[pod["metadata"]["uid"]] = _running(pod)
        self._thread.start()

    def stop(self) -> Availability:
        """End the watch, and say what was seen."""
        if self._service is None:
            return Availability(None, False)
        self._stopped.set()
        with self._lock:
            if self._stream is not None:
                with contextlib.suppress(ValueError, RuntimeError, OSError):  # it ends by itself just now
                    self._stream.shutdown()
        self._thread.join(_JOIN_S)
        self._note(interrupted=False)  # counts an interruption that is still going on
        return Availability(self._disruption_s, self._down_at_start)

    def _run(self) -> None:
        from urllib3.exceptions import HTTPError

        while not self._stopped.is_set():
            try:
                for event in self._events():
                    self._judge({} if event["type"] == "DELETED" else event["object"])
                if not self._stopped.is_set():
                    self._judge(self._list())
            except (HTTPError, OSError, ValueError, ClusterError):
                # The connection broke, or the answer was no watch: whoever asks the cluster next reports
                # that it is away.
                self._version = ""
                self._cluster.clock.sleep(_RETRY_S)

    def _events(self) -> Iterator[dict[str, Any]]:
        """The events since the last list, until the stream ends. An error among them (410 Gone) ends it
        too."""
        if not self._version:
            return
        query = {**self._query, "watch": "true", "resourceVersion": self._version}
        stream = self._cluster.connection.open_stream(self._path, query, _SILENCE_S)
        with self._lock:
            self._stream = stream
            if self._stopped.is_set():
                stream.close()
                return
        try:
            for line in _lines(stream):
                event = json.loads(line)
                if self._stopped.is_set() or event["type"] == "ERROR":
                    return
                yield event
        finally:
            with self._lock:
                self._stream = None
            stream.close()

    def _list(self) -> Obj:
        """The Endpoints now, empty if there are none; remembers the version to watch from."""
        found = self._cluster.connection.request("GET", self._path, f"Endpoints of {self._service}", query=self._query)
        self._version = found["metadata"]["resourceVersion"]
        return next(iter(found["items"] or []), {})

    def _judge(self, endpoints: Obj) -> None:
        self._note(interrupted=not has_endpoint(endpoints) and not self._is_the_faults(endpoints))

    def _is_the_faults(self, endpoints: Obj) -> bool:
        for name in _pod_names(endpoints, "notReadyAddresses"):
            pod = self._cluster.get(PODS, self._namespace, name)
            if pod is not None and self._first_pods.get(pod["metadata"]["uid"]) == _running(pod):
                return True
        return False

    def _note(self, *, interrupted: bool) -> None:
        now = self._cluster.clock.now()
        if interrupted and self._down_since is None:
            self._down_since = now
        elif not interrupted and self._down_since is not None:
            self._disruption_s += now - self._down_since
            self._down_since = None


def has_endpoint(endpoints: Obj) -> bool:
    """Whether an Endpoints object has a ready address."""
    return any(subset.get("addresses") for subset in endpoints.get("subsets") or [])


def _pod_names(endpoints: Obj, *kinds: str) -> list[str]:
    subsets = endpoints.get("subsets") or []
    addresses = [address for subset in subsets for kind in kinds for address in subset.get(kind) or []]
    return [a["targetRef"]["name"] for a in addresses if (a.get("targetRef") or {}).get("kind") == "Pod"]


def _running(pod: Obj) -> frozenset[str]:
    """The ids of the containers that run."""
    statuses = pod.get("status", {}).get("containerStatuses") or []
    return frozenset(s["containerID"] for s in statuses if "running" in s.get("state", {}))


def _lines(stream: BaseHTTPResponse) -> Iterator[bytes]:
    buffer = b""
    for chunk in stream.stream(amt=None, decode_content=True):
        buffer += chunk
        *lines, buffer = buffer.split(b"\n")
        yield from (line for line in lines if line.strip())
