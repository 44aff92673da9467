"""An API server without controllers or nodes: what a test stores stays as it is."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

from pytest_microremed.embedded.api.control_plane import ControlPlane
from pytest_microremed.embedded.api.runtime import ExecResult, LogLine, RuntimeRefused, Usage
from pytest_microremed.embedded.api.store import Object, Store

_LIMIT_S = 20


class FakeRuntime:
    """Nodes that tests dictate: `logs_of`, `usage_of` and `refusals` by pod name; commands echo what they got."""

    def __init__(self) -> None:
        self.logs_of: dict[str, list[LogLine]] = {}
        self.previous_logs_of: dict[str, list[LogLine]] = {}
        self.usage_of: dict[str, dict[str, Usage]] = {}
        self.refusals: dict[str, RuntimeRefused] = {}
        self.started = threading.Event()
        self.cancelled = threading.Event()

    async def execute(self, pod: Object, container: str, command: Sequence[str], stdin: bytes) -> ExecResult:
        self._refuse(pod)
        if command[0] == "exit":
            return ExecResult(b"", b"failed\n", int(command[1]))
        if command[0] == "cat":
            return ExecResult(stdin)
        if command[0] == "crash":
            raise ZeroDivisionError(command[0])
        if command[0] == "hang":
            self.started.set()
            try:
                await asyncio.sleep(_LIMIT_S)
            finally:
                self.cancelled.set()
        return ExecResult(f"{container}: {' '.join(command)}\n".encode())

    def logs(self, pod: Object, container: str, *, previous: bool) -> list[LogLine]:
        self._refuse(pod)
        return list((self.previous_logs_of if previous else self.logs_of).get(pod["metadata"]["name"], []))

    def pod_usage(self, pod: Object) -> dict[str, Usage] | None:
        return self.usage_of.get(pod["metadata"]["name"])

    def node_usage(self, node: Object) -> Usage:
        return Usage(1.5, 2 * 2**30)

    def _refuse(self, pod: Object) -> None:
        refusal = self.refusals.get(pod["metadata"]["name"])
        if refusal is not None:
            raise refusal


class BareCluster:
    """The API server alone, in a thread like the embedded cluster's."""

    def __init__(self, folder: Path) -> None:
        self.runtime = FakeRuntime()
        self.store = Store()
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._control_plane = ControlPlane(self.store, folder, self._loop)
        self.kubeconfig = self._control_plane.kubeconfig

    def start(self) -> None:
        self._thread.start()
        self.url = self._call(self._control_plane.start(self.runtime))

    def stop(self) -> None:
        self._call(self._control_plane.stop())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_LIMIT_S)
        self._loop.close()

    def change(self, function: Callable[[Store], None]) -> None:
        """Change the store behind the API's back, on the server's loop."""

        async def call() -> None:
            function(self.store)

        self._call(call())

    def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_LIMIT_S)
