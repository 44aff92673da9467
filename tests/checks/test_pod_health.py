"""Pod failure: the right program runs in every pod, is ready, and answers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_microremed.checks.check import CheckResult, look_healthy
from pytest_microremed.checks.pods import PodHealth
from pytest_microremed.cluster.cluster import ExecOutput
from tests.checks.fakes import CART, NAMESPACE, SHOP, FakeCluster, pod, shop, the_pod


def build(cluster: FakeCluster) -> Callable[[], CheckResult]:
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    measurement = PodHealth(cluster, SHOP, CART, NAMESPACE, healthy)
    return lambda: measurement.measure(target.look())


def test_each_pod_is_asked_itself() -> None:
    cluster = shop()
    assert build(cluster)().passed
    assert cluster.commands[-1][2][-1] == "http://10.0.0.1:8080/"


def paused(cluster: FakeCluster) -> None:
    """As Chaos Mesh's pod-failure leaves it; without a readiness probe the pod counts as ready."""
    the_pod(cluster)["spec"]["containers"][0]["image"] = "gcr.io/google-containers/pause:latest"


def sidecar_paused(cluster: FakeCluster) -> None:
    the_pod(cluster)["spec"]["containers"][1]["image"] = "gcr.io/google-containers/pause:latest"


def one_of_two_not_ready(cluster: FakeCluster) -> None:
    cluster.put(pod(CART, "cart-b", ready=False))


def dead(cluster: FakeCluster) -> None:
    cluster.answers = lambda *_: ExecOutput("", "wget: can't connect to remote host: Connection refused", 1)


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (paused, "cart-a/server runs gcr.io/google-containers/pause:latest instead of cart:1"),
        (sidecar_paused, "cart-a/probe runs gcr.io"),
        (one_of_two_not_ready, "cart-b is not ready"),
        (dead, "Connection refused"),
    ],
)
def test_what_is_not_healthy(harm: Callable[[FakeCluster], None], reason: str) -> None:
    cluster = shop()
    look = build(cluster)
    harm(cluster)
    assert reason in look().reason
    assert not look().passed
