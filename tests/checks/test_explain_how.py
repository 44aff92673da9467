"""How a target came back."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_microremed.checks.evidence import Evidence, explain_how, gather
from pytest_microremed.faults.fault import load_fault
from tests.checks.fakes import CART, NAMESPACE, shop

BEFORE = Evidence(
    check="cpu-usage",
    injected=True,
    workload="w1",
    replicas=1,
    limits={"cpu": 0.2, "memory": 1e9},
    pods={"p1": {"server": "c1", "probe": "c2"}},
)


@pytest.mark.parametrize(
    ("before", "after", "how"),
    [
        ({}, {}, ("process stopped",)),
        ({"check": "packet-loss"}, {}, ("qdisc removed",)),
        ({"check": "round-trip"}, {}, ("qdisc removed",)),
        ({}, {"injected": False}, ("injector removed",)),
        ({}, {"pods": {"p2": {"server": "c3", "probe": "c4"}}}, ("pod replaced",)),
        ({}, {"pods": {"p1": {"server": "c3", "probe": "c2"}}}, ("container restarted",)),
        (
            {},
            {"pods": {"p2": {}}, "limits": {"cpu": 1.0, "memory": None}},
            ("pod replaced", "cpu limit raised", "memory limit removed"),
        ),
        ({}, {"workload": "w2", "pods": {"p2": {}}}, ("workload recreated", "pod replaced")),
        ({}, {"replicas": 3, "pods": {"p1": {"server": "c1", "probe": "c2"}, "p2": {}}}, ("scaled up",)),
        ({"check": "configuration"}, {"injected": False, "pods": {"p2": {}}}, ("configuration corrected",)),
    ],
)
def test_how(before: dict[str, object], after: dict[str, object], how: tuple[str, ...]) -> None:
    start = replace(BEFORE, **before)  # type: ignore[arg-type]
    assert explain_how(start, replace(start, **after)) == how  # type: ignore[arg-type]


class Stopped:
    """An injection that is over."""

    mechanism = "chaos-mesh"

    def active(self) -> bool:
        return False

    def stop(self) -> None: ...


def test_evidence_is_read_off_the_cluster() -> None:
    cluster = shop()
    evidence = gather(cluster, Stopped(), load_fault("cpu-stress"), CART, NAMESPACE)
    assert evidence == Evidence(
        check="cpu-usage",
        injected=False,
        workload="cart-deployment",
        replicas=1,
        limits={"cpu": 0.2, "memory": 256.0 * 2**20},
        pods={"uid-of-cart-a": {"server": "containerd://cart-a-server", "probe": "containerd://cart-a-probe"}},
    )
