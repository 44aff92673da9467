"""Clocks: everything that waits or measures is handed one, so that nothing depends on the wall by itself."""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """Seconds that only go forward, and a way to let them pass."""

    def now(self) -> float:
        """Seconds since an arbitrary start."""

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds of this clock."""


class WallClock:
    """The machine's monotonic clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


class ScaledClock:
    """A clock that runs `speed` times as fast as the wall.

    The embedded cluster divides every simulated delay (pulling, starting, probing, back-off) by its speed; whoever
    waits for it counts in the cluster's seconds with this clock, so limits and hold times mean the same on both
    kinds of cluster.
    """

    def __init__(self, speed: float) -> None:
        self.speed = speed

    def now(self) -> float:
        return time.monotonic() * self.speed

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds / self.speed)
