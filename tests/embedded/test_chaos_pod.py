"""PodChaos: pods that fail, are deleted, or lose a container."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.chaos.resources import POD_CHAOS
from tests.embedded.experiments import NAMESPACE, ChaosWorld
from tests.embedded.nodes import run, until

PAUSE_IMAGE = "gcr.io/google-containers/pause:latest"


async def inject(world: ChaosWorld, name: str = "test", **spec: Any) -> str:
    world.create(POD_CHAOS, {"selector": {"pods": {NAMESPACE: ["web-1"]}}, **spec}, name)
    await until("injection", lambda: world.conditions(POD_CHAOS, name).get("AllInjected") == "True")
    return str(world.records(POD_CHAOS, name)[0]["id"])


def stored(world: ChaosWorld) -> Object:
    pod = world.store.get(PODS, NAMESPACE, "web-1")
    assert pod is not None
    return pod


def images(pod: Object) -> list[str]:
    return [container["image"] for container in pod["spec"]["containers"]]


def test_pod_failure_puts_a_pause_image_in_place_of_all_images_and_restores_them() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, action="pod-failure")
        assert images(stored(world)) == [PAUSE_IMAGE, PAUSE_IMAGE]
        assert stored(world)["metadata"]["annotations"] == {
            "chaos-mesh-test-pod-failure-web-normal-image": "busybox:1.36",
            "chaos-mesh-test-pod-failure-side-normal-image": "busybox:1.36",
        }
        await world.delete(POD_CHAOS)
        assert images(stored(world)) == ["busybox:1.36", "busybox:1.36"]
        assert stored(world)["metadata"]["annotations"] == {}

    run(session())


def test_a_long_name_gives_a_short_annotation() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, name="a-very-long-name-of-an-experiment-that-fills-the-annotation", action="pod-failure")
        assert set(stored(world)["metadata"]["annotations"]) == {"web-normal", "side-normal"}

    run(session())


def test_pod_failure_recovers_though_the_pod_has_gone() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, action="pod-failure")
        world.remove_pod(world.web[0])
        await world.delete(POD_CHAOS)

    run(session())


def test_pod_kill_deletes_the_pod_with_the_grace_period() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, action="pod-kill", gracePeriod=7)
        assert stored(world)["metadata"]["deletionGracePeriodSeconds"] == 7

    run(session())


def test_container_kill_ends_the_first_process_of_the_named_container() -> None:
    async def session() -> None:
        world = ChaosWorld()
        ended: list[str] = []
        for container in world.web[0].containers.values():
            container.processes[1].on_exit = lambda signum, name=container.name: ended.append(f"{name} {signum}")
        assert await inject(world, action="container-kill", containerNames=["side"]) == "shop/web-1/side"
        assert ended == ["side 9"]

    run(session())
