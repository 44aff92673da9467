"""The verdict: both checks, the hold time, one patience for all, and no verdict on infrastructure trouble."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import pytest

from pytest_microremed.checks.check import CheckResult
from pytest_microremed.checks.serving import ServingCheck
from pytest_microremed.checks.verify import Verification, verify
from pytest_microremed.errors import ClusterError
from tests.checks.fakes import FakeCluster


class Script:
    """A check that passes as the time of the cluster says."""

    def __init__(self, cluster: FakeCluster, passes: Callable[[float], bool], reason: str = "it") -> None:
        self.cluster = cluster
        self.passes = passes
        self.reason = reason
        self.refreshed = 0
        self.runs: list[float] = []

    def run(self) -> CheckResult:
        now = self.cluster.clock.now()
        self.runs.append(now)
        return CheckResult(self.passes(now), self.reason)

    def refresh(self) -> None:
        self.refreshed += 1


def judge(
    fault_gone: Callable[[float], bool], serving: Callable[[float], bool] = lambda _: True
) -> tuple[Verification, Script]:
    cluster = FakeCluster()
    check = Script(cluster, fault_gone, "fault")
    served = Script(cluster, serving, "service")
    return verify(check, cast(ServingCheck, served), cluster), check


def test_recovered_at_once() -> None:
    verdict, check = judge(lambda _: True)
    assert verdict == Verification(True, True, True, True, "fault; service")
    assert check.refreshed == 1
    assert check.runs == [0.0, 10.0]


def test_recovered_after_a_while() -> None:
    verdict, check = judge(lambda now: now >= 30)
    assert verdict.recovered
    assert check.runs[-1] - check.runs[-2] == 10.0


def test_not_recovered_in_time() -> None:
    verdict, check = judge(lambda now: now > 75)
    assert verdict == Verification(False, False, True, False, "the fault is still there: fault")
    assert 60.0 <= check.runs[-1] <= 62.0


def test_fault_gone_and_not_serving() -> None:
    verdict, _ = judge(lambda _: True, lambda _: False)
    assert verdict == Verification(False, True, False, False, "not serving: service")


def test_a_relapse_within_the_hold_time_is_no_recovery() -> None:
    verdict, _ = judge(lambda now: now < 5)
    assert not verdict.recovered
    assert not verdict.held
    assert verdict.reason == "relapsed within the hold time: the fault is still there: fault"


def test_after_a_relapse_it_may_still_recover() -> None:
    """A rolling update may look well before it begins."""
    verdict, _ = judge(lambda _: True, lambda now: not 4 <= now < 20)
    assert verdict.recovered


def test_flapping_is_no_recovery() -> None:
    verdict, _ = judge(lambda now: int(now / 6) % 2 == 0)
    assert not verdict.recovered


def test_infrastructure_trouble_is_no_verdict() -> None:
    def broken(_: float) -> bool:
        raise ClusterError("the API server is away")

    with pytest.raises(ClusterError, match="away"):
        judge(broken)
