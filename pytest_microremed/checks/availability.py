"""How long a Service had nobody to send requests to, seen from its Endpoints as they change."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import ENDPOINTS, Obj
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
    """Cluster seconds without any ready endpoint; None where there is no Service to watch."""
    down_at_start: bool


class AvailabilityMonitor:
    """Watches the Endpoints of one Service in a thread of its own, from `start` to `stop`.

    A watch that ends, breaks or falls silent is begun anew with a fresh list; what happened in between is
    then seen as late as that.
    """

    def __init__(self, cluster: Cluster, namespace: str, service: str | None) -> None:
        self._cluster = cluster
        self._service = service
        self._path = ENDPOINTS.path(namespace)
        self._query = {"fieldSelector": f"metadata.name={service}"}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._stream: BaseHTTPResponse | None = None
        self._thread = threading.Thread(target=self._run, name=f"availability of {service}", daemon=True)
        self._down_since: float | None = None
        self._down_at_start = False
        self._disruption_s = 0.0
        self._version = ""

    def start(self) -> None:
        """Look once, and go on watching. Raises ClusterError if the first look fails."""
        if self._service is None:
            return
        self._version = self._list()
        self._down_at_start = self._down_since is not None
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
        self._note(ready=True)  # counts an interruption that is still going on
        return Availability(self._disruption_s, self._down_at_start)

    def _run(self) -> None:
        from urllib3.exceptions import HTTPError

        while not self._stopped.is_set():
            try:
                for event in self._events():
                    self._note(ready=event["type"] != "DELETED" and has_endpoint(event["object"]))
                if not self._stopped.is_set():
                    self._version = self._list()
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

    def _list(self) -> str:
        """Note the state of now; the version to watch from."""
        found = self._cluster.connection.request(
            "GET", self._path, f"Endpoints of {self._service}", query=self._query
        )
        self._note(ready=any(has_endpoint(item) for item in found["items"] or []))
        version: str = found["metadata"]["resourceVersion"]
        return version

    def _note(self, *, ready: bool) -> None:
        now = self._cluster.clock.now()
        if not ready and self._down_since is None:
            self._down_since = now
        elif ready and self._down_since is not None:
            self._disruption_s += now - self._down_since
            self._down_since = None


def has_endpoint(endpoints: Obj) -> bool:
    """Whether an Endpoints object has a ready address."""
    return any(subset.get("addresses") for subset in endpoints.get("subsets") or [])


def _lines(stream: BaseHTTPResponse) -> Iterator[bytes]:
    buffer = b""
    for chunk in stream.stream(amt=None, decode_content=True):
        buffer += chunk
        *lines, buffer = buffer.split(b"\n")
        yield from (line for line in lines if line.strip())
