"""Running a command in a container over the API server's WebSocket, with a firm time limit.

Kubernetes: the exec subresource with subprotocol v5.channel.k8s.io, or v4 on servers before 1.30; one byte in
front of each message says which stream it belongs to.
"""

from __future__ import annotations

import json
import ssl
import time
import urllib.parse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_microremed.cluster.connection import CONNECT_TIMEOUT_S, Connection, RequestFailed
from pytest_microremed.errors import WaitTimeout

_STDOUT, _STDERR, _STATUS = 1, 2, 3
_SUBPROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")


@dataclass(frozen=True)
class ExecOutput:
    """What a command wrote, and how it ended."""

    stdout: str
    stderr: str
    exit_code: int


def run(
    connection: Connection, path: str, what: str, command: Sequence[str], container: str, timeout_s: float
) -> ExecOutput:
    """Run `command` and wait for its end, at most `timeout_s` of wall-clock time.

    Raises RequestFailed if the container cannot run it, WaitTimeout if it has not ended in time (it may go on
    running).
    """
    from websocket import WebSocketException, WebSocketTimeoutException

    deadline = time.monotonic() + timeout_s
    query = [
        ("container", container),
        ("stdout", "true"),
        ("stderr", "true"),
        *(("command", c) for c in command),
    ]
    url = "ws" + connection.server.removeprefix("http") + path + "?" + urllib.parse.urlencode(query)
    streams: dict[int, bytearray] = {_STDOUT: bytearray(), _STDERR: bytearray(), _STATUS: bytearray()}
    try:
        socket = _connect(connection, url, min(timeout_s, CONNECT_TIMEOUT_S))
        try:
            _receive(socket, streams, deadline)
        finally:
            socket.shutdown()
    except (WebSocketTimeoutException, TimeoutError):
        raise WaitTimeout(f"{what}: end of `{' '.join(command)}`", timeout_s) from None
    except (WebSocketException, OSError) as error:
        raise _failure(error, what) from None
    return ExecOutput(
        streams[_STDOUT].decode(errors="replace"),
        streams[_STDERR].decode(errors="replace"),
        _exit_code(bytes(streams[_STATUS]), what),
    )


def _connect(connection: Connection, url: str, timeout_s: float) -> Any:
    from websocket import create_connection

    configuration = connection.configuration
    tls: dict[str, Any] = {"cert_reqs": ssl.CERT_REQUIRED if configuration.verify_ssl else ssl.CERT_NONE}
    tls["check_hostname"] = configuration.verify_ssl and configuration.assert_hostname is not False
    optional = {
        "ca_certs": configuration.ssl_ca_cert,
        "certfile": configuration.cert_file,
        "keyfile": configuration.key_file,
        "server_hostname": configuration.tls_server_name,
    }
    tls |= {key: value for key, value in optional.items() if value}
    options: dict[str, Any] = {"http_no_proxy": ["*"]}
    if configuration.proxy:
        proxy = urllib.parse.urlsplit(configuration.proxy)
        options = {"http_proxy_host": proxy.hostname, "http_proxy_port": proxy.port, "proxy_type": "http"}
    return create_connection(
        url,
        timeout=timeout_s,
        header=connection.authorization(),
        subprotocols=list(_SUBPROTOCOLS),
        suppress_origin=True,
        sslopt=tls,
        **options,
    )


def _receive(socket: Any, streams: dict[int, bytearray], deadline: float) -> None:
    """Collect the streams until the server closes the connection."""
    from websocket import ABNF

    while True:
        socket.settimeout(max(deadline - time.monotonic(), 0.001))
        opcode, data = socket.recv_data()
        if opcode == ABNF.OPCODE_CLOSE:
            return
        if data and data[0] in streams:  # 255 is v5's "a stream has ended"
            streams[data[0]] += data[1:]
        if time.monotonic() > deadline:
            raise TimeoutError


def _exit_code(status: bytes, what: str) -> int:
    """The exit code out of the Status object that ends the exec."""
    try:
        report = json.loads(status)
    except ValueError:
        raise RequestFailed("EXEC", what, 0, "the connection ended before the command did") from None
    if report.get("status") == "Success":
        return 0
    for cause in report.get("details", {}).get("causes", ()):
        if cause.get("reason") == "ExitCode":
            return int(cause["message"])
    raise RequestFailed("EXEC", what, report.get("code", 500), report.get("message", "failed"))


def _failure(error: Exception, what: str) -> RequestFailed:
    """A refused handshake carries the API server's Status in its body."""
    status = getattr(error, "status_code", 0) or 0
    body = getattr(error, "resp_body", None) or b""
    try:
        message = json.loads(body)["message"]
    except (ValueError, KeyError, TypeError):
        message = str(error)
    return RequestFailed("EXEC", what, status, message)
