"""grpc_health_probe, the health check that gRPC images bring along (grpc.health.v1)."""

from __future__ import annotations

import re

from pytest_microremed.embedded.sim.network import Failure
from pytest_microremed.embedded.sim.shell.registry import Call, command

INVALID, CONNECTION_FAILED, CALL_FAILED, UNHEALTHY = 1, 2, 3, 4
"""Exit codes, as the real tool's documentation lists them."""
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}


@command("grpc_health_probe", where="on request")
async def grpc_health_probe(call: Call) -> int:
    options = dict(word.lstrip("-").partition("=")[::2] for word in call.args[1:])
    address = options.get("addr", "")
    host, _, port = address.rpartition(":")
    if not port.isdigit():
        problem = f"bad -addr {address}" if address else "-addr not specified"
        call.err.write(f"error: {problem}\n".encode())
        return INVALID
    connect_s = _seconds(options.get("connect-timeout", "1s"))
    rpc_s = _seconds(options.get("rpc-timeout", "1s"))
    answer = call.services.network.health(call.container.pod, host or "localhost", int(port), connect_s + rpc_s)
    if isinstance(answer, Failure):
        await call.services.clock.sleep(answer.latency_s)
        if answer.connected:
            call.err.write(f"timeout: health rpc did not complete within {rpc_s:g}s\n".encode())
            return CALL_FAILED
        call.err.write(f'timeout: failed to connect service "{address}" within {connect_s:g}s\n'.encode())
        return CONNECTION_FAILED
    if answer == "UNIMPLEMENTED":
        call.err.write(b"error: this server does not implement the grpc health protocol\n")
        return CALL_FAILED
    program = call.container.program
    await call.services.clock.sleep(program.seconds() if program else 0.0)
    if answer == "NOT_SERVING":
        call.err.write(b'service unhealthy (responded with "NOT_SERVING")\n')
        return UNHEALTHY
    call.print("status: SERVING")
    return 0


def _seconds(duration: str) -> float:
    match = _DURATION.fullmatch(duration)
    return float(match[1]) * _UNITS[match[2]] if match else 1.0
