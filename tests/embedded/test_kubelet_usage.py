"""What the metrics of the node and its containers show."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import NODES
from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.sim.node import NODE_NAME
from tests.embedded.node import Node, environment, limits, on_a_node, server

MIB = 2**20
BOUTIQUE = "gcr.io/google-samples/microservices-demo/"


def usage(node: Node, pod: str) -> Usage:
    return (node.simulation.pod_usage(node.pod(pod)) or {})["server"]


AT_REST: dict[str, tuple[dict[str, Any], float, int]] = {
    "go": (server(BOUTIQUE + "shippingservice:v0.3.8", 50051), 0.2, 64),
    "node": (server(BOUTIQUE + "currencyservice:v0.3.8", 7000), 0.2, 256),
    "java": (server("codewisdom/ts-order-service:1.0.1", 12031), 0.5, 2000),
    "mysql": (server("mysql:5.7", 3306, env=environment(MYSQL_ROOT_PASSWORD="x")), 0.5, 1500),
    "dashboard": (server("codewisdom/ts-ui-dashboard:1.0.1", 8080), 0.5, 500),
    "redis": (server(), 0.125, 64),
}


@pytest.mark.parametrize(("container", "cpu", "memory_mib"), AT_REST.values(), ids=AT_REST.keys())
@on_a_node
async def test_program_at_rest_is_well_below_its_limits(
    node: Node, container: dict[str, Any], cpu: float, memory_mib: int
) -> None:
    resources = limits(f"{round(cpu * 1000)}m", f"{memory_mib}Mi")
    node.run("app", {**container, "resources": resources})
    await node.ready("app", limit_s=300)
    for _ in range(20):
        found = usage(node, "app")
        assert 0 < found.cpu_cores < 0.5 * cpu
        assert 0 < found.memory_bytes < 0.5 * memory_mib * MIB
        await node.pass_time(15)


@on_a_node
async def test_samples_scatter_a_little(node: Node) -> None:
    node.run("app", server())
    await node.ready("app")
    samples = [usage(node, "app").cpu_cores for _ in range(50)]
    assert len(set(samples)) > 10
    assert max(samples) / min(samples) < 1.1


@on_a_node
async def test_workers_fill_the_cpu_limit_and_no_more(node: Node) -> None:
    node.run("app", server(resources=limits("125m", "64Mi")))
    await node.ready("app")
    for _ in range(10):
        node.container("app").spawn(("stress-ng-cpu",), cpu=1.0)
    samples = [usage(node, "app").cpu_cores for _ in range(20)]
    assert all(0.118 < sample <= 0.125 for sample in samples)


@on_a_node
async def test_workers_without_a_limit_take_what_they_want(node: Node) -> None:
    node.run("app", server())
    await node.ready("app")
    node.container("app").spawn(("stress-ng-cpu",), cpu=2.0)
    assert usage(node, "app").cpu_cores == pytest.approx(2.0, rel=0.05)


@on_a_node
async def test_crashed_container_has_no_usage(node: Node) -> None:
    node.run("app", {"name": "server", "image": "busybox:1.36", "command": ["sh", "-c", "exit 1"]})
    await node.waiting("app", "CrashLoopBackOff")
    assert node.simulation.pod_usage(node.pod("app")) is None


@on_a_node
async def test_node_uses_the_sum_and_something_for_itself(node: Node) -> None:
    machine = node.store.get(NODES, None, NODE_NAME)
    assert machine is not None
    idle = node.simulation.node_usage(machine)
    assert idle.cpu_cores > 0
    node.run("app", server())
    await node.ready("app")
    node.container("app").spawn(("stress-ng-cpu",), cpu=2.0, memory=500 * MIB)
    busy = node.simulation.node_usage(machine)
    assert busy.cpu_cores - idle.cpu_cores == pytest.approx(2.0, rel=0.05)
    assert busy.memory_bytes - idle.memory_bytes == pytest.approx(508 * MIB, rel=0.05)


@on_a_node
async def test_node_is_ready_and_complete(node: Node) -> None:
    machine = node.store.get(NODES, None, NODE_NAME)
    assert machine is not None
    status = machine["status"]
    assert {c["type"]: c["status"] for c in status["conditions"]}["Ready"] == "True"
    assert (status["capacity"]["cpu"], status["capacity"]["pods"]) == ("32", "250")
    assert all(status["nodeInfo"].values())
