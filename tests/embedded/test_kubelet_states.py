"""The states that a container goes through, as its pod's status tells them."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.api.resources import PODS
from tests.embedded.node import NAMESPACE, Node, limits, on_a_node, server

BUSYBOX = "busybox:1.36"


def shell(command: str, **fields: object) -> dict[str, object]:
    return {"name": "server", "image": BUSYBOX, "command": ["sh", "-c", command], **fields}


@on_a_node
async def test_pod_with_a_ready_container_is_running_and_ready(node: Node) -> None:
    node.run("redis", server())
    await node.ready("redis")
    status = node.pod("redis")["status"]
    assert status["phase"] == "Running"
    assert status["podIP"].startswith("10.244.")
    assert {c["type"]: c["status"] for c in status["conditions"]} == {
        "PodReadyToStartContainers": "True",
        "Initialized": "True",
        "Ready": "True",
        "ContainersReady": "True",
        "PodScheduled": "True",
    }
    container = status["containerStatuses"][0]
    assert container["state"]["running"]["startedAt"]
    assert container["image"] == "docker.io/library/redis:7"
    assert container["imageID"].startswith("docker.io/library/redis@sha256:")
    assert container["containerID"].startswith("containerd://")
    assert (container["ready"], container["started"], container["restartCount"]) == (True, True, 0)


@on_a_node
async def test_container_without_a_probe_is_ready_once_it_runs(node: Node) -> None:
    node.run("lazy", shell("while true; do sleep 60; done"))
    await node.ready("lazy", limit_s=5)


@on_a_node
async def test_start_is_told_in_events(node: Node) -> None:
    node.run("redis", server())
    await node.ready("redis")
    assert node.events("Pulling") == ['Pulling image "redis:7"']
    assert node.events("Pulled")[0].startswith('Successfully pulled image "redis:7" in 0.8s')
    assert node.events("Created") == ["Created container: server"]
    assert node.events("Started") == ["Started container server"]


@on_a_node
async def test_second_pod_finds_the_image_on_the_node(node: Node) -> None:
    node.run("one", server())
    await node.ready("one")
    node.run("two", server())
    await node.ready("two")
    assert 'Container image "redis:7" already present on machine' in node.events("Pulled")


@on_a_node
async def test_unknown_image_is_pulled_again_and_again(node: Node) -> None:
    node.run("ghost", server("example.com/ghost:1.0"))
    error = await node.waiting("ghost", "ErrImagePull")
    assert error["message"].startswith("rpc error: code = NotFound desc = failed to pull and unpack image")
    back_off = await node.waiting("ghost", "ImagePullBackOff")
    assert back_off["message"].startswith('Back-off pulling image "example.com/ghost:1.0"')
    assert node.pod("ghost")["status"]["phase"] == "Pending"
    await node.waiting("ghost", "ErrImagePull")
    assert "Error: ImagePullBackOff" in node.events("Failed")


@on_a_node
async def test_corrected_image_starts_at_once(node: Node) -> None:
    pod = node.run("redis", server("redis:doesnotexist"))
    await node.waiting("redis", "ImagePullBackOff")
    pod = node.pod("redis")
    node.store.update(PODS, {**pod, "spec": {**pod["spec"], "containers": [server("redis:7")]}})
    await node.ready("redis", limit_s=10)


@on_a_node
async def test_image_that_is_no_reference(node: Node) -> None:
    node.run("odd", server("Redis:7"))
    state = await node.waiting("odd", "InvalidImageName")
    assert "invalid reference format" in state["message"]


@on_a_node
async def test_failing_command_backs_off_twice_as_long_each_time(node: Node) -> None:
    node.run("broken", shell("echo no database; exit 3"))
    uid = node.pod("broken")["metadata"]["uid"]
    for wait in ("10s", "20s", "40s", "1m20s", "2m40s", "5m0s", "5m0s"):
        message = f"back-off {wait} restarting failed container=server pod=broken_{NAMESPACE}({uid})"
        state = await node.waiting("broken", "CrashLoopBackOff", 400)
        assert state["message"] == message
        ended = node.status("broken")["lastState"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (3, "Error")
        restarts = node.status("broken")["restartCount"]
        await node.until("next run", lambda n=restarts: node.status("broken")["restartCount"] > n, 400)  # type: ignore[misc]
    assert node.log("broken") == "no database"
    assert f"Back-off restarting failed container server in pod broken_{NAMESPACE}({uid})" in node.events("BackOff")


@on_a_node
async def test_long_run_resets_the_back_off(node: Node) -> None:
    node.run("broken", shell("sleep 700; exit 1"))
    await node.until("two restarts", lambda: node.status("broken")["restartCount"] == 2, 2500)
    assert not node.events("BackOff")


@on_a_node
async def test_program_that_is_not_in_the_image(node: Node) -> None:
    node.run("typo", {"name": "server", "image": BUSYBOX, "command": ["servr"]})
    await node.waiting("typo", "CrashLoopBackOff")
    ended = node.status("typo")["lastState"]["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (128, "StartError")
    assert 'exec: "servr": executable file not found in $PATH' in ended["message"]
    assert any("servr" in message for message in node.events("Failed"))


@on_a_node
async def test_pod_that_never_restarts_succeeds_or_fails(node: Node) -> None:
    node.run("good", shell("echo done"), restartPolicy="Never")
    node.run("bad", shell("exit 4"), restartPolicy="Never")
    await node.until("good", lambda: node.pod("good")["status"]["phase"] == "Succeeded")
    await node.until("bad", lambda: node.pod("bad")["status"]["phase"] == "Failed")
    assert node.status("good")["state"]["terminated"]["reason"] == "Completed"
    assert node.status("bad")["state"]["terminated"]["exitCode"] == 4
    assert node.log("good") == "done"


@on_a_node
async def test_init_containers_run_in_order_before_the_others(node: Node) -> None:
    first = shell("sleep 20") | {"name": "first"}
    second = shell("sleep 20") | {"name": "second"}
    node.run("redis", server(), initContainers=[first, second])
    await node.pass_time(15)
    assert node.condition("redis", "Initialized") == "False"
    assert node.status("redis")["state"]["waiting"]["reason"] == "PodInitializing"
    assert [list(status["state"]) for status in node.init_statuses("redis")] == [["running"], ["waiting"]]
    await node.ready("redis")
    ended = [status["state"]["terminated"]["reason"] for status in node.init_statuses("redis")]
    assert ended == ["Completed", "Completed"]


@on_a_node
async def test_failing_init_container_keeps_the_others_waiting(node: Node) -> None:
    node.run("redis", server(), initContainers=[shell("exit 1") | {"name": "migrate"}])
    await node.until("restarts", lambda: any(s["restartCount"] >= 2 for s in node.init_statuses("redis")))
    assert node.status("redis")["state"]["waiting"]["reason"] == "PodInitializing"
    assert node.pod("redis")["status"]["phase"] == "Pending"


@on_a_node
async def test_sidecar_among_the_init_containers_goes_on(node: Node) -> None:
    sidecar = shell("while true; do sleep 5; done") | {"name": "agent", "restartPolicy": "Always"}
    node.run("redis", server(), initContainers=[sidecar])
    await node.ready("redis")
    assert "running" in node.init_statuses("redis")[0]["state"]


@on_a_node
async def test_changed_image_restarts_the_container(node: Node) -> None:
    """How Chaos Mesh makes a pod fail: it swaps the image for one that does nothing."""
    node.run("redis", server())
    await node.ready("redis")
    pod = node.pod("redis")
    pause = server("gcr.io/google-containers/pause:latest")
    node.store.update(PODS, {**pod, "spec": {**pod["spec"], "containers": [pause]}})
    await node.until("not ready", lambda: not node.is_ready("redis"))
    await node.until("pause runs", lambda: "pause" in node.status("redis")["imageID"] or None)
    await node.pass_time(60)
    assert not node.is_ready("redis")
    assert "Container server definition changed, will be restarted" in node.events("Killing")
    pod = node.pod("redis")
    node.store.update(PODS, {**pod, "spec": {**pod["spec"], "containers": [server()]}})
    await node.ready("redis", limit_s=20)
    assert node.status("redis")["restartCount"] == 2


@on_a_node
async def test_usage_stays_known_while_the_pod_runs(node: Node) -> None:
    node.run("redis", server(resources=limits("125m", "64Mi")))
    assert node.simulation.pod_usage(node.pod("redis")) is None
    await node.ready("redis")
    assert set(node.simulation.pod_usage(node.pod("redis")) or {}) == {"server"}


@pytest.mark.parametrize("after_s", [0.05, 0.5, 1.0, 1.2])
@on_a_node
async def test_image_changed_while_the_container_is_being_made(node: Node, after_s: float) -> None:
    node.run("redis", server("nginx:1.27"))
    await node.pass_time(after_s)
    pod = node.pod("redis")
    node.store.update(PODS, {**pod, "spec": {**pod["spec"], "containers": [server("redis:7")]}})
    await node.ready("redis", limit_s=15)
    assert node.status("redis")["imageID"].startswith("docker.io/library/redis@")
