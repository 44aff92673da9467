"""Where the seconds of a case go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pytest_microremed.clock import Clock


class Stopwatch:
    """Sums the clock's seconds by phase. A phase inside another pauses the outer one, so the sum is the whole."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._running: list[str] = []
        self._since = 0.0
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        self._book()
        self._running.append(name)
        try:
            yield
        finally:
            self._book()
            self._running.pop()

    def _book(self) -> None:
        """Give the time since the last change of phase to the phase that was running."""
        now = self._clock.now()
        if self._running:
            name = self._running[-1]
            self.seconds[name] = self.seconds.get(name, 0.0) + now - self._since
        self._since = now

    def rounded(self) -> dict[str, float]:
        """Milliseconds are enough for a record."""
        return {name: round(seconds, 3) for name, seconds in self.seconds.items()}
