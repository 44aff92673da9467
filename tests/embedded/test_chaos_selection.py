"""Which pods and containers an experiment is about."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.sim.chaos.resources import POD_CHAOS, STRESS_CHAOS
from tests.embedded.experiments import NAMESPACE, ChaosWorld
from tests.embedded.nodes import run, until

CPU = {"stressors": {"cpu": {"workers": 1}}}


def selected(spec: dict[str, Any]) -> list[str]:
    """Ids of the records of a StressChaos."""

    async def session() -> list[str]:
        world = ChaosWorld()
        world.create(STRESS_CHAOS, {**CPU, **spec})
        await until("conditions", lambda: bool(world.conditions(STRESS_CHAOS)))
        return sorted(record["id"] for record in world.records(STRESS_CHAOS))

    return run(session())


def select(mode: str = "all", value: str = "", **selector: Any) -> dict[str, Any]:
    return {"mode": mode, "value": value, "selector": selector}


@pytest.mark.parametrize(
    ("spec", "pods"),
    [
        (select(labelSelectors={"app": "web"}), ["web-1", "web-2"]),
        (select(labelSelectors={"app": "none"}), []),
        (select(namespaces=["elsewhere"]), []),
        (select(namespaces=[NAMESPACE], fieldSelectors={"metadata.name": "db-1"}), ["db-1"]),
        (select(expressionSelectors=[{"key": "app", "operator": "NotIn", "values": ["web"]}]), ["db-1"]),
        (select(pods={NAMESPACE: ["web-2", "gone"]}), ["web-2"]),
        (select(podPhaseSelectors=["Pending"]), []),
        (select(nodes=["node-1"], labelSelectors={"app": "db"}), ["db-1"]),
        (select("fixed-percent", "50", labelSelectors={"app": "web"}), 1),
        (select("fixed", "2"), 2),
        (select("fixed", "9"), 3),
        (select("fixed", "0"), []),
        (select("random-max-percent", "100", labelSelectors={"app": "db"}), None),
        (select("fixed-percent", "101"), []),
    ],
)
def test_selectors_and_modes(spec: dict[str, Any], pods: list[str] | int | None) -> None:
    ids = selected(spec)
    if isinstance(pods, int):
        assert len(ids) == pods
    elif pods is not None:
        assert [record_id.split("/")[1] for record_id in ids] == pods


def test_one_is_the_same_every_time() -> None:
    assert selected(select("one")) == selected(select("one"))
    assert len(selected(select("one"))) == 1


def test_the_first_container_unless_others_are_named() -> None:
    assert selected(select(pods={NAMESPACE: ["web-1"]})) == ["shop/web-1/web"]
    assert selected({**select(pods={NAMESPACE: ["web-1"]}), "containerNames": ["side"]}) == ["shop/web-1/side"]


def test_records_of_pods_have_no_container() -> None:
    async def session() -> str:
        world = ChaosWorld()
        world.create(POD_CHAOS, {"action": "pod-failure", **select(pods={NAMESPACE: ["web-1"]})})
        await world.injected(POD_CHAOS)
        return str(world.records(POD_CHAOS)[0]["id"])

    assert run(session()) == "shop/web-1"


def test_nothing_to_select_is_told_in_conditions_and_events() -> None:
    async def session() -> None:
        world = ChaosWorld()
        world.create(STRESS_CHAOS, {**CPU, **select(labelSelectors={"app": "none"})})
        await until("conditions", lambda: bool(world.conditions(STRESS_CHAOS)))
        assert world.conditions(STRESS_CHAOS) == {
            "Selected": "False",
            "AllInjected": "False",
            "AllRecovered": "False",
            "Paused": "False",
        }
        assert ("Failed", "Failed to select targets: no pod is selected") in world.events()
        await world.delete(STRESS_CHAOS)

    run(session())


def test_targets_are_selected_once() -> None:
    async def session() -> None:
        world = ChaosWorld()
        world.create(STRESS_CHAOS, {**CPU, **select(labelSelectors={"app": "web"})})
        await world.injected(STRESS_CHAOS)
        late = world.add_pod("web-3")
        world.annotate(STRESS_CHAOS, {"touched": "yes"})
        await until("the annotation", lambda: "touched" in world.get(STRESS_CHAOS)["metadata"]["annotations"])  # type: ignore[index]
        assert [record["id"] for record in world.records(STRESS_CHAOS)] == ["shop/web-1/web", "shop/web-2/web"]
        assert len(late.containers["web"].processes) == 1

    run(session())
