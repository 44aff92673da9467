"""Commands in containers over WebSocket (`v5.channel.k8s.io`, `v4.channel.k8s.io`).

Each message is one byte that names a channel, then data: 0 stdin, 1 stdout, 2 stderr, 3 the final Status,
4 terminal sizes; 255 (v5) closes the channel named by the next byte. SPDY is not served: kubectl does without
from 1.31 on.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from aiohttp import WSMsgType, web

from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.containers import chosen_container, refusal
from pytest_microremed.embedded.api.encoding import dump
from pytest_microremed.embedded.api.errors import bad_request, internal
from pytest_microremed.embedded.api.reading import get
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.runtime import ExecResult, RuntimeRefused
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.streaming import streaming

_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_STDIN, _STDOUT, _STDERR, _ERROR, _CLOSE = 0, 1, 2, 3, 255
_CHUNK = 32 * 1024
_QUIET_S = {"v5.channel.k8s.io": 2.0, "v4.channel.k8s.io": 0.3}
"""How long a client may keep stdin open without sending before its command runs with what has come: v4 cannot
say that stdin has ended, and a terminal never ends it."""
_CLOSE_S = 2.0
_logger = logging.getLogger(__name__)
_TERMINAL = ("Succeeded", "Failed")


async def execute(api: Api, request: web.BaseRequest, info: RequestInfo) -> web.StreamResponse:
    """Run a command and stream its output. Raises ApiError 400, 404 before the connection is upgraded."""
    pod = get(api, info, PODS)
    container = chosen_container(pod, info.param("container"))
    _check(pod)
    command = info.params("command")
    if not command:
        raise bad_request("you must specify at least one command for the container")
    if request.headers.get("Upgrade", "").lower() != "websocket":
        raise bad_request("unable to upgrade: only WebSocket is served (kubectl 1.31 or later), not SPDY")
    socket = web.WebSocketResponse(protocols=_PROTOCOLS, timeout=_CLOSE_S)
    async with streaming(request, socket):
        stdin = await _read_stdin(socket) if info.flag("stdin") else b""
        try:
            result = await _run(socket, api.runtime.execute(pod, container, command, stdin))
        except RuntimeRefused as error:
            status = refusal(error).status()
        except ConnectionResetError:
            raise
        except Exception as error:
            _logger.exception("%s", " ".join(command))
            status = internal(repr(error)).status()  # without a status, clients take it for success
        else:
            status = _exit_status(result.exit_code)
            await _send(socket, _STDOUT, result.stdout)
            await _send(socket, _STDOUT if info.flag("tty") else _STDERR, result.stderr)
        await _send(socket, _ERROR, dump(status))
        await socket.close()
    return socket


def _check(pod: Object) -> None:
    name, phase = pod["metadata"]["name"], pod.get("status", {}).get("phase")
    if phase in _TERMINAL:
        raise bad_request(f"cannot exec into a container in a completed pod; current phase is {phase}")
    if not pod["spec"].get("nodeName"):
        raise bad_request(f"pod {name} does not have a host assigned")


async def _read_stdin(socket: web.WebSocketResponse) -> bytes:
    """What the client sends until it closes stdin, leaves, or is quiet."""
    quiet_s = _QUIET_S[socket.ws_protocol or _PROTOCOLS[-1]]
    received = bytearray()
    while True:
        try:
            message = await socket.receive(timeout=quiet_s)
        except TimeoutError:
            return bytes(received)
        if message.type is not WSMsgType.BINARY:
            return bytes(received)
        channel, data = message.data[0], message.data[1:]
        if channel == _CLOSE and data[:1] == bytes([_STDIN]):
            return bytes(received)
        if channel == _STDIN:
            received += data


async def _run(socket: web.WebSocketResponse, command: Coroutine[Any, Any, ExecResult]) -> ExecResult:
    """Wait for the command, answering pings meanwhile; a client that leaves takes its command with it."""
    running, listening = asyncio.ensure_future(command), asyncio.ensure_future(_listen(socket))
    try:
        await asyncio.wait({running, listening}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            raise ConnectionResetError("the client left while its command ran")
        return running.result()
    finally:
        running.cancel()
        listening.cancel()
        await asyncio.wait({running, listening})


async def _listen(socket: web.WebSocketResponse) -> None:
    async for _ in socket:
        pass  # late stdin and terminal sizes have no effect on a command that runs already


async def _send(socket: web.WebSocketResponse, channel: int, data: bytes) -> None:
    for start in range(0, len(data), _CHUNK):
        await socket.send_bytes(bytes([channel]) + data[start : start + _CHUNK])


def _exit_status(code: int) -> Object:
    if code == 0:
        return {"metadata": {}, "status": "Success"}
    return {
        "metadata": {},
        "status": "Failure",
        "message": f"command terminated with non-zero exit code: exit status {code}",
        "reason": "NonZeroExitCode",
        "details": {"causes": [{"reason": "ExitCode", "message": str(code)}]},
    }
