"""How pods end."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.runtime import RuntimeRefused
from tests.embedded.node import NAMESPACE, Node, on_a_node, server


def is_gone(node: Node, name: str) -> bool:
    return node.store.get(PODS, NAMESPACE, name) is None


@on_a_node
async def test_deleted_pod_ends_gracefully(node: Node) -> None:
    node.run("redis", server())
    await node.ready("redis")
    node.store.delete(PODS, node.pod("redis"))
    assert "deletionTimestamp" in node.pod("redis")["metadata"]
    await node.until("gone", lambda: is_gone(node, "redis"), 5)
    assert node.events("Killing") == ["Stopping container server"]
    assert not node.simulation.nodes.pods


@on_a_node
async def test_process_without_a_handler_takes_the_whole_grace_period(node: Node) -> None:
    sleeper = {
        "name": "server",
        "image": "busybox:1.36",
        "command": ["sh", "-c", "while true; do sleep 9; done"],
    }
    node.run("stubborn", sleeper, terminationGracePeriodSeconds=20)
    await node.ready("stubborn")
    node.store.delete(PODS, node.pod("stubborn"))
    await node.pass_time(19)
    assert not is_gone(node, "stubborn")
    await node.until("gone", lambda: is_gone(node, "stubborn"), 3)


@on_a_node
async def test_trap_ends_a_shell_at_once(node: Node) -> None:
    command = ["sh", "-c", "trap 'exit 0' TERM; while :; do sleep 3600 & wait; done"]
    node.run("polite", {"name": "server", "image": "busybox:1.36", "command": command})
    await node.ready("polite")
    node.store.delete(PODS, node.pod("polite"))
    await node.until("gone", lambda: is_gone(node, "polite"), 3)


@on_a_node
async def test_forced_deletion_kills_at_once(node: Node) -> None:
    node.run("redis", server())
    await node.ready("redis")
    signals: list[int] = []
    node.container("redis").spawn(("worker",)).on_exit = signals.append
    node.store.delete(PODS, node.pod("redis"), grace_s=0)
    assert is_gone(node, "redis")
    assert signals == [9]
    assert not node.simulation.nodes.pods


@on_a_node
async def test_pod_that_never_got_its_image_can_be_deleted(node: Node) -> None:
    node.run("ghost", server("example.com/ghost:1"))
    await node.waiting("ghost", "ImagePullBackOff")
    node.store.delete(PODS, node.pod("ghost"))
    await node.until("gone", lambda: is_gone(node, "ghost"), 3)


@on_a_node
async def test_finalizer_holds_the_object_but_not_the_processes(node: Node) -> None:
    pod = node.run("redis", server())
    await node.ready("redis")
    pod = node.pod("redis")
    meta = {**pod["metadata"], "finalizers": ["example.com/held"]}
    node.store.delete(PODS, node.store.update(PODS, {**pod, "metadata": meta}))
    await node.pass_time(5)
    assert "terminated" in node.status("redis")["state"]
    pod = node.pod("redis")
    meta = {key: value for key, value in pod["metadata"].items() if key != "finalizers"}
    node.store.update(PODS, {**pod, "metadata": meta})
    await node.until("gone", lambda: is_gone(node, "redis"), 3)


@on_a_node
async def test_killed_main_process_restarts_the_container(node: Node) -> None:
    node.run("redis", server())
    await node.ready("redis")
    node.container("redis").kill(1, 15)
    await node.until("restarted", lambda: node.status("redis")["restartCount"] == 1)
    assert node.status("redis")["lastState"]["terminated"]["exitCode"] == 143
    await node.ready("redis")


@on_a_node
async def test_exec_needs_a_running_container(node: Node) -> None:
    node.run("ghost", server("example.com/ghost:1"))
    await node.waiting("ghost", "ErrImagePull")
    with pytest.raises(RuntimeRefused, match=r'container not found \("server"\)') as refused:
        await node.execute("ghost", "true")
    assert refused.value.status == 500
