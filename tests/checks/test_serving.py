"""Serving: ready pods, an honest readiness probe, the Service's own endpoints, and an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_microremed.checks.serving import ServingCheck, find_weakened
from pytest_microremed.cluster.cluster import ExecOutput
from pytest_microremed.cluster.kinds import DEPLOYMENTS, ENDPOINTS, Obj
from pytest_microremed.systems.system import Workload
from tests.checks.fakes import (
    CART,
    NAMESPACE,
    REDIS,
    SHOP,
    FakeCluster,
    endpoints,
    pod,
    shop,
    the_deployment,
    the_pod,
)


def build(cluster: FakeCluster, workload: Workload = CART) -> ServingCheck:
    return ServingCheck(cluster, SHOP, workload, NAMESPACE)


def test_a_healthy_target_serves_and_is_asked_by_its_peer_as_its_callers_do() -> None:
    cluster = shop()
    assert build(cluster).run().passed
    assert cluster.commands == [("redis-a", "probe", ["wget", "-q", "-O", "/dev/null", "-T", "10", "http://cart:80/"])]


def test_what_is_not_http_is_asked_for_a_connection() -> None:
    cluster = shop()
    cluster.put(endpoints(the_pod(cluster, "redis-a"), port=6379, name="redis"))
    assert build(cluster, REDIS).run().passed
    assert cluster.commands == [("cart-a", "probe", ["nc", "-z", "-w", "10", "redis", "6379"])]


def no_answer(cluster: FakeCluster) -> None:
    cluster.answers = lambda *_: ExecOutput("", "wget: server returned error: HTTP/1.1 502 Bad Gateway\n", 1)


def not_ready(cluster: FakeCluster) -> None:
    the_pod(cluster)["status"]["conditions"][0]["status"] = "False"


def deleted(cluster: FakeCluster) -> None:
    cluster.remove(DEPLOYMENTS, "cart")


def scaled_down(cluster: FakeCluster) -> None:
    the_deployment(cluster)["spec"]["replicas"] = 0


def no_endpoints(cluster: FakeCluster) -> None:
    cluster.put(endpoints())


def no_service(cluster: FakeCluster) -> None:
    cluster.remove(ENDPOINTS, "cart")


def other_pod(cluster: FakeCluster) -> None:
    """The Service's selector points to redis."""
    cluster.put(endpoints(the_pod(cluster, "redis-a")))


def fake_pod_too(cluster: FakeCluster) -> None:
    fake = pod(CART, "fake", owned=False)
    cluster.put(fake)
    cluster.put(endpoints(the_pod(cluster), fake))


def other_port(cluster: FakeCluster) -> None:
    cluster.put(endpoints(the_pod(cluster), port=9090))


def probe_gone(cluster: FakeCluster) -> None:
    del the_pod(cluster)["spec"]["containers"][0]["readinessProbe"]


def probe_always_true(cluster: FakeCluster) -> None:
    the_pod(cluster)["spec"]["containers"][0]["readinessProbe"] = {"exec": {"command": ["true"]}}


@pytest.mark.parametrize(
    ("harm", "reason"),
    [
        (no_answer, "no answer from http://cart:80/: wget: server returned error: HTTP/1.1 502 Bad Gateway"),
        (not_ready, "0 of 1 pods ready: cart-a is not"),
        (deleted, "does not exist"),
        (scaled_down, "scaled to 0"),
        (no_endpoints, "0 endpoints of the target"),
        (no_service, "0 endpoints of the target"),
        (other_pod, "0 endpoints of the target"),
        (fake_pod_too, "also sends requests to what is not"),
        (other_port, "ports [9090], [8080] before"),
        (probe_gone, "readiness probe is gone"),
        (probe_always_true, "asks something else"),
    ],
)
def test_what_does_not_serve(harm: Callable[[FakeCluster], None], reason: str) -> None:
    cluster = shop()
    serving = build(cluster)
    harm(cluster)
    result = serving.run()
    assert not result.passed
    assert reason in result.reason


def test_a_new_pod_may_be_surging() -> None:
    """In a rolling update the next pod comes before the old one goes."""
    cluster = shop()
    serving = build(cluster)
    cluster.put(pod(CART, "cart-b", ready=False))
    assert serving.run().passed


def test_a_workload_without_a_service_has_to_be_ready_only() -> None:
    cluster = shop()
    client = Workload(**{**vars(CART), "services": (), "port": None})
    serving = build(cluster, client)
    assert serving.run().passed
    assert not cluster.commands
    not_ready(cluster)
    assert not serving.run().passed


CONTAINER: Obj = {"ports": [{"name": "web", "containerPort": 8080}]}
PROBE: Obj = {
    "httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"},
    "periodSeconds": 5,
    "failureThreshold": 3,
}


@pytest.mark.parametrize(
    ("change", "weaker"),
    [
        ({}, False),
        ({"timeoutSeconds": 30}, False),
        ({"initialDelaySeconds": 120}, False),
        ({"periodSeconds": 1}, False),
        ({"httpGet": {"path": "/healthz", "port": "web"}}, False),
        ({"httpGet": {"path": "/", "port": 8080}}, True),
        ({"httpGet": {"path": "/healthz", "port": 9090}}, True),
        ({"httpGet": {"path": "/healthz", "port": 8080, "host": "10.0.0.9"}}, True),
        ({"failureThreshold": 1000}, True),
        ({"periodSeconds": 3600}, True),
    ],
)
def test_which_probe_is_weaker(change: dict[str, Any], weaker: bool) -> None:
    assert bool(find_weakened(PROBE, {**PROBE, **change}, CONTAINER)) is weaker


def test_a_probe_cannot_be_swapped_for_another_kind() -> None:
    grpc = {"grpc": {"port": 8080}, "periodSeconds": 10, "failureThreshold": 3}
    assert find_weakened(grpc, {"tcpSocket": {"port": 8080}}, CONTAINER)
    assert find_weakened(grpc, {"grpc": {"port": 8080, "service": ""}}, CONTAINER) is None
    assert find_weakened(None, None, CONTAINER) is None
    assert find_weakened(None, grpc, CONTAINER) is None
