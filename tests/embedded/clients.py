"""How tests talk to the embedded cluster: the real kubectl, and plain HTTP."""

from __future__ import annotations

import base64
import http.client
import json
import os
import ssl
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

Completed = subprocess.CompletedProcess[str]
_LIMIT_S = 60


class Reachable(Protocol):
    """A cluster as its clients know it."""

    url: str
    kubeconfig: Path


class Kubectl:
    """Runs the `kubectl` on PATH with a home of its own: `kubectl("get", "pods")` returns what it printed."""

    def __init__(self, kubeconfig: Path, home: Path, namespace: str = "default") -> None:
        self.kubeconfig = kubeconfig
        self.home = home
        self.namespace = namespace

    def run(self, *arguments: str, stdin: str | None = None, limit_s: float = _LIMIT_S) -> Completed:
        """Run it, whatever comes of it."""
        return subprocess.run(
            ["kubectl", "--namespace", self.namespace, *arguments],
            env=self.environment,
            input="" if stdin is None else stdin,
            capture_output=True,
            text=True,
            timeout=limit_s,
            check=False,
        )

    def __call__(self, *arguments: str, stdin: str | None = None, limit_s: float = _LIMIT_S) -> str:
        """Run it; fails the test with kubectl's own words if it fails."""
        done = self.run(*arguments, stdin=stdin, limit_s=limit_s)
        assert done.returncode == 0, f"kubectl {' '.join(arguments)}: {done.stderr or done.stdout}"
        return done.stdout

    def refused(self, *arguments: str, stdin: str | None = None) -> str:
        """Run what must fail; returns what kubectl says about it."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode != 0, f"kubectl {' '.join(arguments)} did not fail: {done.stdout}"
        return done.stderr.strip()

    def json(self, *arguments: str) -> Any:
        """`kubectl … -o json`."""
        return json.loads(self(*arguments, "-o", "json"))

    def apply(self, *objects: Mapping[str, Any]) -> str:
        """Client-side apply of objects."""
        items = {"apiVersion": "v1", "kind": "List", "items": list(objects)}
        return self("apply", "-f", "-", stdin=json.dumps(items))

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        """Start it and return the process: for watches. The caller ends it."""
        return subprocess.Popen(
            ["kubectl", "--namespace", self.namespace, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "KUBECACHEDIR": str(self.home / "cache"),
            "KUBECONFIG": str(self.kubeconfig),
        }


@dataclass(frozen=True)
class Answer:
    """An HTTP answer; `body` is the parsed JSON, or the text if it is none."""

    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass
class Http:
    """Requests to the API server, as a bearer token's owner."""

    address: str
    authority: str
    token: str | None
    headers: dict[str, str] = field(default_factory=dict)
    _connection: http.client.HTTPSConnection | None = field(default=None, repr=False)

    @classmethod
    def to(cls, cluster: Reachable, token: str | None = None) -> Http:
        """As the administrator, or as the owner of `token`."""
        config = json.loads(cluster.kubeconfig.read_text())
        authority = base64.b64decode(config["clusters"][0]["cluster"]["certificate-authority-data"]).decode()
        return cls(cluster.url, authority, token or config["users"][0]["user"]["token"])

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        content_type: str = "application/json",
        **headers: str,
    ) -> Answer:
        self._connection = self._connection or self._connect()
        self._send(self._connection, method, path, body, content_type, headers)
        response = self._connection.getresponse()
        data = response.read().decode()
        try:
            parsed = json.loads(data)
        except ValueError:
            parsed = data
        return Answer(response.status, dict(response.headers.items()), parsed)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.request("GET", path, **headers)

    def create(self, path: str, body: Any) -> Any:
        """Create an object and return it as stored; fails the test if it is refused."""
        answer = self.request("POST", path, body)
        assert answer.status == 201, answer.body
        return answer.body

    def patch(self, path: str, body: Any, kind: str = "merge") -> Answer:
        """`kind`: merge, strategic-merge, json."""
        suffix = "json-patch+json" if kind == "json" else f"{kind}-patch+json"
        return self.request("PATCH", path, body, content_type=f"application/{suffix}")

    def lines(self, path: str, **headers: str) -> Iterator[Any]:
        """The events of a watch as they come, until the server ends it."""
        connection = self._connect()
        try:
            self._send(connection, "GET", path, None, "", headers)
            response = connection.getresponse()
            while line := response.readline():
                yield json.loads(line)
        finally:
            connection.close()

    def _connect(self) -> http.client.HTTPSConnection:
        context = ssl.create_default_context(cadata=self.authority)
        return http.client.HTTPSConnection(self.address.removeprefix("https://"), context=context, timeout=_LIMIT_S)

    def _send(
        self,
        connection: http.client.HTTPSConnection,
        method: str,
        path: str,
        body: Any,
        content_type: str,
        headers: Mapping[str, str],
    ) -> None:
        sent = dict(self.headers)
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            sent["Content-Type"] = content_type
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        data = body if isinstance(body, str | bytes) else None if body is None else json.dumps(body)
        connection.request(method, path, data, sent)
