"""Memory limits: the kernel kills what does not fit, and the kubelet tells and restarts."""

from __future__ import annotations

import signal

from tests.embedded.node import Node, limits, on_a_node, server

ORDER = "codewisdom/ts-order-service:1.0.1"
MIB = 2**20


@on_a_node
async def test_limit_below_the_working_set_kills_the_container(node: Node) -> None:
    node.run("order", server(ORDER, 12031, resources=limits("500m", "200Mi")))
    await node.waiting("order", "CrashLoopBackOff")
    ended = node.status("order")["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "OOMKilled")
    assert "Killed process java" in node.events("OOMKilling")[0]
    assert not node.is_ready("order")


@on_a_node
async def test_limit_above_it_lets_it_live(node: Node) -> None:
    node.run("order", server(ORDER, 12031, resources=limits("500m", "2000Mi")))
    await node.ready("order", limit_s=300)
    assert node.status("order")["restartCount"] == 0


@on_a_node
async def test_stressor_that_does_not_fit_dies_alone(node: Node) -> None:
    node.run("redis", server(resources=limits("125m", "200Mi")))
    await node.ready("redis")
    signals: list[int] = []
    stressor = node.container("redis", "server").spawn(("stress-ng-vm",), memory=300 * MIB)
    stressor.on_exit = signals.append
    assert (node.simulation.pod_usage(node.pod("redis")) or {})["server"].memory_bytes <= 200 * MIB
    await node.pass_time(5)
    assert signals == [signal.SIGKILL]
    assert (node.is_ready("redis"), node.status("redis")["restartCount"]) == (True, 0)


@on_a_node
async def test_stressor_that_fits_stays(node: Node) -> None:
    node.run("redis", server(resources=limits("125m", "200Mi")))
    await node.ready("redis")
    stressor = node.container("redis").spawn(("stress-ng-vm",), memory=150 * MIB)
    await node.pass_time(60)
    assert stressor.pid in node.container("redis").processes
    usage = node.simulation.pod_usage(node.pod("redis")) or {}
    assert 150 * MIB < usage["server"].memory_bytes < 165 * MIB


@on_a_node
async def test_other_processes_die_with_the_container(node: Node) -> None:
    node.run("order", server(ORDER, 12031, resources=limits("500m", "600Mi")))
    await node.ready("order", limit_s=300)
    signals: list[int] = []
    node.container("order").spawn(("stress-ng-vm",), memory=300 * MIB).on_exit = signals.append
    await node.until("restarted", lambda: node.status("order")["restartCount"] == 1)
    assert node.status("order")["lastState"]["terminated"]["reason"] == "OOMKilled"
    assert signals == [signal.SIGKILL]
