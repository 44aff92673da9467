"""Watches: from where they begin, what they tell, and how they end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import CONFIG_MAPS
from pytest_microremed.embedded.api.store import Store
from tests.embedded.api.bare_cluster import BareCluster
from tests.embedded.api.objects import config_map
from tests.embedded.clients import Http, Kubectl


@pytest.fixture
def path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"


def _events(lines: Iterator[Any], count: int) -> list[tuple[str, str]]:
    """The next events as type and name."""
    found = [next(lines) for _ in range(count)]
    return [(event["type"], event["object"]["metadata"].get("name", "")) for event in found]


def test_a_watch_without_a_version_begins_with_what_there_is(http: Http, path: str) -> None:
    http.create(path, config_map("one"))
    lines = http.lines(f"{path}?watch=true&labelSelector=!x&timeoutSeconds=20")
    assert _events(lines, 2) == [("ADDED", "kube-root-ca.crt"), ("ADDED", "one")]
    http.create(path, config_map("two"))
    assert _events(lines, 1) == [("ADDED", "two")]


def test_a_watch_from_a_version_tells_what_came_after_it(http: Http, path: str) -> None:
    first = http.create(path, config_map("one"))
    http.patch(f"{path}/one", {"data": {"mode": "fast"}})
    http.request("DELETE", f"{path}/one")
    version = first["metadata"]["resourceVersion"]
    lines = http.lines(f"{path}?watch=true&resourceVersion={version}&timeoutSeconds=20")
    assert _events(lines, 2) == [("MODIFIED", "one"), ("DELETED", "one")]


def test_a_deleted_object_comes_whole_with_a_newer_version(http: Http, path: str) -> None:
    created = http.create(path, config_map("one", mode="fast"))
    version = created["metadata"]["resourceVersion"]
    lines = http.lines(f"{path}?watch=true&resourceVersion={version}&timeoutSeconds=20")
    http.request("DELETE", f"{path}/one")
    event = next(lines)
    assert (event["type"], event["object"]["data"]) == ("DELETED", {"mode": "fast"})
    assert int(event["object"]["metadata"]["resourceVersion"]) > int(version)


def test_an_object_that_stops_matching_is_deleted_to_the_watch(http: Http, path: str) -> None:
    created = http.create(path, config_map("one", {"tier": "front"}))
    version = created["metadata"]["resourceVersion"]
    lines = http.lines(f"{path}?watch=true&resourceVersion={version}&labelSelector=tier%3Dfront&timeoutSeconds=20")
    http.patch(f"{path}/one", {"metadata": {"labels": {"tier": "back"}}})
    event = next(lines)
    assert event["type"] == "DELETED"
    assert event["object"]["metadata"]["labels"] == {"tier": "front"}
    http.patch(f"{path}/one", {"metadata": {"labels": {"tier": "front"}}})
    assert _events(lines, 1) == [("ADDED", "one")]


def test_a_field_selector_narrows_a_watch_to_one_object(http: Http, path: str) -> None:
    lines = http.lines(f"{path}?watch=true&fieldSelector=metadata.name%3Dtwo&timeoutSeconds=20")
    http.create(path, config_map("one"))
    http.create(path, config_map("two"))
    assert _events(lines, 1) == [("ADDED", "two")]


def test_initial_events_end_with_a_bookmark(http: Http, path: str) -> None:
    http.create(path, config_map("one"))
    query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    lines = http.lines(f"{path}?{query}&timeoutSeconds=20")
    assert _events(lines, 2) == [("ADDED", "kube-root-ca.crt"), ("ADDED", "one")]
    bookmark = next(lines)
    assert bookmark["type"] == "BOOKMARK"
    assert bookmark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
    assert bookmark["object"]["kind"] == "ConfigMap"
    http.create(path, config_map("two"))
    assert _events(lines, 1) == [("ADDED", "two")]


def test_a_version_that_is_too_old_is_gone(http: Http, path: str, cluster: BareCluster) -> None:
    created = http.create(path, config_map("one"))

    def change_often(store: Store) -> None:
        for number in range(1001):
            store.update(CONFIG_MAPS, {**created, "data": {"n": str(number)}})

    cluster.change(change_often)
    version = created["metadata"]["resourceVersion"]
    events = list(http.lines(f"{path}?watch=true&resourceVersion={version}&timeoutSeconds=20"))
    assert [event["type"] for event in events] == ["ERROR"]
    status = events[0]["object"]
    assert (status["code"], status["reason"]) == (410, "Expired")
    assert status["message"].startswith(f"too old resource version: {version} (")


def test_a_watch_ends_after_its_timeout(http: Http, path: str) -> None:
    events = list(http.lines(f"{path}?watch=true&timeoutSeconds=1"))
    assert [event["type"] for event in events] == ["ADDED"]


def test_a_selector_that_cannot_be_read_is_refused_before_the_stream(http: Http, path: str) -> None:
    answer = http.get(f"{path}?watch=true&labelSelector=%3Dx")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")


def test_kubectl_get_watch_prints_rows_as_they_come(kubectl: Kubectl, http: Http, path: str) -> None:
    http.create(path, config_map("one", a="1"))
    process = kubectl.start("get", "configmaps", "-l", "!x", "--watch")
    assert process.stdout is not None
    try:
        rows = [process.stdout.readline().split() for _ in range(3)]
        assert [row[:2] for row in rows] == [["NAME", "DATA"], ["kube-root-ca.crt", "1"], ["one", "1"]]
        http.patch(f"{path}/one", {"data": {"b": "2"}})
        assert process.stdout.readline().split()[:2] == ["one", "2"]
    finally:
        process.kill()
        process.communicate()


def test_the_python_client_watches(client: Any, http: Http, path: str, namespace: str) -> None:
    from kubernetes import watch as watches
    from kubernetes.client import CoreV1Api

    http.create(path, config_map("one"))
    make: Any = watches.Watch
    watch, seen = make(), []
    for event in watch.stream(CoreV1Api(client).list_namespaced_config_map, namespace, timeout_seconds=20):
        seen.append((event["type"], event["object"].metadata.name))
        if event["object"].metadata.name == "one" and event["type"] == "ADDED":
            http.request("DELETE", f"{path}/one")
        if event["type"] == "DELETED":
            watch.stop()
    assert seen[-1] == ("DELETED", "one")
