"""A wait that can be cut short."""

from __future__ import annotations

import asyncio

from pytest_microremed.embedded.sim.clock import SimClock


class Alarm:
    """Waits simulated seconds, or until someone rings. A ring while nobody waits is forgotten."""

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        self._waiter: asyncio.Future[None] | None = None

    async def wait(self, seconds: float) -> None:
        """Return after `seconds` (simulated) or at the next ring."""
        waiter = self._waiter = self._clock.loop.create_future()
        timer = self._clock.call_later(seconds, self.ring)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiter = None

    def ring(self) -> None:
        """End the present wait."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
