"""Logs of containers: whole, in part, earlier ones, and as they come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pytest_microremed.embedded.api.runtime import LogLine, RuntimeRefused
from tests.embedded.api.bare_cluster import BareCluster, FakeRuntime
from tests.embedded.api.objects import pod
from tests.embedded.clients import Http, Kubectl

START = datetime(2026, 1, 2, 3, 4, 5, 678900, tzinfo=UTC)


@pytest.fixture
def runtime(cluster: BareCluster) -> Iterator[FakeRuntime]:
    """The log of pod `p` has three old lines and one of now."""
    runtime = cluster.runtime
    lines = [LogLine(START + timedelta(minutes=number), f"line {number}") for number in range(3)]
    runtime.logs_of["p"] = [*lines, LogLine(datetime.now(UTC), "line 3")]
    runtime.previous_logs_of["p"] = [LogLine(START, "before")]
    yield runtime
    runtime.logs_of.clear()
    runtime.refusals.clear()


@pytest.fixture
def path(http: Http, namespace: str, runtime: FakeRuntime) -> str:
    """The path of a running pod `p`."""
    path = f"/api/v1/namespaces/{namespace}/pods"
    http.create(path, pod("p", node="n1"))
    _set_state(http, f"{path}/p", {"running": {}})
    return f"{path}/p"


def _set_state(http: Http, path: str, state: dict[str, Any]) -> None:
    status = {"name": "main", "image": "busybox", "imageID": "", "ready": True, "restartCount": 0, "state": state}
    http.patch(f"{path}/status", {"status": {"phase": "Running", "containerStatuses": [status]}})


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("", "line 0\nline 1\nline 2\nline 3\n"),
        ("tailLines=2", "line 2\nline 3\n"),
        ("tailLines=0", ""),
        ("limitBytes=9", "line 0\nli"),
        ("sinceSeconds=60", "line 3\n"),
        ("sinceTime=2026-01-02T03:05:30Z", "line 2\nline 3\n"),
        ("previous=true", "before\n"),
        ("tailLines=1&timestamps=true&previous=true", "2026-01-02T03:04:05.678900000Z before\n"),
    ],
)
def test_a_part_of_the_log_can_be_read(http: Http, path: str, options: str, text: str) -> None:
    answer = http.get(f"{path}/log?{options}")
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.body == text


@pytest.mark.parametrize("option", ["tailLines=-1", "limitBytes=0", "sinceSeconds=0", "sinceTime=yesterday"])
def test_an_option_that_makes_no_sense_is_refused(http: Http, path: str, option: str) -> None:
    answer = http.get(f"{path}/log?{option}")
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert option.partition("=")[0] in answer.body["message"]


def test_a_followed_log_goes_on_until_the_container_ends(
    kubectl: Kubectl, http: Http, path: str, runtime: FakeRuntime
) -> None:
    process = kubectl.start("logs", "p", "--follow", "--tail=1")
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "line 3\n"
        runtime.logs_of["p"].append(LogLine(datetime.now(UTC), "line 4"))
        assert process.stdout.readline() == "line 4\n"
        runtime.logs_of["p"].append(LogLine(datetime.now(UTC), "last"))
        _set_state(http, path, {"terminated": {"exitCode": 0}})
        assert process.communicate(timeout=20)[0] == "last\n"
        assert process.returncode == 0
    finally:
        process.kill()


def test_a_followed_log_ends_with_its_pod(kubectl: Kubectl, http: Http, path: str) -> None:
    process = kubectl.start("logs", "p", "--follow", "--tail=1")
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "line 3\n"
        http.request("DELETE", path, {"gracePeriodSeconds": 0})
        process.communicate(timeout=20)
        assert process.returncode == 0
    finally:
        process.kill()


@pytest.mark.usefixtures("path")
def test_what_the_kubelet_refuses_is_told(kubectl: Kubectl, runtime: FakeRuntime) -> None:
    message = 'container "main" in pod "p" is waiting to start: ContainerCreating'
    runtime.refusals["p"] = RuntimeRefused(400, message)
    assert kubectl.refused("logs", "p") == f"Error from server (BadRequest): {message}"


def test_a_pod_without_a_node_has_no_log_yet(http: Http, namespace: str) -> None:
    http.create(f"/api/v1/namespaces/{namespace}/pods", pod("q"))
    answer = http.get(f"/api/v1/namespaces/{namespace}/pods/q/log")
    assert (answer.status, answer.body) == (200, "")


def test_a_pod_of_several_containers_needs_one_named(http: Http, namespace: str) -> None:
    created = pod("q", "a", "b", node="n1")
    created["spec"]["initContainers"] = [{"name": "i", "image": "busybox"}]
    http.create(f"/api/v1/namespaces/{namespace}/pods", created)
    assert http.get(f"/api/v1/namespaces/{namespace}/pods/q/log").body["message"] == (
        "a container name must be specified for pod q, choose one of: [a b] or one of the init containers: [i]"
    )
    assert http.get(f"/api/v1/namespaces/{namespace}/pods/q/log?container=i").status == 200


@pytest.mark.usefixtures("path")
def test_the_python_client_reads_a_log(client: Any, namespace: str) -> None:
    from kubernetes.client import CoreV1Api

    assert CoreV1Api(client).read_namespaced_pod_log("p", namespace, tail_lines=1) == "line 3\n"
