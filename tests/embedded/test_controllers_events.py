"""Events tell once what happened often, in the order it happened, and do not pile up."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pytest_microremed.embedded.api.resources import EVENTS, NAMESPACES, PODS
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim import events
from tests.embedded.control_plane import ControlPlane, control_plane

plane = pytest.fixture(control_plane)


def pod(plane: ControlPlane, name: str = "web") -> Object:
    meta = {"name": name, "namespace": "shop"}
    spec = {"containers": [{"name": "main", "image": "web:1"}], "schedulerName": "none"}
    return plane.create(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": {}})


def record(plane: ControlPlane, obj: Object, message: str = "hello") -> None:
    events.record(plane.store, plane.clock, obj, "Warning", "Greeting", message, "tester", host="node-1")


def recorded(plane: ControlPlane) -> list[Object]:
    return plane.store.list(EVENTS, "shop")


def test_an_event_tells_whom_it_is_about_and_who_says_so(plane: ControlPlane) -> None:
    obj = pod(plane)
    field = "spec.containers{main}"
    events.record(
        plane.store,
        plane.clock,
        obj,
        "Normal",
        "Started",
        "it runs",
        "kubelet",
        host="node-1",
        field_path=field,
    )
    event = recorded(plane)[0]
    assert event["metadata"]["name"].startswith("web.")
    assert event["involvedObject"] == {
        "kind": "Pod",
        "namespace": "shop",
        "name": "web",
        "uid": obj["metadata"]["uid"],
        "apiVersion": "v1",
        "resourceVersion": obj["metadata"]["resourceVersion"],
        "fieldPath": field,
    }
    assert event["source"] == {"component": "kubelet", "host": "node-1"}
    assert (event["type"], event["reason"], event["message"]) == ("Normal", "Started", "it runs")


def test_the_same_again_is_counted(plane: ControlPlane) -> None:
    obj = pod(plane)
    for message in ("a", "b", "a", "a"):
        record(plane, obj, message)
    assert [(event["message"], event["count"]) for event in recorded(plane)] == [("a", 3), ("b", 1)]


def test_names_sort_in_the_order_of_what_happened(plane: ControlPlane) -> None:
    obj = pod(plane)
    for number in range(20):
        record(plane, obj, str(number))
    assert [event["message"] for event in recorded(plane)] == [str(number) for number in range(20)]


def test_only_the_newest_are_kept(plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "KEPT_PER_NAMESPACE", 5)
    obj = pod(plane)
    for number in range(9):
        record(plane, obj, str(number))
    assert [event["message"] for event in recorded(plane)] == ["4", "5", "6", "7", "8"]


def test_an_hour_later_they_are_gone(plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    record(plane, pod(plane))
    now = plane.clock.now()
    monkeypatch.setattr(plane.clock, "now", lambda: now + timedelta(minutes=59))
    plane.advance(3601, step=600)
    assert len(recorded(plane)) == 1
    monkeypatch.setattr(plane.clock, "now", lambda: now + timedelta(minutes=62))
    plane.advance(3601, step=600)
    assert recorded(plane) == []


def test_nothing_is_told_in_a_namespace_that_ends(plane: ControlPlane) -> None:
    meta = {"name": "shop", "deletionTimestamp": "2030-01-01T00:00:00Z", "finalizers": ["test"]}
    plane.store.create(NAMESPACES, {"apiVersion": "v1", "kind": "Namespace", "metadata": meta})
    record(plane, pod(plane))
    assert recorded(plane) == []
