"""Packet loss and round trips: enough packets, the right summary of ping, all pods, one fault a check."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_microremed.checks.check import look_healthy
from pytest_microremed.checks.network import (
    LOST_AT_MOST,
    PINGS,
    PacketLoss,
    Pings,
    RoundTrip,
    chance_of_passing,
    parse_ping,
)
from pytest_microremed.cluster.cluster import ExecOutput
from pytest_microremed.cluster.kinds import PODS
from pytest_microremed.errors import ClusterError, NotPosed
from tests.checks.fakes import CART, NAMESPACE, SHOP, FakeCluster, failed, pod, shop, the_pod


def busybox(sent: int, received: int, average_ms: float) -> ExecOutput:
    percent = 100 * (sent - received) // max(sent, 1)
    text = "\n--- 10.0.0.1 ping statistics ---\n"
    text += f"{sent} packets transmitted, {received} packets received, {percent}% packet loss\n"
    if received:
        text += f"round-trip min/avg/max = 0.1/{average_ms:.3f}/{3 * average_ms:.3f} ms\n"
    return ExecOutput(text, "", 0 if received else 1)


def count_of(command: Sequence[str]) -> int:
    return int(command[command.index("-c") + 1])


def network(cluster: FakeCluster, *, lost: int = 0, average_ms: float = 0.3) -> None:
    cluster.answers = lambda _, __, command: busybox(count_of(command), count_of(command) - lost, average_ms)


def test_an_untouched_loss_of_half_the_packets_passes_less_than_once_in_ten_thousand_looks() -> None:
    assert chance_of_passing(0.5) == pytest.approx(21 / 2**20)
    assert chance_of_passing(0.5) < 1e-4
    assert chance_of_passing(0.5, pings=3, lost_at_most=0) == pytest.approx(0.125)  # the public code's


def test_the_arithmetic_agrees_with_dice() -> None:
    dice = random.Random(7)
    passes = sum(sum(dice.random() < 0.3 for _ in range(6)) <= 1 for _ in range(20_000))
    assert passes / 20_000 == pytest.approx(chance_of_passing(0.3, 6, 1), abs=0.015)


@given(st.floats(0.0, 1.0), st.integers(1, 60))
def test_more_packets_never_make_luck_more_likely(loss: float, pings: int) -> None:
    assert chance_of_passing(loss, pings + 1, 1) <= chance_of_passing(loss, pings, 1) + 1e-12


def test_both_kinds_of_ping_are_understood() -> None:
    iputils = (
        "20 packets transmitted, 19 received, 5% packet loss, time 1923ms\n"
        "rtt min/avg/max/mdev = 0.041/1000.213/2001.102/0.012 ms"
    )
    assert parse_ping(iputils) == Pings(20, 19, 1000.213)
    assert parse_ping(busybox(20, 19, 0.25).stdout) == Pings(20, 19, 0.25)
    assert parse_ping(busybox(20, 0, 0).stdout) == Pings(20, 0, None)
    assert parse_ping("ping: permission denied (are you root?)") is None


@pytest.mark.parametrize(("lost", "passed"), [(0, True), (LOST_AT_MOST, True), (LOST_AT_MOST + 1, False), (20, False)])
def test_packet_loss(lost: int, passed: bool) -> None:
    cluster = shop()
    target, _ = look_healthy(cluster, CART, NAMESPACE)
    network(cluster, lost=lost, average_ms=2000.0)  # a delay is another fault's business
    assert PacketLoss(cluster, SHOP, CART, NAMESPACE).measure(target.look()).passed is passed
    asked, container, command = cluster.commands[-1]
    assert (asked, container, count_of(command)) == ("cart-a", "probe", PINGS)


def test_every_pod_of_the_target_is_asked() -> None:
    cluster = shop()
    cluster.put(pod(CART, "cart-b"))
    target, _ = look_healthy(cluster, CART, NAMESPACE)
    cluster.answers = lambda asked, _, command: busybox(20, 20 if asked == "cart-a" else 9, 0.3)
    result = PacketLoss(cluster, SHOP, CART, NAMESPACE).measure(target.look())
    assert result.reason == "cart-b: 11 of 20 packets lost"


@pytest.mark.parametrize(("average_ms", "passed"), [(0.4, True), (99.0, True), (101.0, False), (1000.0, False)])
def test_round_trip_against_a_quick_baseline(average_ms: float, passed: bool) -> None:
    cluster = shop()
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    network(cluster)
    measurement = RoundTrip(cluster, SHOP, CART, NAMESPACE, healthy)
    network(cluster, lost=2, average_ms=average_ms)  # a little loss is another fault's business
    assert measurement.measure(target.look()).passed is passed


def test_round_trip_against_a_slow_baseline() -> None:
    cluster = shop()
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    network(cluster, average_ms=40.0)
    measurement = RoundTrip(cluster, SHOP, CART, NAMESPACE, healthy)
    network(cluster, average_ms=199.0)
    assert measurement.measure(target.look()).passed
    network(cluster, average_ms=201.0)
    assert not measurement.measure(target.look()).passed


def test_dropping_the_slow_packets_is_not_quick() -> None:
    cluster = shop()
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    network(cluster)
    measurement = RoundTrip(cluster, SHOP, CART, NAMESPACE, healthy)
    network(cluster, lost=6)
    assert "4 of 10 pings answered" in measurement.measure(target.look()).reason


def test_a_network_that_does_not_answer_cannot_be_posed() -> None:
    cluster = shop()
    _, healthy = look_healthy(cluster, CART, NAMESPACE)
    network(cluster, lost=10)
    with pytest.raises(NotPosed, match="no round trip to measure"):
        RoundTrip(cluster, SHOP, CART, NAMESPACE, healthy)


def test_without_a_peer_nothing_passes() -> None:
    """The playbook has done away with the rest of the system: its failure, not the infrastructure's."""
    cluster = shop()
    target, _ = look_healthy(cluster, CART, NAMESPACE)
    network(cluster)
    the_pod(cluster, "redis-a")["status"]["conditions"] = []
    result = PacketLoss(cluster, SHOP, CART, NAMESPACE).measure(target.look())
    assert not result.passed
    assert "nobody can ask it" in result.reason


