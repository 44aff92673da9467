"""Readiness, liveness and startup probes against the programs of a pod."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.model import Netem
from tests.embedded.node import Node, environment, limits, on_a_node, server

BOUTIQUE = "gcr.io/google-samples/microservices-demo/"


def product_catalog(probe: Object, **fields: object) -> Object:
    return server(BOUTIQUE + "productcatalogservice:v0.3.8", 3550, readinessProbe=probe, **fields)


def web(probe: Object, **fields: object) -> Object:
    code = "import http.server; http.server.ThreadingHTTPServer(('', 5000), Handler).serve_forever()"
    command = ["python", "-c", code]
    return server("python:3.12-slim", 5000, command=command, readinessProbe=probe, **fields)


@on_a_node
async def test_probe_waits_for_its_initial_delay(node: Node) -> None:
    node.run("redis", server(readinessProbe={"tcpSocket": {"port": 6379}, "initialDelaySeconds": 60}))
    await node.pass_time(55)
    assert not node.is_ready("redis")
    await node.ready("redis", limit_s=10)


@pytest.mark.parametrize(
    ("probe", "message"),
    [
        (
            {"httpGet": {"path": "/healthz", "port": 5001}},
            'Get "http://{ip}:5001/healthz": dial tcp {ip}:5001: connect',
        ),
        ({"tcpSocket": {"port": 5001}}, "dial tcp {ip}:5001: connect: connection refused"),
        (
            {"grpc": {"port": 5001}},
            'timeout: failed to connect service "{ip}:5001" within 1s: connection refused',
        ),
        ({"exec": {"command": ["cat", "/tmp/ready"]}}, "cat: /tmp/ready: No such file or directory"),
    ],
    ids=["http", "tcp", "grpc", "exec"],
)
@on_a_node
async def test_failing_probe_says_why(node: Node, probe: Object, message: str) -> None:
    node.run("web", web(probe))
    await node.until("told", lambda: node.events("Unhealthy"))
    told = node.events("Unhealthy")[0]
    assert told.startswith("Readiness probe failed: ")
    assert message.format(ip=node.sandbox("web").ip) in told.replace("can't open", "cat:")
    await node.pass_time(60)
    assert not node.is_ready("web")


@pytest.mark.parametrize(
    "probe",
    [
        {"grpc": {"port": 3550}},
        {"exec": {"command": ["/bin/grpc_health_probe", "-addr=:3550"]}},
        {"tcpSocket": {"port": 3550}},
    ],
    ids=["grpc", "grpc_health_probe", "tcp"],
)
@on_a_node
async def test_grpc_service_passes_its_probes(node: Node, probe: Object) -> None:
    node.run("catalog", product_catalog(probe))
    await node.ready("catalog")


@on_a_node
async def test_http_probe_of_a_grpc_service_fails(node: Node) -> None:
    node.run("catalog", product_catalog({"httpGet": {"path": "/", "port": 3550}}))
    await node.pass_time(60)
    assert not node.is_ready("catalog")


@on_a_node
async def test_exec_probe_without_the_tool_errs(node: Node) -> None:
    probe = {"exec": {"command": ["grpc_health_probe", "-addr=:6379"]}}
    node.run("redis", server(readinessProbe=probe))
    await node.until("told", lambda: node.events("Unhealthy"))
    assert node.events("Unhealthy")[0].startswith("Readiness probe errored")


@on_a_node
async def test_named_port_is_looked_up(node: Node) -> None:
    ports = [{"name": "http", "containerPort": 5000}]
    node.run("web", web({"httpGet": {"path": "/", "port": "http"}}, ports=ports))
    await node.ready("web")


@on_a_node
async def test_readiness_is_lost_after_the_failure_threshold_only(node: Node) -> None:
    probe = {"httpGet": {"path": "/", "port": 5000}, "periodSeconds": 10, "failureThreshold": 3}
    node.run("web", web(probe))
    await node.ready("web")
    node.sandbox("web").netem = Netem(delay_s=2.0)
    await node.pass_time(15)
    assert node.is_ready("web")
    await node.until("not ready", lambda: not node.is_ready("web"), 20)
    assert "context deadline exceeded" in node.events("Unhealthy")[-1]
    node.sandbox("web").netem = Netem()
    await node.ready("web", limit_s=11)


@on_a_node
async def test_delay_below_the_timeout_does_no_harm(node: Node) -> None:
    node.run("redis", server(readinessProbe={"tcpSocket": {"port": 6379}, "timeoutSeconds": 5}))
    await node.ready("redis")
    node.sandbox("redis").netem = Netem(delay_s=1.0)
    await node.pass_time(120)
    assert node.is_ready("redis")


@on_a_node
async def test_liveness_failure_restarts_the_container(node: Node) -> None:
    liveness = {"tcpSocket": {"port": 9999}, "periodSeconds": 5, "failureThreshold": 2}
    node.run("redis", server(livenessProbe=liveness))
    await node.until("restarted", lambda: node.status("redis")["restartCount"] >= 1)
    assert "Container server failed liveness probe, will be restarted" in node.events("Killing")
    assert node.status("redis")["lastState"]["terminated"]["exitCode"] == 0


@on_a_node
async def test_startup_probe_holds_the_others_back(node: Node) -> None:
    startup = {"tcpSocket": {"port": 8080}, "periodSeconds": 10, "failureThreshold": 30}
    liveness = {"tcpSocket": {"port": 8080}, "periodSeconds": 1, "failureThreshold": 1}
    java = server(
        "codewisdom/ts-order-service:1.0.1",
        8080,
        startupProbe=startup,
        livenessProbe=liveness,
        resources=limits("500m", "2000Mi"),
    )
    node.run("order", java)
    await node.pass_time(15)
    assert (node.status("order")["started"], node.status("order")["restartCount"]) == (False, 0)
    await node.ready("order")
    assert (node.status("order")["started"], node.status("order")["restartCount"]) == (True, 0)


@on_a_node
async def test_startup_probe_gives_up(node: Node) -> None:
    startup = {"tcpSocket": {"port": 9999}, "periodSeconds": 5, "failureThreshold": 2}
    node.run("redis", server(startupProbe=startup))
    await node.until("restarted", lambda: node.status("redis")["restartCount"] >= 1)
    assert "Container server failed startup probe, will be restarted" in node.events("Killing")


@on_a_node
async def test_saturated_service_is_slow_but_passes(node: Node) -> None:
    """Ten busy workers in the container: a saturated service is not dead."""
    probe = {"httpGet": {"path": "/", "port": 5000}}
    node.run("web", web(probe, resources=limits("200m", "256Mi")))
    await node.ready("web")
    before = node.network.request(None, node.sandbox("web").ip, 5000).latency_s
    for _ in range(10):
        node.container("web").spawn(("stress-ng-cpu",), cpu=1.0)
    await node.pass_time(120)
    assert node.is_ready("web")
    assert node.network.request(None, node.sandbox("web").ip, 5000).latency_s > 5 * before


@on_a_node
async def test_exec_probe_in_a_saturated_container_passes(node: Node) -> None:
    probe = {"exec": {"command": ["/bin/grpc_health_probe", "-addr=:3550"]}}
    node.run("catalog", product_catalog(probe, resources=limits("200m", "256Mi")))
    await node.ready("catalog")
    for _ in range(10):
        node.container("catalog").spawn(("stress-ng-cpu",), cpu=1.0)
    await node.pass_time(120)
    assert node.is_ready("catalog")


@on_a_node
async def test_tiny_cpu_limit_keeps_a_service_from_coming_up(node: Node) -> None:
    probe = {"grpc": {"port": 3550}}
    node.run("catalog", product_catalog(probe, env=environment(PORT="3550"), resources=limits("2m", "200Mi")))
    await node.pass_time(600)
    assert not node.is_ready("catalog")
    assert "running" in node.status("catalog")["state"]


@on_a_node
async def test_tiny_cpu_limit_keeps_even_a_small_program_from_listening(node: Node) -> None:
    node.run("redis", server(resources=limits("2m", "200Mi")))
    await node.pass_time(600)
    assert not node.is_ready("redis")


@on_a_node
async def test_healthy_pod_is_not_probed_all_the_time(node: Node) -> None:
    node.run("redis", server(readinessProbe={"tcpSocket": {"port": 6379}, "periodSeconds": 1}))
    await node.ready("redis")
    calls = []
    connect = node.network.connect
    node.network.connect = lambda *args, **kwargs: calls.append(1) or connect(*args, **kwargs)  # type: ignore[method-assign,func-returns-value]
    await node.pass_time(300)
    assert len(calls) <= 6
