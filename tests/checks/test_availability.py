"""The availability monitor on an embedded cluster: what interrupts a service, and what only the fault
does."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pytest_microremed.checks.availability import Availability, AvailabilityMonitor
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import DEPLOYMENTS, ENDPOINTS, PODS, SERVICES, Obj
from pytest_microremed.systems.baseline import restore
from tests.checks.live import Bench

NAMESPACE, TARGET = "simple-micro", "hello-service"


@pytest.fixture
def bench(bench_of: Callable[[str], Bench]) -> Iterator[Bench]:
    bench = bench_of(NAMESPACE)
    yield bench
    restore(bench.cluster, bench.baseline, recycle=(TARGET,))


def watch(bench: Bench, act: Callable[[Cluster], None]) -> Availability:
    monitor = AvailabilityMonitor(bench.cluster, NAMESPACE, TARGET)
    monitor.start()
    act(bench.cluster)
    return monitor.stop()


def ready(cluster: Cluster, *, but: str = "") -> str | None:
    """The uid of a ready endpoint other than `but`."""
    endpoints = cluster.get(ENDPOINTS, NAMESPACE, TARGET) or {}
    subsets = endpoints.get("subsets") or []
    uids = [address["targetRef"]["uid"] for subset in subsets for address in subset.get("addresses") or []]
    return next((uid for uid in uids if uid != but), None)


def the_pod(cluster: Cluster) -> Obj:
    pod: Obj = cluster.list(PODS, NAMESPACE, {"app": TARGET})[0]
    return pod


def roll(cluster: Cluster) -> None:
    old = ready(cluster) or ""
    annotation = {"spec": {"template": {"metadata": {"annotations": {"again": "yes"}}}}}
    cluster.patch(DEPLOYMENTS, NAMESPACE, TARGET, annotation)
    cluster.wait_for("a new endpoint", lambda: ready(cluster, but=old), 60)
    cluster.wait_for("the old one to go", lambda: ready(cluster) != old, 60)


def delete_pod(cluster: Cluster) -> None:
    old = ready(cluster) or ""
    cluster.delete(PODS, NAMESPACE, the_pod(cluster)["metadata"]["name"])
    cluster.wait_for("a new endpoint", lambda: ready(cluster, but=old), 60)


def scale_down(cluster: Cluster) -> None:
    cluster.patch(DEPLOYMENTS, NAMESPACE, TARGET, {"spec": {"replicas": 0}})
    cluster.wait_for("no endpoint", lambda: not ready(cluster), 60)
    cluster.clock.sleep(5)


def delete_service(cluster: Cluster) -> None:
    cluster.delete(SERVICES, NAMESPACE, TARGET)
    cluster.wait_for("no endpoint", lambda: not ready(cluster), 60)
    cluster.clock.sleep(5)


def kill_the_program(cluster: Cluster) -> None:
    cluster.execute(NAMESPACE, the_pod(cluster)["metadata"]["name"], TARGET, ["kill", "1"], timeout_s=10)
    cluster.wait_for("no endpoint", lambda: not ready(cluster), 60, interval_s=0.2)
    cluster.wait_for("the endpoint again", lambda: ready(cluster), 60)


def nothing(cluster: Cluster) -> None: ...


@pytest.mark.parametrize("act", [nothing, roll])
def test_no_interruption(bench: Bench, act: Callable[[Cluster], None]) -> None:
    assert watch(bench, act) == Availability(0.0, down_at_start=False)


@pytest.mark.parametrize("act", [delete_pod, scale_down, delete_service, kill_the_program])
def test_an_interruption_is_counted(bench: Bench, act: Callable[[Cluster], None]) -> None:
    seen = watch(bench, act)
    assert seen.disruption_s
    assert not seen.down_at_start


def test_what_the_fault_interrupts_is_not_the_playbooks(bench: Bench) -> None:
    """Requests time out, so the pod is unready after some seconds; the rolling update then does no more
    harm."""
    with bench.posed(TARGET, "network-delay"):

        def repair(cluster: Cluster) -> None:
            cluster.wait_for("the fault to show in the endpoints", lambda: not ready(cluster), 60)
            cluster.clock.sleep(5)
            roll(cluster)

        assert watch(bench, repair).disruption_s == 0.0


def test_a_service_that_is_down_from_the_start(bench: Bench) -> None:
    with bench.posed(TARGET, "pod-fail"):
        bench.cluster.wait_for("no endpoint", lambda: not ready(bench.cluster), 60)
        assert watch(bench, nothing) == Availability(0.0, down_at_start=True)


def test_a_workload_without_a_service_is_not_watched(bench: Bench) -> None:
    monitor = AvailabilityMonitor(bench.cluster, NAMESPACE, None)
    monitor.start()
    assert monitor.stop() == Availability(None, down_at_start=False)
