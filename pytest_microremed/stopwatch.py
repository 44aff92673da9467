"""Where the seconds of a case go."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pytest_microremed.clock import Clock


class Stopwatch:
    """Sums the clock's seconds by phase; phases may be entered often, and do not nest."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.seconds: dict[str, float] = {}

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        start = self._clock.now()
        try:
            yield
        finally:
            self.seconds[name] = round(self.seconds.get(name, 0.0) + self._clock.now() - start, 3)
