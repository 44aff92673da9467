"""Waiting in cluster seconds, with a limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.errors import WaitTimeout
from tests.cluster.stub import write_kubeconfig


class Clock:
    """Time passes only by sleeping."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1")
    return Cluster(tmp_path / "config", clock=Clock())


def test_the_result_of_the_condition_is_returned(cluster: Cluster) -> None:
    results = iter([None, 0, "there"])
    assert cluster.wait_for("it", lambda: next(results), 10) == "there"
    assert cluster.clock.now() == 2


def test_the_limit_says_what_was_waited_for(cluster: Cluster) -> None:
    with pytest.raises(WaitTimeout, match=r"pods ready: not so after 10 s \(last seen: 1 of 2\)"):
        cluster.wait_for("pods ready", lambda: False, 10, 4, lambda: "1 of 2")
    assert cluster.clock.now() == 12


def test_it_asks_once_more_after_the_limit(cluster: Cluster) -> None:
    def ready() -> bool:
        ready_now = cluster.clock.now() > 100
        cluster.clock.sleep(101)  # as on a machine that has other things to do
        return ready_now

    assert cluster.wait_for("pods ready", ready, 10)
