"""Seconds by phase."""

from __future__ import annotations

from pytest_microremed.stopwatch import Stopwatch


class Hands:
    """A clock that the test turns."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def test_an_inner_phase_pauses_the_outer_one() -> None:
    clock = Hands()
    watch = Stopwatch(clock)
    with watch.phase("think"):
        clock.sleep(1)
        with watch.phase("probe"):
            clock.sleep(10)
        clock.sleep(2)
    clock.sleep(100)
    with watch.phase("think"):
        clock.sleep(4)
    assert watch.rounded() == {"think": 7.0, "probe": 10.0}


def test_time_counts_up_to_an_exception() -> None:
    clock = Hands()
    watch = Stopwatch(clock)
    try:
        with watch.phase("execute"):
            clock.sleep(3)
            raise RuntimeError
    except RuntimeError:
        pass
    assert watch.seconds == {"execute": 3.0}
