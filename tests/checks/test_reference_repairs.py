"""Each fault on the embedded cluster: the control passes, the fault shows, and its reference repair brings
the target back.

It does so without an interruption that the fault did not make, and does it in the way that its playbook
describes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checks.live import Bench

MICRO, SHOP, TICKET = "simple-micro", "online-boutique", "train-ticket"


@pytest.mark.parametrize(
    ("system", "target", "fault", "variant", "how"),
    [
        (MICRO, "hello-service", "cpu-stress", None, ("process stopped",)),
        (MICRO, "time-service", "memory-stress", None, ("process stopped",)),
        (MICRO, "hello-service", "disk-io", None, ("pod replaced",)),
        (MICRO, "time-service", "network-loss", None, ("pod replaced",)),
        (MICRO, "hello-service", "network-delay", None, ("pod replaced",)),
        (MICRO, "time-service", "pod-fail", None, ("pod replaced",)),
        (MICRO, "hello-service", "pod-config-error", "resource-limits", ("configuration corrected",)),
        (MICRO, "time-service", "pod-config-error", "environment-variable", ("configuration corrected",)),
        (MICRO, "hello-service", "pod-config-error", "dependency-address", ("configuration corrected",)),
        (SHOP, "frontend", "cpu-stress", None, ("pod replaced",)),  # no shell in its image
        (TICKET, "nacosdb-mysql", "pod-fail", None, ("pod replaced",)),  # a StatefulSet of three
    ],
)
def test_the_reference_repair(
    bench_of: Callable[[str], Bench], system: str, target: str, fault: str, variant: str | None, how: tuple[str, ...]
) -> None:
    with bench_of(system).posed(target, fault, variant) as posed:
        assert posed.injection.active()
        repair = posed.repair()
    assert repair.run.ran, repair.run.reason
    assert repair.run.exit_code == 0, repair.run.output
    assert repair.verdict.recovered, repair.verdict.reason
    assert repair.how == how
    if not repair.availability.down_at_start:
        assert not repair.availability.disruption_s
