"""nc and telnet: TCP connections through the simulated network."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_PATIENCE_S = 127.0


@command("nc", "netcat", "ncat")
async def nc(call: Call) -> int:
    options, operands = call.options("zvw:unlp:kq:i:G:46NC", ["zero", "verbose", "wait="])
    if "l" in options:
        await call.services.clock.sleep(float("1e9"))
    if len(operands) < 2:
        raise CommandError("usage: nc [OPTIONS] HOST PORT")
    host = operands[0]
    ports = _ports(operands[1:])
    patience = float(options.get("w") or options.get("wait") or options.get("G") or _PATIENCE_S)
    verbose = "v" in options or "verbose" in options
    scan = "z" in options or "zero" in options
    status = 1
    for port in ports:
        if "u" in options:
            status = 0
            continue
        connection = call.services.network.connect(call.container.pod, host, port, patience)
        await call.services.clock.sleep(connection.latency_s)
        if connection.status == "unresolved":
            raise CommandError(f"bad address '{host}'")
        where = f"{host} ({connection.ip}:{port})"
        if connection.status == "open":
            status = 0
            if verbose:
                call.err.write(f"{where} open\n".encode())
            if not scan:
                await _talk(call, host, port)
        elif verbose or not scan:
            why = "Connection refused" if connection.status == "refused" else "Operation timed out"
            call.err.write(f"nc: {where}: {why}\n".encode())
    return status


def _ports(words: list[str]) -> list[int]:
    ports: list[int] = []
    for word in words:
        first, _, last = word.partition("-")
        if not first.isdigit() or (last and not last.isdigit()):
            raise CommandError(f"bad port '{word}'")
        ports += range(int(first), int(last or first) + 1)
    if not ports or max(ports) > 65535 or len(ports) > 1024:
        raise CommandError(f"bad port '{' '.join(words)}'")
    return ports


async def _talk(call: Call, host: str, port: int) -> None:
    """Send standard input; an HTTP request line gets the server's answer."""
    words = (await call.stdin.read()).decode("utf-8", "replace").split()
    if len(words) >= 2 and words[0] in ("GET", "HEAD"):
        answer = call.services.network.request(call.container.pod, host, port, words[1])
        await call.services.clock.sleep(answer.latency_s)
        body = getattr(answer, "body", None)
        if body is not None:
            head = f"HTTP/1.1 {getattr(answer, 'status', 200)} OK\r\nContent-Length: {len(body)}\r\n\r\n"
            call.print(head + ("" if words[0] == "HEAD" else body), end="")
    elif words == ["PING"] and port == 6379:
        call.print("+PONG\r")


@command("telnet")
async def telnet(call: Call) -> int:
    operands = [word for word in call.args[1:] if not word.startswith("-")]
    if not operands:
        raise CommandError("usage: telnet HOST [PORT]")
    port = int(operands[1]) if len(operands) > 1 and operands[1].isdigit() else 23
    connection = call.services.network.connect(call.container.pod, operands[0], port)
    await call.services.clock.sleep(connection.latency_s)
    if connection.status == "unresolved":
        raise CommandError(f"bad address '{operands[0]}'")
    if connection.status != "open":
        why = "Connection refused" if connection.status == "refused" else "Operation timed out"
        raise CommandError(f"can't connect to remote host ({connection.ip}): {why}")
    call.print(f"\nConnected to {operands[0]}\n")
    return 0