def is_gone(cluster: FakeCluster) -> None:
    cluster.remove(PODS, "cart-a")


def is_going(cluster: FakeCluster) -> None:
    the_pod(cluster)["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


def is_another(cluster: FakeCluster) -> None:
    the_pod(cluster)["metadata"]["uid"] = "another"


@pytest.mark.parametrize("change", [is_gone, is_going, is_another])
def test_a_pod_that_goes_away_meanwhile_is_no_infrastructure_trouble(
    change: Callable[[FakeCluster], None],
) -> None:
    cluster = shop()
    target, _ = look_healthy(cluster, CART, NAMESPACE)
    view = target.look()
    cluster.answers = lambda *_: failed("container not found")
    change(cluster)
    result = PacketLoss(cluster, SHOP, CART, NAMESPACE).measure(view)
    assert result.reason == "cart-a: the pod went away during the check"


def test_a_container_that_ends_meanwhile_is_no_infrastructure_trouble() -> None:
    cluster = shop()
    target, _ = look_healthy(cluster, CART, NAMESPACE)
    view = target.look()
    cluster.answers = lambda *_: failed("container not found")
    the_pod(cluster)["status"]["containerStatuses"][1]["containerID"] = "another"
    result = PacketLoss(cluster, SHOP, CART, NAMESPACE).measure(view)
    assert "container probe ended during the check" in result.reason


def test_infrastructure_trouble_is_no_verdict() -> None:
    cluster = shop()
    target, _ = look_healthy(cluster, CART, NAMESPACE)
    cluster.answers = lambda *_: failed("error dialing backend", 502)
    with pytest.raises(ClusterError, match="error dialing backend"):
        PacketLoss(cluster, SHOP, CART, NAMESPACE).measure(target.look())
