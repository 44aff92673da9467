"""IOChaos: a container's operations on one of its volumes become slow, or fail."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.sim.chaos.io import path_in_volume
from pytest_microremed.embedded.sim.chaos.resources import IO_CHAOS
from pytest_microremed.embedded.sim.model import Container, Mount, Volume
from tests.embedded.experiments import ChaosWorld
from tests.embedded.nodes import LOGS, run

LATENCY = {"action": "latency", "delay": "5s", "percent": 100, "volumePath": LOGS, "path": f"{LOGS}/**/*"}
DD = f"dd if=/dev/zero of={LOGS}/test bs=1M count=4 oflag=direct"


async def inject(world: ChaosWorld, **spec: Any) -> Container:
    world.create(IO_CHAOS, {**LATENCY, **spec})
    return (await world.injected(IO_CHAOS)).containers["web"]


async def dd_seconds(world: ChaosWorld, container: Container) -> float:
    text = (await world.shell(container, DD)).stderr.decode()
    return float(text.split("copied, ")[1].split(" ")[0])


def test_each_operation_waits() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await inject(world)
        assert await dd_seconds(world, container) == 25.0  # to open the file, and four blocks
        await world.delete(IO_CHAOS)
        assert await dd_seconds(world, container) < 0.1

    run(session())


def test_only_the_named_share_of_the_operations_waits() -> None:
    async def session() -> float:
        world = ChaosWorld()
        container = await inject(world, percent=50, delay="1s")
        text = (await world.shell(container, DD.replace("count=4", "count=100"))).stderr.decode()
        return float(text.split("copied, ")[1].split(" ")[0])

    assert 25 < run(session()) < 75


def test_it_is_bound_to_the_containers_mount() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await inject(world)
        assert await dd_seconds(world, container.pod.containers["side"]) < 0.1
        assert (await world.shell(container, "time cat /etc/hosts > /dev/null")).stderr.startswith(b"real\t0m 0.00s")
        mounts = (await world.shell(container, f"mount | grep {LOGS}")).stdout.decode()
        assert mounts == f"toda on {LOGS} type fuse (rw,relatime)\n"

    run(session())


def test_methods_choose_operations() -> None:
    async def session() -> float:
        world = ChaosWorld()
        container = await inject(world, methods=["read"])
        return await dd_seconds(world, container)

    assert run(session()) < 0.1


def test_faults_make_operations_fail() -> None:
    async def session() -> tuple[bytes, int]:
        world = ChaosWorld()
        container = await inject(world, action="fault", errno=28)
        result = await world.shell(container, f"echo x > {LOGS}/a")
        return result.stderr, result.exit_code

    assert run(session()) == (f"sh: can't create {LOGS}/a: No space left on device\n".encode(), 1)


def test_it_ends_when_the_container_restarts() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await inject(world)
        container.kill(1, 9)
        container.reset()
        container.spawn(("/srv/server",))
        assert await dd_seconds(world, container) < 0.1
        assert world.conditions(IO_CHAOS)["AllInjected"] == "True"
        await world.delete(IO_CHAOS)

    run(session())


def test_a_path_that_is_no_mount_cannot_be_injected() -> None:
    async def session() -> list[tuple[str, str]]:
        world = ChaosWorld()
        world.create(IO_CHAOS, {**LATENCY, "volumePath": "/var/lib"})
        while not world.records(IO_CHAOS):
            await world.clock.sleep(1)
        return world.events()

    messages = [message for reason, message in run(session()) if reason == "Failed"]
    assert len(messages) == 1
    assert "/var/lib is no mount point" in messages[0]


@pytest.mark.parametrize(
    ("pattern", "sub_path", "expected"),
    [
        ("", "", "*"),
        ("/data/**/*", "", "*"),
        ("/data/*.log", "", "*.log"),
        ("/data/a/**/*.db", "", "a/*.db"),
        ("/data/**", "part", "part/*"),
    ],
)
def test_patterns_of_paths(pattern: str, sub_path: str, expected: str) -> None:
    assert path_in_volume(pattern, Mount("/data", Volume("data"), sub_path)) == expected


def test_what_happens_is_reproducible_but_not_the_same_for_each_command() -> None:
    async def session() -> list[float]:
        world = ChaosWorld()
        container = await inject(world, percent=50, delay="1s")
        return [await dd_seconds(world, container) for _ in range(8)]

    first = run(session())
    assert run(session()) == first
    assert len(set(first)) > 1
