"""What containers write, and how reading it later changes nothing."""

from __future__ import annotations

import json
import re

import pytest

from pytest_microremed.embedded.api.runtime import RuntimeRefused
from pytest_microremed.embedded.sim.model import DiskFault, Netem
from tests.embedded.node import Node, environment, limits, on_a_node, server

BOUTIQUE = "gcr.io/google-samples/microservices-demo/"
PATIENT = {"tcpSocket": {"port": 7070}, "timeoutSeconds": 5}
LOGS = {"volumeMounts": [{"name": "logs", "mountPath": "/var/log/service"}]}


def fresh(node: Node, pod: str, seen: str) -> list[str]:
    """Lines that were not there before."""
    now = node.log(pod)
    assert now.startswith(seen), "lines that were once read have changed"
    return now[len(seen) :].splitlines()[1:]


@on_a_node
async def test_program_tells_of_its_start_in_its_own_style(node: Node) -> None:
    node.run("redis", server())
    node.run("catalog", server(BOUTIQUE + "productcatalogservice:v0.3.8", 3550))
    node.run("order", server("codewisdom/ts-order-service:1.0.1", 12031, resources=limits("500m", "2000Mi")))
    await node.ready("redis", "catalog", "order", limit_s=300)
    assert "* Ready to accept connections" in node.log("redis")
    first = json.loads(node.log("catalog").splitlines()[0])
    assert first["severity"] == "info"
    assert "Tomcat started on port(s): 12031 (http)" in node.log("order")
    assert " INFO 1 --- [" in node.log("order")


@on_a_node
async def test_healthy_program_writes_now_and_then(node: Node) -> None:
    node.run("catalog", server(BOUTIQUE + "productcatalogservice:v0.3.8", 3550))
    await node.ready("catalog")
    seen = node.log("catalog")
    await node.pass_time(300)
    lines = fresh(node, "catalog", seen)
    assert 5 <= len(lines) <= 60
    assert "error" not in "".join(lines)


@on_a_node
async def test_old_lines_are_dropped(node: Node) -> None:
    node.run("catalog", server(BOUTIQUE + "productcatalogservice:v0.3.8", 3550))
    await node.ready("catalog")
    await node.pass_time(86400)
    assert len(node.log("catalog").splitlines()) < 300


@on_a_node
async def test_saturated_program_complains_of_slow_requests(node: Node) -> None:
    node.run("catalog", server(BOUTIQUE + "productcatalogservice:v0.3.8", 3550, resources=limits("200m", "256Mi")))
    await node.ready("catalog")
    seen = node.log("catalog")
    workers = [node.container("catalog").spawn(("stress",), cpu=1.0) for _ in range(10)]
    await node.pass_time(120)
    lines = fresh(node, "catalog", seen)
    assert lines
    assert any("slow" in line for line in lines)
    seen = node.log("catalog")
    for worker in workers:
        node.container("catalog").kill(worker.pid, 9)
    await node.pass_time(120)
    assert not [line for line in fresh(node, "catalog", seen) if "slow" in line]


@on_a_node
async def test_trouble_that_nobody_read_of_stays_in_the_log(node: Node) -> None:
    container = server(BOUTIQUE + "productcatalogservice:v0.3.8", 3550, resources=limits("200m", "256Mi"))
    node.run("catalog", container)
    await node.ready("catalog")
    workers = [node.container("catalog").spawn(("stress",), cpu=1.0) for _ in range(10)]
    await node.pass_time(120)
    for worker in workers:
        node.container("catalog").kill(worker.pid, 9)
    await node.pass_time(120)
    slow = ["slow" in line for line in node.log("catalog").splitlines()]
    assert any(slow)
    assert not any(slow[-5:])


@on_a_node
async def test_disk_and_network_trouble_show(node: Node) -> None:
    node.service("redis-cart", 6379)
    node.run("redis-cart", server())
    await node.ready("redis-cart")
    await node.until("endpoints", lambda: node.endpoints("redis-cart"))
    env = environment(REDIS_ADDR="redis-cart:6379")
    node.run(
        "cart",
        server(BOUTIQUE + "cartservice:v0.3.8", 7070, env=env, readinessProbe=PATIENT, **LOGS),
        volumes=[{"name": "logs", "emptyDir": {}}],
    )
    await node.ready("cart")
    node.sandbox("cart").volumes["logs"].faults["io"] = DiskFault("server", latency_s=5.0, percent=50)
    node.sandbox("cart").changed()
    await node.pass_time(60)
    assert "writing the request log took 2.50 s" in node.log("cart")
    node.sandbox("cart").volumes["logs"].faults.clear()
    node.sandbox("cart").netem = Netem(delay_s=1.0)
    seen = node.log("cart")
    await node.pass_time(60)
    assert any(re.search(r" 10\d\dms$", line) for line in fresh(node, "cart", seen))


@on_a_node
async def test_service_without_endpoints_gets_no_requests(node: Node) -> None:
    container = server(BOUTIQUE + "emailservice:v0.3.8", 8080, env=environment(PORT="9090"))
    node.run("emailservice", container)
    await node.pass_time(120)
    assert "listening on port: 9090" in node.log("emailservice")
    assert "served" not in node.log("emailservice")


@on_a_node
async def test_log_of_the_previous_run_is_kept(node: Node) -> None:
    node.run("once", {"name": "server", "image": "busybox:1.36", "command": ["sh", "-c", "echo once; exit 1"]})
    await node.until("restarted", lambda: node.status("once")["restartCount"] == 2)
    await node.waiting("once", "CrashLoopBackOff")
    assert node.log("once", previous=True) == "once"


@on_a_node
async def test_container_that_has_not_run_has_no_log(node: Node) -> None:
    node.run("ghost", server("example.com/ghost:1"))
    await node.waiting("ghost", "ErrImagePull")
    with pytest.raises(RuntimeRefused, match='"server" in pod "ghost" is waiting to start: trying and failing'):
        node.log("ghost")
    node.run("redis", server())
    await node.ready("redis")
    with pytest.raises(RuntimeRefused, match='previous terminated container "server" in pod "redis" not found') as no:
        node.log("redis", previous=True)
    assert no.value.status == 400
