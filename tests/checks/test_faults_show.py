"""Every fault on a workload of the larger systems: it shows, is not over by itself, and a rollout ends it
or does not.

What Chaos Mesh does to a pod goes with the pod; a wrong configuration is in every new pod, until the
rollout is undone.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.checks.live import Bench

SHOP, TICKET = "online-boutique", "train-ticket"
SETTLE_S = 15.0


@pytest.mark.parametrize(
    ("system", "target", "fault", "variant"),
    [
        (SHOP, "currencyservice", "cpu-stress", None),
        (SHOP, "frontend", "disk-io", None),  # no shell in its image
        (SHOP, "loadgenerator", "pod-fail", None),  # no Service
        (TICKET, "ts-ui-dashboard", "memory-stress", None),
        (TICKET, "nacosdb-mysql", "disk-io", None),  # a StatefulSet of three
        (TICKET, "ts-order-service", "network-loss", None),
    ],
)
def test_what_is_done_to_a_pod(
    bench_of: Callable[[str], Bench], system: str, target: str, fault: str, variant: str | None
) -> None:
    bench = bench_of(system)
    with bench.posed(target, fault, variant) as posed:
        assert not posed.judge(SETTLE_S).fault_gone
        bench.kubectl("rollout", "restart", f"{posed.workload.kind}/{target}")
        bench.kubectl("rollout", "status", f"{posed.workload.kind}/{target}", "--timeout=60s")
        verdict = posed.judge()
        assert verdict.recovered, verdict.reason
        assert posed.injection.active()


@pytest.mark.parametrize(
    ("system", "target", "variant"),
    [
        ("simple-micro", "hello-service", "resource-limits"),
        (SHOP, "cartservice", "dependency-address"),
        (TICKET, "ts-order-service", "environment-variable"),
        (TICKET, "nacosdb-mysql", "resource-limits"),
    ],
)
def test_what_is_done_to_the_configuration(
    bench_of: Callable[[str], Bench], system: str, target: str, variant: str
) -> None:
    bench = bench_of(system)
    with bench.posed(target, "pod-config-error", variant) as posed:
        workload = f"{posed.workload.kind}/{target}"
        assert not posed.serving.run().passed, "no outage"
        bench.kubectl("delete", "pod", f"--selector=app={target}")
        assert not posed.judge(SETTLE_S).fault_gone, "healed by new pods"
        bench.kubectl("rollout", "undo", workload)
        bench.kubectl("rollout", "status", workload, "--timeout=60s")
        verdict = posed.judge()
        assert verdict.recovered, verdict.reason
        assert not posed.injection.active()
