"""The connection to one API server: address, credentials and transport out of a kubeconfig, JSON in and out.

The `kubernetes` package reads the kubeconfig and does TLS and authentication; its models are left aside,
since building them costs more than the request.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_microremed.errors import ClusterError

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 30.0
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class RequestFailed(ClusterError):
    """The API server refused a request, or could not be reached (`status` is 0 then)."""

    def __init__(self, verb: str, what: str, status: int, message: str) -> None:
        self.verb = verb
        self.what = what
        self.status = status
        self.message = message
        super().__init__(f"{verb} {what}: {status or 'no answer'}: {message}")


class Conflict(RequestFailed):
    """409: the object is there already, or has changed since it was read."""


class Connection:
    """One API server and one identity. Thread-safe."""

    def __init__(self, kubeconfig: Path, context: str | None = None) -> None:
        """Read this kubeconfig and no other; ClusterError if it is missing or does not name the context."""
        from kubernetes import client
        from kubernetes.config import ConfigException, kube_config

        self.configuration: Any = client.Configuration()
        try:
            load: Any = kube_config.load_kube_config
            load(str(kubeconfig), context, self.configuration, persist_config=False)
        except (ConfigException, OSError) as error:
            raise ClusterError(f"kubeconfig {kubeconfig}: {error}") from None
        self.server: str = self.configuration.host.rstrip("/")
        if urllib.parse.urlsplit(self.server).hostname in _LOOPBACK:
            self.configuration.proxy = None  # HTTP_PROXY would send what is on this machine to another
        self._client: Any = client.ApiClient(self.configuration)

    def request(
        self,
        verb: str,
        path: str,
        what: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> Any:
        """The JSON answer of one request. `what` names the object in errors: RequestFailed, Conflict."""
        from urllib3 import Retry, Timeout
        from urllib3.exceptions import HTTPError

        url = self.server + path + (f"?{urllib.parse.urlencode(query)}" if query else "")
        headers = {"Accept": "application/json", **self.authorization()}
        if body is not None:
            headers["Content-Type"] = content_type
        # A refused connection and "429 Retry-After" are safe to try again; a lost answer only of a read.
        retries = Retry(
            connect=2,
            status=3,
            read=1 if verb == "GET" else 0,
            redirect=0,
            backoff_factor=0.1,
            allowed_methods=None,
            raise_on_status=False,
        )
        try:
            answer = self._client.rest_client.pool_manager.request(
                verb,
                url,
                body=None if body is None else json.dumps(body),
                headers=headers,
                timeout=Timeout(connect=CONNECT_TIMEOUT_S, read=READ_TIMEOUT_S),
                retries=retries,
            )
        except HTTPError as error:
            raise RequestFailed(verb, what, 0, f"{self.server}: {error}") from None
        if answer.status >= 400:
            failure = Conflict if answer.status == 409 else RequestFailed
            raise failure(verb, what, answer.status, _message(answer.data))
        try:
            return json.loads(answer.data)
        except ValueError:
            raise RequestFailed(verb, what, answer.status, "the answer is no JSON") from None

    def open_stream(self, path: str, query: Mapping[str, str], read_timeout_s: float) -> BaseHTTPResponse:
        """The answer to a watch, to be read as it comes: its lines are JSON. Whoever opens it closes it.

        Raises urllib3's HTTPError where no answer begins, now or while it is read.
        """
        from urllib3 import Timeout

        answer: BaseHTTPResponse = self._client.rest_client.pool_manager.request(
            "GET",
            f"{self.server}{path}?{urllib.parse.urlencode(query)}",
            headers={"Accept": "application/json", **self.authorization()},
            timeout=Timeout(connect=CONNECT_TIMEOUT_S, read=read_timeout_s),
            retries=False,
            preload_content=False,
        )
        return answer

    def authorization(self) -> dict[str, str]:
        """The request headers that say who we are; empty with client certificates."""
        settings = self.configuration.auth_settings().values()
        return {setting["key"]: setting["value"] for setting in settings if setting["in"] == "header"}

    def close(self) -> None:
        self._client.close()


def _message(data: bytes) -> str:
    """The message of a Status object, or what there is."""
    text = data.decode(errors="replace").strip()
    try:
        return str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        return text[:500]
