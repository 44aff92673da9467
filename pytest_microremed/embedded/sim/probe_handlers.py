"""What a probe does: a request, a connection, a gRPC health check or a command; told in a kubelet's words."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.model import Container
from pytest_microremed.embedded.sim.network import Failure, Network
from pytest_microremed.embedded.sim.shell import ShellServices, run_command
from pytest_microremed.embedded.sim.shell.services import NodeFacts
from pytest_microremed.embedded.sim.usage import cpu_demand, cpu_limit

EXEC_CPU_S = 0.003
"""CPU seconds for starting a command in a container."""


@dataclass(frozen=True)
class Result:
    """`ok` None = the probe itself could not be done."""

    ok: bool | None
    message: str = ""


class _BudgetClock(SimClock):
    """A clock that spends instead of waiting: a probe's command takes its time, but nobody waits for it.

    So its time limit holds in simulated seconds, however late the event loop is.
    """

    def __init__(self, clock: SimClock, limit_s: float, spent_s: float) -> None:
        super().__init__(clock.loop, clock.speed)
        self._limit_s = limit_s
        self._spent_s = spent_s
        self._started = clock.seconds()

    def seconds(self) -> float:
        return self._started + self._spent_s

    async def sleep(self, seconds: float) -> None:
        self._spent_s += seconds
        if self._spent_s > self._limit_s:
            raise TimeoutError


class ProbeHandlers:
    """Carries probes out from the node."""

    def __init__(self, network: Network, clock: SimClock, node: NodeFacts) -> None:
        self._network = network
        self._clock = clock
        self._node = node

    async def check(self, probe: Mapping[str, Any], container: Container, timeout_s: float) -> Result:
        """Do what the probe says, within its time limit."""
        if action := probe.get("httpGet"):
            return self._http(action, container, timeout_s)
        if action := probe.get("tcpSocket"):
            return self._tcp(action, container, timeout_s)
        if action := probe.get("grpc"):
            return self._grpc(action, container, timeout_s)
        return await self._exec((probe.get("exec") or {}).get("command") or [], container, timeout_s)

    def _http(self, action: Mapping[str, Any], container: Container, timeout_s: float) -> Result:
        host = action.get("host") or container.pod.ip
        port = _port_number(action["port"], container)
        if port is None:
            return Result(None, f"couldn't find port {action['port']!r} in container")
        scheme, path = action.get("scheme", "HTTP").lower(), action.get("path") or "/"
        answer = self._network.request(None, host, port, path, timeout_s)
        request = f'Get "{scheme}://{host}:{port}/{path.lstrip("/")}"'
        if isinstance(answer, Failure):
            words = {
                "refused": f"dial tcp {host}:{port}: connect: connection refused",
                "timeout": "context deadline exceeded (Client.Timeout exceeded while awaiting headers)",
                "unresolved": f"dial tcp: lookup {host}: no such host",
                "reset": "EOF",
            }
            return Result(False, f"{request}: {words[answer.reason]}")
        if scheme == "https":
            return Result(False, f"{request}: http: server gave HTTP response to HTTPS client")
        if 200 <= answer.status < 400:
            return Result(True)
        return Result(False, f"HTTP probe failed with statuscode: {answer.status}")

    def _tcp(self, action: Mapping[str, Any], container: Container, timeout_s: float) -> Result:
        host = action.get("host") or container.pod.ip
        port = _port_number(action["port"], container)
        if port is None:
            return Result(None, f"couldn't find port {action['port']!r} in container")
        connection = self._network.connect(None, host, port, timeout_s)
        if connection.status == "open":
            return Result(True)
        words = "connect: connection refused" if connection.status == "refused" else "i/o timeout"
        return Result(False, f"dial tcp {host}:{port}: {words}")

    def _grpc(self, action: Mapping[str, Any], container: Container, timeout_s: float) -> Result:
        host, port = container.pod.ip, action["port"]
        answer = self._network.health(None, host, port, timeout_s)
        if isinstance(answer, Failure):
            seconds = f"{timeout_s:g}s"
            reason = "connection refused" if answer.reason == "refused" else "context deadline exceeded"
            return Result(False, f'timeout: failed to connect service "{host}:{port}" within {seconds}: {reason}')
        if answer == "UNIMPLEMENTED":
            return Result(False, "this server does not implement the grpc health protocol (grpc.health.v1.Health)")
        return Result(answer == "SERVING", f'service unhealthy (responded with "{answer}")')

    async def _exec(self, command: list[str], container: Container, timeout_s: float) -> Result:
        starved = EXEC_CPU_S * (1 + cpu_demand(container)) / cpu_limit(container)
        clock = _BudgetClock(self._clock, timeout_s, starved)
        services = ShellServices(self._network, clock, self._node)
        try:
            await clock.sleep(0)
            result = await run_command(container, command, b"", services)
        except TimeoutError:
            return Result(False, f'command timed out: "{shlex.join(command)}" timed out after {timeout_s:g}s')
        output = (result.stdout + result.stderr).decode(errors="replace").strip()
        if result.exit_code in (126, 127) and "OCI runtime exec failed" in output:
            return Result(None, f"rpc error: code = Unknown desc = failed to exec in container: {output}")
        return Result(result.exit_code == 0, output)


def _port_number(port: int | str, container: Container) -> int | None:
    """A named port of the container as a number."""
    if isinstance(port, int) or port.isdigit():
        return int(port)
    return next((p["containerPort"] for p in container.spec.get("ports") or () if p.get("name") == port), None)
