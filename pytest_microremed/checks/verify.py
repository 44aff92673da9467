"""The verdict on one attempt: fault gone, serving, and both still so after the hold time."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_microremed.checks.check import CheckResult, StatusCheck
from pytest_microremed.checks.serving import ServingCheck
from pytest_microremed.cluster.cluster import Cluster

POLL_S = 2.0


@dataclass(frozen=True)
class Verification:
    """What was found after a playbook; `reason` is one sentence."""

    recovered: bool
    fault_gone: bool
    serving: bool
    held: bool
    reason: str


def verify(
    check: StatusCheck,
    serving: ServingCheck,
    cluster: Cluster,
    *,
    patience_s: float = 60.0,
    hold_s: float = 10.0,
) -> Verification:
    """Look until the target has recovered for `hold_s`, at most `patience_s` (cluster seconds; the same for
    every fault).

    What was measured before counts no more. A relapse within the hold time starts the wait anew, in what is
    left of the patience. Raises ClusterError where the infrastructure is in the way: that is no verdict.
    """
    check.refresh()
    deadline = cluster.clock.now() + patience_s
    relapse = ""
    while True:
        last_look = cluster.clock.now() >= deadline
        gone, served = check.run(), serving.run()
        if gone.passed and served.passed:
            cluster.clock.sleep(hold_s)
            gone, served = check.run(), serving.run()
            if gone.passed and served.passed:
                return Verification(True, True, True, True, f"{gone.reason}; {served.reason}")
            relapse = "relapsed within the hold time: "
        if last_look:
            return Verification(False, gone.passed, served.passed, False, relapse + _trouble(gone, served))
        cluster.clock.sleep(POLL_S)


def _trouble(gone: CheckResult, served: CheckResult) -> str:
    if not gone.passed:
        return f"the fault is still there: {gone.reason}"
    return f"not serving: {served.reason}"
