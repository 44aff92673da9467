"""NetworkChaos: what happens to the packets of the selected pods."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.sim.chaos.resources import NETWORK_CHAOS
from pytest_microremed.embedded.sim.model import PodSandbox
from tests.embedded.experiments import NAMESPACE, ChaosWorld
from tests.embedded.nodes import run

DB = {"mode": "all", "selector": {"namespaces": [NAMESPACE], "labelSelectors": {"app": "db"}}}
WEB_1 = {"mode": "all", "selector": {"pods": {NAMESPACE: ["web-1"]}}}


def loss(world: ChaosWorld, source: PodSandbox, target: PodSandbox, count: int = 200) -> float:
    return world.network.ping(source, target.ip, count).loss


async def inject(world: ChaosWorld, spec: dict[str, Any], name: str = "test") -> None:
    world.create(NETWORK_CHAOS, {**WEB_1, **spec}, name)
    await world.injected(NETWORK_CHAOS, name)


def test_loss() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, {"action": "loss", "loss": {"loss": "50", "correlation": "0"}, "direction": "to"})
        web, other = world.web
        assert 0.3 < loss(world, web, world.db) < 0.7
        assert 0.3 < loss(world, world.db, web) < 0.7, "answers get lost too"
        assert loss(world, other, world.db) == 0

    run(session())


def test_delay() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, {"action": "delay", "delay": {"latency": "1000ms", "jitter": "100ms"}})
        trips = world.network.ping(world.web[0], world.db.ip, 50).round_trips
        assert all(trip is not None and 0.9 <= trip < 1.11 for trip in trips)
        assert max(trips) - min(trips) > 0.05  # type: ignore[operator, type-var]

    run(session())


def test_two_experiments_on_one_pod_add_up_and_recover_each_for_itself() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, {"action": "loss", "loss": {"loss": "50"}}, "loss")
        await inject(world, {"action": "delay", "delay": {"latency": "2s"}}, "delay")
        netem = world.web[0].netem
        assert (netem.loss, netem.delay_s) == (0.5, 2.0)
        await world.delete(NETWORK_CHAOS, "loss")
        netem = world.web[0].netem
        assert (netem.loss, netem.delay_s) == (0.0, 2.0)

    run(session())


def test_a_target_limits_the_effect_to_packets_to_it() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, {"action": "loss", "loss": {"loss": "100"}, "direction": "to", "target": DB})
        web, other = world.web
        assert loss(world, web, world.db, 20) == 1
        assert loss(world, web, other, 20) == 0
        assert [(record["id"], record["selectorKey"]) for record in world.records(NETWORK_CHAOS)] == [
            ("shop/web-1", "."),
            ("shop/db-1", ".Target"),
        ]
        assert b"netem 5: dev eth0 parent 1:4" in (await world.shell(web.containers["web"], "tc qdisc")).stdout
        await world.delete(NETWORK_CHAOS)
        assert loss(world, web, world.db, 20) == 0

    run(session())


@pytest.mark.parametrize(
    ("direction", "impaired"), [("to", ["web-1"]), ("from", ["db-1"]), ("both", ["db-1", "web-1"])]
)
def test_the_direction_says_whose_packets_are_delayed(direction: str, impaired: list[str]) -> None:
    async def session() -> list[str]:
        world = ChaosWorld()
        await inject(world, {"action": "delay", "delay": {"latency": "1s"}, "direction": direction, "target": DB})
        return sorted(pod.name for pod in world.nodes.pods.values() if pod.filters)

    assert run(session()) == impaired


@pytest.mark.parametrize("direction", ["to", "from", "both"])
def test_a_partition_lets_nothing_through(direction: str) -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, {"action": "partition", "direction": direction, "target": DB})
        web, other = world.web
        assert loss(world, web, world.db, 20) == 1
        assert loss(world, web, other, 20) == 0
        assert world.network.connect(web, world.db.ip, 80, 5).status == "timeout"
        await world.delete(NETWORK_CHAOS)
        assert world.network.connect(web, world.db.ip, 80, 5).status == "open"

    run(session())


def test_deleting_the_qdisc_ends_the_effect_though_the_experiment_says_injected() -> None:
    async def session() -> None:
        world = ChaosWorld()
        container = world.web[0].containers["web"]
        container.spec["securityContext"] = {"privileged": True}
        await inject(world, {"action": "loss", "loss": {"loss": "100"}})
        assert (await world.shell(container, "tc qdisc del dev eth0 root")).exit_code == 0
        assert loss(world, world.web[0], world.db, 20) == 0
        assert world.conditions(NETWORK_CHAOS)["AllInjected"] == "True"
        await world.delete(NETWORK_CHAOS)

    run(session())


def test_the_effect_stays_when_a_container_restarts() -> None:
    async def session() -> None:
        world = ChaosWorld()
        await inject(world, {"action": "loss", "loss": {"loss": "100"}})
        container = world.web[0].containers["web"]
        container.kill(1, 9)
        container.reset()
        assert loss(world, world.web[0], world.db, 20) == 1

    run(session())


def test_actions_that_are_not_simulated_are_told_as_failures() -> None:
    async def session() -> list[tuple[str, str]]:
        world = ChaosWorld()
        world.create(NETWORK_CHAOS, {"action": "bandwidth", "bandwidth": {"rate": "1mbps", "limit": 1, "buffer": 1}})
        while not world.records(NETWORK_CHAOS):
            await world.clock.sleep(1)
        return world.events()

    assert ("Failed", "Failed to apply chaos: action bandwidth is not simulated") in run(session())
