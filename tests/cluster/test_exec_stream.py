"""What an API server may do to an exec besides answering it."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest
from aiohttp import web

from pytest_microremed.cluster.cluster import Cluster, ExecOutput, RequestFailed
from pytest_microremed.errors import WaitTimeout
from tests.cluster.stub import write_kubeconfig

Behaviour = Callable[[web.WebSocketResponse], Awaitable[None]]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Callable[[Behaviour], ExecOutput]]:
    """Executes a command at a server that behaves so, with a limit of half a second."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    runners: list[web.AppRunner] = []

    async def serve(behaviour: Behaviour) -> int:
        async def execute(request: web.Request) -> web.StreamResponse:
            socket = web.WebSocketResponse(protocols=("v5.channel.k8s.io",))
            await socket.prepare(request)
            await behaviour(socket)
            return socket

        application = web.Application()
        application.router.add_get("/{path:.*}", execute)
        runners.append(web.AppRunner(application, shutdown_timeout=0.1))
        await runners[-1].setup()
        site = web.TCPSite(runners[-1], "127.0.0.1", 0)
        await site.start()
        return int(runners[-1].addresses[0][1])

    def execute(behaviour: Behaviour) -> ExecOutput:
        port = asyncio.run_coroutine_threadsafe(serve(behaviour), loop).result(10)
        write_kubeconfig(tmp_path / "config", f"http://127.0.0.1:{port}")
        cluster = Cluster(tmp_path / "config")
        try:
            return cluster.execute("shop", "web", "probe", ["do", "it"], timeout_s=0.5)
        finally:
            cluster.close()

    yield execute
    for runner in runners:
        asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def status(**fields: object) -> bytes:
    return b"\x03" + json.dumps({"kind": "Status", **fields}).encode()


def test_streams_are_told_apart_and_characters_survive_the_cut(run: Callable[[Behaviour], ExecOutput]) -> None:
    async def answers(socket: web.WebSocketResponse) -> None:
        first, second = "ü".encode()[:1], "ü".encode()[1:]
        for message in (b"\x01" + first, b"\x02oops", b"\x01" + second, b"\xff\x01", status(status="Success")):
            await socket.send_bytes(message)

    assert run(answers) == ExecOutput("ü", "oops", 0)


def test_endless_output_is_cut_at_the_limit(run: Callable[[Behaviour], ExecOutput]) -> None:
    async def answers(socket: web.WebSocketResponse) -> None:
        while not socket.closed:
            await socket.send_bytes(b"\x01y\n")
            await asyncio.sleep(0.01)

    with pytest.raises(WaitTimeout, match=r"Pod shop/web container probe: end of `do it`: not so after 0\.5 s"):
        run(answers)


def test_a_connection_that_ends_early_is_no_exit_code(run: Callable[[Behaviour], ExecOutput]) -> None:
    async def answers(socket: web.WebSocketResponse) -> None:
        await socket.send_bytes(b"\x01half")

    with pytest.raises(RequestFailed, match="the connection ended before the command did"):
        run(answers)


def test_a_failure_without_an_exit_code_is_told(run: Callable[[Behaviour], ExecOutput]) -> None:
    async def answers(socket: web.WebSocketResponse) -> None:
        await socket.send_bytes(status(status="Failure", code=500, message="OCI runtime exec failed"))

    with pytest.raises(RequestFailed, match="500: OCI runtime exec failed"):
        run(answers)
