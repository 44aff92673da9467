"""CPU and memory are judged on fresh samples, against the limits from before the fault."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_microremed.checks.check import CheckResult, look_healthy
from pytest_microremed.checks.saturation import SETTLE_S, SHARE, Reading, Saturation
from pytest_microremed.cluster.kinds import PODS
from pytest_microremed.errors import NotPosed
from tests.checks.fakes import CART, NAMESPACE, FakeCluster, pod, shop, the_pod

MIB = 2**20


def build(cluster: FakeCluster, resource: str = "cpu") -> tuple[Saturation, Callable[[], CheckResult]]:
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    measurement = Saturation(cluster, CART, NAMESPACE, healthy, resource)  # type: ignore[arg-type]
    return measurement, lambda: measurement.measure(target.look())


def limit(cluster: FakeCluster, **limits: str | None) -> None:
    container = the_pod(cluster)["spec"]["containers"][0]
    container["resources"]["limits"] = {k: v for k, v in limits.items() if v is not None}


@pytest.mark.parametrize(("resource", "used"), [("cpu", (0.2, 0)), ("memory", (0.0, 205 * MIB))])
def test_saturation_is_seen_and_so_is_its_end(resource: str, used: tuple[float, float]) -> None:
    cluster = shop()
    _, look = build(cluster, resource)
    rest = cluster.used["cart-a", "server"]
    assert look().passed
    cluster.used["cart-a", "server"] = used
    assert "cart-a/server uses" in look().reason
    cluster.used["cart-a", "server"] = rest
    assert look().passed


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"cpu": "4", "memory": "256Mi"}, "uses 100%"),
        ({"cpu": None, "memory": "256Mi"}, "no cpu limit any more"),
        ({"cpu": "100m", "memory": "256Mi"}, "cpu limit 100m, 200m before"),
    ],
)
def test_another_limit_is_no_way_out_while_the_stressor_runs(limits: dict[str, str | None], reason: str) -> None:
    cluster = shop()
    _, look = build(cluster)
    cluster.used["cart-a", "server"] = (0.2, 0)
    limit(cluster, **limits)
    assert reason in look().reason


def test_a_limit_that_was_raised_on_the_way_does_no_harm() -> None:
    cluster = shop()
    _, look = build(cluster)
    limit(cluster, cpu="4", memory="256Mi")
    assert look().passed


def test_the_sidecar_is_looked_at_too() -> None:
    cluster = shop()
    _, look = build(cluster)
    cluster.used["cart-a", "probe"] = (0.1, 0)
    assert "cart-a/probe" in look().reason


def test_only_samples_after_refresh_count() -> None:
    cluster = shop()
    measurement, look = build(cluster)
    measurement.refresh()
    assert "no fresh cpu sample" in look().reason
    cluster.sample()
    assert look().passed


def test_a_sample_of_the_container_before_is_not_fresh() -> None:
    cluster = shop()
    _, look = build(cluster)
    cluster.remove(PODS, "cart-a")
    new = pod(CART, "cart-a")
    new["metadata"]["uid"] = "another"
    new["status"]["containerStatuses"][0]["state"]["running"]["startedAt"] = "2026-01-01T00:00:05Z"
    cluster.put(new)
    assert "no fresh cpu sample" in look().reason
    cluster.sample()
    assert look().passed


def test_a_pod_without_a_sample_is_not_passed_over() -> None:
    cluster = shop()
    _, look = build(cluster)
    cluster.put(pod(CART, "cart-b"))
    assert "cart-b/server: no fresh cpu sample" in look().reason


def test_construction_waits_until_the_program_is_at_rest() -> None:
    cluster = shop()
    cluster.used["cart-a", "server"] = (0.2, 0)
    cluster.time.at.append((40.0, lambda: cluster.used.update({("cart-a", "server"): (0.02, 0)})))
    build(cluster)
    assert cluster.time.now() >= 40.0


def test_a_target_that_never_rests_cannot_be_posed() -> None:
    cluster = shop()
    cluster.used["cart-a", "server"] = (0.2, 0)
    with pytest.raises(NotPosed, match=f"not so after {SETTLE_S:g} s.*uses 100% of its limit"):
        build(cluster)


def test_a_target_without_limit_cannot_be_posed() -> None:
    cluster = shop()
    limit(cluster, memory="256Mi")
    with pytest.raises(NotPosed, match="no cpu limit to saturate"):
        build(cluster)


@given(
    used=st.floats(0, 10),
    limit=st.floats(0.01, 10),
    current=st.none() | st.floats(0.001, 1000),
    extra=st.floats(0, 10),
)
def test_no_limit_makes_a_saturated_container_pass(
    used: float, limit: float, current: float | None, extra: float
) -> None:
    """Whatever the current limit is, half of the old one in use is not recovery; and using more never
    helps."""
    reading = Reading("it", used, limit, current)
    if used >= SHARE * limit:
        assert reading.trouble("cpu")
    if reading.trouble("cpu"):
        assert Reading("it", used + extra, limit, current).trouble("cpu")
