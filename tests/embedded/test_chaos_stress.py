"""StressChaos: stressors are processes of the target container, and gone is what was killed."""

from __future__ import annotations

import signal

import pytest

from pytest_microremed.embedded.sim.chaos.resources import STRESS_CHAOS
from pytest_microremed.embedded.sim.model import Container
from pytest_microremed.embedded.sim.shell.accounting import cpu_share
from pytest_microremed.embedded.sim.usage import cpu_demand, memory_bytes
from tests.embedded.experiments import ChaosWorld
from tests.embedded.nodes import run, until


def commands(container: Container) -> list[str]:
    return [" ".join(process.command) for process in container.processes.values()]


async def stressed(world: ChaosWorld, **stressors: object) -> Container:
    world.create(STRESS_CHAOS, {"stressors": stressors})
    return (await world.injected(STRESS_CHAOS)).containers["web"]


def test_cpu_workers_want_their_load_up_to_the_limit() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await stressed(world, cpu={"workers": 10, "load": 20})
        assert cpu_demand(container) == pytest.approx(2.01)
        assert cpu_demand(container) * cpu_share(container) == pytest.approx(0.5)
        listed = commands(container)
        assert "stress-ng --cpu-load-slice 10 --cpu-method sqrt --cpu 10 --cpu-load 20" in listed
        assert listed.count("stress-ng-cpu [run]") == 10
        assert len(container.pod.containers["side"].processes) == 1

    run(session())


def test_memory_workers_share_their_size() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await stressed(world, memory={"workers": 2, "size": "100MiB"})
        workers = [process for process in container.processes.values() if "--client" in process.command]
        assert [process.memory for process in workers] == [50 * 2**20, 50 * 2**20]

    run(session())


def test_a_percentage_is_of_the_containers_limit() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await stressed(world, memory={"workers": 1, "size": "80%"})
        assert 0.8 * 256 * 2**20 < memory_bytes(container) < 256 * 2**20

    run(session())


def test_killed_cpu_stressors_stay_away_though_the_experiment_says_injected() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await stressed(world, cpu={"workers": 3, "load": 100})
        assert (await world.shell(container, "pkill stress-ng")).exit_code == 0
        await world.clock.sleep(30)
        assert commands(container) == ["/srv/server"]
        assert world.conditions(STRESS_CHAOS)["AllInjected"] == "True"
        await world.delete(STRESS_CHAOS)

    run(session())


def test_stress_ng_ends_with_its_last_worker() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await stressed(world, cpu={"workers": 3})
        await world.shell(container, "kill -9 $(pgrep stress-ng-cpu)")
        assert commands(container) == ["/srv/server"]

    run(session())


def test_memstress_starts_its_killed_workers_again_until_it_is_killed_itself() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await stressed(world, memory={"workers": 1, "size": "10MB"})
        worker = next(p.pid for p in container.processes.values() if "--client" in p.command)
        container.kill(worker, signal.SIGKILL)
        assert not any("--client" in process.command for process in container.processes.values())
        await until("another worker", lambda: any("--client" in p.command for p in container.processes.values()))
        await world.shell(container, "pkill memStress")
        await world.clock.sleep(30)
        assert commands(container) == ["/srv/server"]

    run(session())


def test_recovery_ends_the_stressors_only() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await stressed(world, cpu={"workers": 3}, memory={"workers": 1, "size": "10MB"})
        await world.delete(STRESS_CHAOS)
        assert commands(container) == ["/srv/server"]

    run(session())


def test_recovery_leaves_a_process_alone_that_has_got_the_stressors_number() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = await stressed(world, cpu={"workers": 1})
        container.kill(1, signal.SIGKILL)
        container.reset()
        for _ in range(4):
            container.spawn(("/srv/server",))
        await world.delete(STRESS_CHAOS)
        assert len(container.processes) == 4

    run(session())


def test_the_stressors_run_as_root_whoever_runs_the_container() -> None:
    async def session() -> None:
        world = ChaosWorld()
        for pod in world.web:
            pod.containers["web"].user = 1000
        container = await stressed(world, cpu={"workers": 1})
        result = await world.shell(container, "pkill stress-ng")
        assert b"Operation not permitted" in result.stderr
        assert len(container.processes) == 3

    run(session())
