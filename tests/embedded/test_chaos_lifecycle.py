"""An experiment from its creation to its deletion: finalizer, phases, records, conditions, pause, duration, events."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.sim.chaos.injector import InjectionError
from pytest_microremed.embedded.sim.chaos.network import NetworkFaults
from pytest_microremed.embedded.sim.chaos.resources import NETWORK_CHAOS, POD_CHAOS, STRESS_CHAOS
from tests.embedded.experiments import ChaosWorld
from tests.embedded.nodes import run, until

LOSS = {"action": "loss", "loss": {"loss": "50"}}
PAUSE = "experiment.chaos-mesh.org/pause"
FORCED = {"chaos-mesh.chaos-mesh.org/cleanFinalizer": "forced"}


def test_creation_injects_and_says_so() -> None:
    async def session() -> None:
        world = ChaosWorld()
        world.create(NETWORK_CHAOS, LOSS)
        pod = await world.injected(NETWORK_CHAOS)
        chaos = world.get(NETWORK_CHAOS)
        assert chaos is not None
        assert chaos["metadata"]["finalizers"] == ["chaos-mesh/records"]
        assert chaos["status"]["experiment"]["desiredPhase"] == "Run"
        (record,) = world.records(NETWORK_CHAOS)
        assert record["id"] == f"shop/{pod.name}"
        assert (record["phase"], record["selectorKey"]) == ("Injected", ".")
        assert (record["injectedCount"], record["recoveredCount"]) == (1, 0)
        assert [(event["operation"], event["type"]) for event in record["events"]] == [("Apply", "Succeeded")]
        assert world.conditions(NETWORK_CHAOS) == {
            "Selected": "True",
            "AllInjected": "True",
            "AllRecovered": "False",
            "Paused": "False",
        }
        assert chaos["status"]["instances"] == {f"shop/{pod.name}": 1}
        assert {
            ("FinalizerInited", "Finalizer has been inited"),
            ("Started", "Experiment has started"),
            ("Applied", f"Successfully apply chaos for shop/{pod.name}"),
            ("Updated", "Successfully update records of resource"),
        } <= set(world.events())

    run(session())


def test_deletion_recovers_before_the_object_goes() -> None:
    async def session() -> None:
        world = ChaosWorld()
        world.create(NETWORK_CHAOS, LOSS)
        pod = await world.injected(NETWORK_CHAOS)
        await world.delete(NETWORK_CHAOS)
        assert not pod.netem
        assert ("Recovered", f"Successfully recover chaos for shop/{pod.name}") in world.events()
        assert ("Deleted", "Experiment has been deleted") in world.events()

    run(session())


def test_pause_recovers_and_its_end_injects_again() -> None:
    async def session() -> None:
        world = ChaosWorld()
        world.create(NETWORK_CHAOS, LOSS)
        pod = await world.injected(NETWORK_CHAOS)
        world.annotate(NETWORK_CHAOS, {PAUSE: "true"})
        await world.recovered(NETWORK_CHAOS)
        assert world.conditions(NETWORK_CHAOS)["Paused"] == "True"
        assert world.status(NETWORK_CHAOS)["experiment"]["desiredPhase"] == "Stop"
        assert not pod.netem
        world.annotate(NETWORK_CHAOS, {})
        await world.injected(NETWORK_CHAOS)
        assert pod.netem.loss == 0.5
        assert world.records(NETWORK_CHAOS)[0]["injectedCount"] == 2

    run(session())


def test_it_ends_when_its_duration_is_over() -> None:
    async def session() -> None:
        world = ChaosWorld()
        world.create(NETWORK_CHAOS, {**LOSS, "duration": "20m"})
        pod = await world.injected(NETWORK_CHAOS)
        assert pod.netem
        await world.recovered(NETWORK_CHAOS)
        assert not pod.netem
        assert ("TimeUp", "Time up according to the duration") in world.events()
        assert world.get(NETWORK_CHAOS) is not None

    run(session())


def test_a_replaced_pod_takes_the_effect_with_it_and_deletion_still_works() -> None:
    async def session() -> None:
        world = ChaosWorld()
        world.create(STRESS_CHAOS, {"stressors": {"cpu": {"workers": 2}}})
        pod = await world.injected(STRESS_CHAOS)
        world.remove_pod(pod)
        successor = world.add_pod("web-9", "web")
        world.annotate(STRESS_CHAOS, {"touched": "yes"})
        await until("the annotation", lambda: "annotations" in world.get(STRESS_CHAOS)["metadata"])  # type: ignore[index]
        assert world.conditions(STRESS_CHAOS)["AllInjected"] == "True"
        assert len(successor.containers["web"].processes) == 1
        await world.delete(STRESS_CHAOS)

    run(session())


def test_what_cannot_be_injected_now_is_tried_again() -> None:
    async def session() -> None:
        world = ChaosWorld()
        for pod in world.web:
            pod.containers["web"].state = "waiting"
        world.create(STRESS_CHAOS, {"stressors": {"cpu": {"workers": 2}}})
        await until("a failure", lambda: bool(world.records(STRESS_CHAOS)))
        (record,) = world.records(STRESS_CHAOS)
        assert record["phase"] == "Not Injected"
        assert record["events"][-1]["type"] == "Failed"
        assert world.conditions(STRESS_CHAOS)["AllInjected"] == "False"
        for pod in world.web:
            pod.containers["web"].state = "running"
        await world.injected(STRESS_CHAOS)

    run(session())


def test_a_forced_clean_up_lets_an_experiment_go_that_cannot_be_recovered(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise InjectionError("the daemon does not answer")

    async def session() -> None:
        world = ChaosWorld()
        world.create(NETWORK_CHAOS, LOSS)
        pod = await world.injected(NETWORK_CHAOS)
        monkeypatch.setattr(NetworkFaults, "recover", fail)
        chaos = world.get(NETWORK_CHAOS)
        assert chaos is not None
        world.store.delete(NETWORK_CHAOS, chaos)
        failure = ("Failed", "Failed to recover chaos: the daemon does not answer")
        await until("the failure", lambda: failure in world.events())
        assert world.get(NETWORK_CHAOS) is not None
        world.annotate(NETWORK_CHAOS, FORCED)
        await until("the end", lambda: world.get(NETWORK_CHAOS) is None)
        assert pod.netem.loss == 0.5

    run(session())


def test_an_experiment_that_happens_once_stays_in_its_phase() -> None:
    async def session() -> None:
        world = ChaosWorld()
        world.create(POD_CHAOS, {"action": "pod-kill", "duration": "1s"})
        await until("injection", lambda: world.conditions(POD_CHAOS).get("AllInjected") == "True")
        world.annotate(POD_CHAOS, {PAUSE: "true"})
        await until("the pause", lambda: world.conditions(POD_CHAOS)["Paused"] == "True")
        assert world.status(POD_CHAOS)["experiment"]["desiredPhase"] == "Run"
        await world.delete(POD_CHAOS)

    run(session())


def test_values_that_no_schema_catches_are_told_as_failures() -> None:
    async def session() -> list[tuple[str, str]]:
        world = ChaosWorld()
        world.create(NETWORK_CHAOS, {"action": "loss", "loss": {"loss": "half"}}, "value")
        selector = {"expressionSelectors": [{"key": "app", "operator": "Like", "values": ["web"]}]}
        world.create(NETWORK_CHAOS, {**LOSS, "selector": selector}, "selector")
        await until("records", lambda: bool(world.records(NETWORK_CHAOS, "value")))
        await until("conditions", lambda: bool(world.conditions(NETWORK_CHAOS, "selector")))
        for name in ("value", "selector"):
            await world.delete(NETWORK_CHAOS, name)
        return world.events("value") + world.events("selector")

    messages = [message for reason, message in run(session()) if reason == "Failed"]
    assert messages == [
        "Failed to apply chaos: could not convert string to float: 'half'",
        "Failed to select targets: 'Like' is not a valid label selector operator",
    ]
