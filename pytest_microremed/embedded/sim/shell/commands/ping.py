"""ping: echo requests through the simulated network."""

from __future__ import annotations

import statistics

from pytest_microremed.embedded.sim.shell.dialect import speaks_dash
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.users import capabilities


@command("ping", "ping6")
async def ping(call: Call) -> int:
    options, operands = call.options("c:W:w:i:s:I:t:M:O4n6qAfvDbp:", ["help"])
    if not operands:
        raise CommandError("usage error: Destination address required", 1)
    try:
        count = int(options["c"]) if "c" in options else None
        patience = float(options.get("W", 10))
        deadline = float(options["w"]) if "w" in options else None
        interval = 0.2 if "A" in options else float(options.get("i", 1))
        size = int(options.get("s", 56))
    except ValueError as error:
        raise CommandError(f"invalid argument: {str(error).rsplit(':', 1)[-1].strip()}") from None
    if count is not None and count < 1:
        raise CommandError(f"invalid argument: '{count}': out of range: 1 <= value <= 9223372036854775807", 1)
    if "NET_RAW" not in capabilities(call.container):
        raise CommandError("permission denied (are you root?)")
    return await _Ping(call, operands[-1], count, patience, deadline, interval, size, "q" in options).run()


class _Ping:
    def __init__(
        self, call: Call, host: str, count: int | None, patience: float, deadline: float | None, interval: float,
        size: int, quiet: bool,
    ) -> None:  # fmt: skip
        self.call = call
        self.host = host
        self.count = count
        self.patience = patience
        self.deadline = deadline
        self.interval = interval
        self.size = size
        self.quiet = quiet
        self.iputils = speaks_dash(call.container)
        self.trips: list[float | None] = []

    async def run(self) -> int:
        call = self.call
        pod, network = call.container.pod, call.services.network
        ip = network.ping(pod, self.host, 0).ip
        if ip is None:
            await call.services.clock.sleep(0.01)
            text = f"{self.host}: Name or service not known" if self.iputils else f"bad address '{self.host}'"
            raise CommandError(text, 2 if self.iputils else 1)
        whole = self.size + 28
        call.print(
            f"PING {self.host} ({ip}) {self.size}({whole}) bytes of data."
            if self.iputils
            else f"PING {self.host} ({ip}): {self.size} data bytes"
        )
        await call.out.drain()
        start = elapsed = 0.0
        while self.count is None or len(self.trips) < self.count:
            if self.deadline is not None and elapsed >= self.deadline:
                break
            (trip,) = network.ping(pod, ip, 1).round_trips
            if trip is not None and trip > self.patience:
                trip = None
            await self._answer(ip, trip)
            last = self.count is not None and len(self.trips) == self.count
            pause = self._pause(trip, last=last)
            await call.services.clock.sleep(pause)
            elapsed += pause
        self._summary(elapsed - start)
        return 0 if any(trip is not None for trip in self.trips) else 1

    def _pause(self, trip: float | None, *, last: bool) -> float:
        """Until the next request; behind the last one, until its answer or the end of patience."""
        if last:
            return self.patience if trip is None else trip
        return self.interval

    async def _answer(self, ip: str, trip: float | None) -> None:
        self.trips.append(trip)
        if trip is None or self.quiet:
            return
        number = len(self.trips)
        milliseconds = trip * 1000
        if self.iputils:
            shown = (
                f"{milliseconds:.3f}"
                if milliseconds < 1
                else f"{milliseconds:.2f}"
                if milliseconds < 10
                else (f"{milliseconds:.1f}" if milliseconds < 100 else f"{milliseconds:.0f}")
            )
            self.call.print(f"{self.size + 8} bytes from {ip}: icmp_seq={number} ttl=63 time={shown} ms")
        else:
            text = f"{self.size + 8} bytes from {ip}: seq={number - 1} ttl=63 time={milliseconds:.3f} ms"
            self.call.print(text)
        await self.call.out.drain()

    def _summary(self, elapsed: float) -> None:
        got = [trip * 1000 for trip in self.trips if trip is not None]
        sent = len(self.trips)
        loss = 100 * (sent - len(got)) / sent if sent else 0
        call = self.call
        call.print(f"\n--- {self.host} ping statistics ---")
        if self.iputils:
            share = f"{loss:.0f}" if loss == int(loss) else f"{loss:.4f}".rstrip("0")
            call.print(
                f"{sent} packets transmitted, {len(got)} received, {share}% packet loss, time {elapsed * 1000:.0f}ms"
            )
            if got:
                spread = statistics.pstdev(got)
                numbers = "/".join(f"{value:.3f}" for value in (min(got), statistics.fmean(got), max(got), spread))
                call.print(f"rtt min/avg/max/mdev = {numbers} ms")
            return
        call.print(f"{sent} packets transmitted, {len(got)} packets received, {int(loss)}% packet loss")
        if got:
            numbers = "/".join(f"{value:.3f}" for value in (min(got), statistics.fmean(got), max(got)))
            call.print(f"round-trip min/avg/max = {numbers} ms")
