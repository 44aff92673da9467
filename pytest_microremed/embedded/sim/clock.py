"""Time in the simulated cluster: the wall's clock, with every simulated delay divided by the cluster's speed.

Timestamps are the wall's, so ages that clients compute are right; a readiness probe that starts after 60 s starts
after 60 s / speed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any


class SimClock:
    """Runs delays on the server's event loop. `speed` 1 is real time."""

    def __init__(self, loop: asyncio.AbstractEventLoop, speed: float) -> None:
        self.loop = loop
        self.speed = speed

    def now(self) -> datetime:
        return datetime.now(UTC)

    def seconds(self) -> float:
        """Simulated seconds since an arbitrary start."""
        return self.loop.time() * self.speed

    def call_later(self, seconds: float, function: Callable[..., None], *args: Any) -> asyncio.TimerHandle:
        """Call after so many simulated seconds."""
        return self.loop.call_later(seconds / self.speed, function, *args)

    async def sleep(self, seconds: float) -> None:
        """Wait for so many simulated seconds."""
        await asyncio.sleep(seconds / self.speed)
