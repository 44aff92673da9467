"""One object that a controller cannot handle stops neither the others nor itself for ever."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import CONFIG_MAPS, DEPLOYMENTS, PODS, REPLICA_SETS
from pytest_microremed.embedded.api.store import Change
from pytest_microremed.embedded.sim.controllers import start_controllers
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, Manager
from tests.embedded.control_plane import ControlPlane, control_plane, rolling, template, workload

plane = pytest.fixture(control_plane)


def test_a_broken_object_is_logged_and_tried_again_and_the_others_go_on(
    plane: ControlPlane, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        plane.create(DEPLOYMENTS, workload("Deployment", "bad", strategy=rolling("many", 0)))
        plane.create(DEPLOYMENTS, workload("Deployment", "good"))
    assert len(plane.pods(app="good")) == 1
    assert "deployment-controller: reconciling shop/bad failed" in caplog.text
    failures = len(caplog.records)
    with caplog.at_level(logging.ERROR):
        plane.advance(40)
    assert failures < len(caplog.records) < failures + 8, "retries come ever later"


def test_an_object_that_makes_no_sense_does_not_hinder_whoever_writes_others(
    plane: ControlPlane, caplog: pytest.LogCaptureFixture
) -> None:
    senseless = workload("ReplicaSet", "senseless")
    del senseless["spec"]["selector"]
    plane.create(REPLICA_SETS, senseless)
    meta = {"name": "alone", "namespace": "shop"}
    plane.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": template("alone")["spec"]})
    assert plane.get(PODS, "alone")["spec"]["nodeName"] == "node-1"
    assert "replicaset-controller: Pod shop/alone cannot be handled" in caplog.text


def test_it_recovers_without_another_change_of_the_object(plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    create = plane.store.create

    def refuse(resource: Any, obj: Any) -> Any:
        if resource is REPLICA_SETS:
            raise OSError("etcd is away")
        return create(resource, obj)

    monkeypatch.setattr(plane.store, "create", refuse)
    plane.create(DEPLOYMENTS, workload("Deployment"))
    monkeypatch.setattr(plane.store, "create", create)
    plane.advance(2)
    assert len(plane.pods()) == 1


def test_a_replica_set_of_somebody_else_is_not_overwritten(
    plane: ControlPlane, caplog: pytest.LogCaptureFixture
) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment"))
    name = plane.names(REPLICA_SETS)[0]
    plane.delete(DEPLOYMENTS, "web")
    foreign = workload("ReplicaSet", "other", replicas=0)
    foreign["metadata"]["name"] = name
    plane.create(REPLICA_SETS, foreign)
    plane.create(DEPLOYMENTS, workload("Deployment"))
    assert plane.get(REPLICA_SETS, name)["spec"] == foreign["spec"]
    assert f"ReplicaSet {name} of somebody else is in the way" in caplog.text


class Bell(Controller):
    """Notes when it is called."""

    component = "bell"
    watches = (CONFIG_MAPS,)

    def __init__(self, manager: Manager) -> None:
        super().__init__(manager)
        self.rung: list[float] = []

    def keys(self, change: Change) -> list[Key]:
        return []

    def reconcile(self, namespace: str, name: str) -> None:
        self.rung.append(self.clock.seconds())


@pytest.mark.parametrize("delays", [(5, 20), (20, 5)])
def test_the_earliest_of_several_appointments_is_kept(plane: ControlPlane, delays: tuple[int, int]) -> None:
    bell = Bell(Manager(plane.store, plane.clock))
    for delay in delays:
        bell.later(delay, {"metadata": {"name": "x", "namespace": "shop"}})
    plane.advance(30)
    assert bell.rung == [5]


def test_what_was_there_before_the_controllers_is_reconciled_too() -> None:
    plane = ControlPlane()
    late = ControlPlane()
    late.store = plane.store
    plane.close()
    plane.store.create(DEPLOYMENTS, workload("Deployment", "early"))
    start_controllers(plane.store, late.clock)
    late.settle()
    assert len(late.names(REPLICA_SETS)) == 1
    late.close()
