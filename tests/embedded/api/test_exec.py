"""Commands in containers, over the WebSocket channels of kubectl and the Python client."""

from __future__ import annotations

import json
import ssl
from collections.abc import Iterator
from typing import Any

import pytest

from pytest_microremed.embedded.api.runtime import RuntimeRefused
from tests.embedded.api.bare_cluster import BareCluster
from tests.embedded.api.objects import pod
from tests.embedded.clients import Http, Kubectl


@pytest.fixture
def path(http: Http, namespace: str) -> str:
    """The exec path of a pod `p` with the containers `main` and `side`."""
    http.create(f"/api/v1/namespaces/{namespace}/pods", pod("p", "main", "side", node="n1"))
    return f"/api/v1/namespaces/{namespace}/pods/p/exec"


@pytest.fixture
def refuse(cluster: BareCluster) -> Iterator[Any]:
    """`refuse(status, message)`: the kubelet refuses whatever is asked about pod `p`."""

    def set_refusal(status: int, message: str) -> None:
        cluster.runtime.refusals["p"] = RuntimeRefused(status, message)

    yield set_refusal
    cluster.runtime.refusals.clear()


def _socket(http: Http, path: str, protocol: str) -> Any:
    import websocket

    return websocket.create_connection(
        http.address.replace("https", "wss") + path,
        subprotocols=[protocol],
        header=[f"Authorization: Bearer {http.token}"],
        sslopt={"context": ssl.create_default_context(cadata=http.authority)},
        timeout=20,
    )


def _frames(socket: Any) -> dict[int, bytes]:
    """Everything the server sends, by channel, until it closes."""
    channels: dict[int, bytes] = {}
    while data := socket.recv():
        channels[data[0]] = channels.get(data[0], b"") + data[1:]
    return channels


@pytest.mark.usefixtures("path")
def test_kubectl_sees_the_output_and_the_exit_code(kubectl: Kubectl) -> None:
    assert kubectl("exec", "p", "-c", "main", "--", "list", "-l", "a b") == "main: list -l a b\n"
    done = kubectl.run("exec", "p", "-c", "main", "--", "exit", "3")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == "failed\ncommand terminated with exit code 3\n"


@pytest.mark.usefixtures("path")
def test_kubectl_passes_stdin_on(kubectl: Kubectl) -> None:
    text = "line\n" * 20_000
    assert kubectl("exec", "-i", "p", "-c", "main", "--", "cat", stdin=text) == text


@pytest.mark.usefixtures("path")
def test_the_python_client_sees_the_output_and_the_exit_code(client: Any, namespace: str) -> None:
    from kubernetes.client import CoreV1Api
    from kubernetes.stream import stream

    api = CoreV1Api(client)
    connect = api.connect_get_namespaced_pod_exec
    common = {"container": "side", "stdout": True, "stderr": True, "stdin": False}
    assert stream(connect, "p", namespace, command=["list"], **common) == "side: list\n"
    connection = stream(connect, "p", namespace, command=["exit", "4"], _preload_content=False, **common)
    connection.run_forever(timeout=20)
    assert (connection.read_stderr(), connection.returncode) == ("failed\n", 4)


@pytest.mark.parametrize("protocol", ["v5.channel.k8s.io", "v4.channel.k8s.io"])
def test_the_channels_are_those_of_the_protocol(http: Http, path: str, protocol: str) -> None:
    socket = _socket(http, f"{path}?container=main&command=exit&command=2&stdout=true&stderr=true", protocol)
    assert socket.getsubprotocol() == protocol
    channels = _frames(socket)
    assert channels[2] == b"failed\n"
    status = json.loads(channels[3])
    assert (status["status"], status["reason"]) == ("Failure", "NonZeroExitCode")
    assert status["details"] == {"causes": [{"reason": "ExitCode", "message": "2"}]}


def test_stdin_ends_when_the_client_closes_its_channel(http: Http, path: str) -> None:
    socket = _socket(http, f"{path}?container=main&command=cat&stdin=true&stdout=true", "v5.channel.k8s.io")
    socket.send_binary(b"\x00one ")
    socket.send_binary(b"\x00two")
    socket.send_binary(b"\xff\x00")
    socket.send_binary(b"\x00 three")
    channels = _frames(socket)
    assert channels[1] == b"one two"
    assert json.loads(channels[3])["status"] == "Success"


def test_stdin_that_nobody_closes_does_not_hold_a_command_up(http: Http, path: str) -> None:
    socket = _socket(http, f"{path}?container=main&command=cat&stdin=true&stdout=true", "v4.channel.k8s.io")
    socket.send_binary(b"\x00one")
    assert _frames(socket)[1] == b"one"


def test_a_client_that_leaves_takes_its_command_along(http: Http, path: str, cluster: BareCluster) -> None:
    socket = _socket(http, f"{path}?container=main&command=hang", "v5.channel.k8s.io")
    assert cluster.runtime.started.wait(20)
    socket.close()
    assert cluster.runtime.cancelled.wait(20)


def test_a_pod_of_several_containers_needs_one_named(http: Http, path: str) -> None:
    answer = http.get(f"{path}?command=ls")
    assert (answer.status, answer.body["message"]) == (
        400,
        "a container name must be specified for pod p, choose one of: [main side]",
    )


def test_an_unknown_container_is_refused(http: Http, path: str) -> None:
    answer = http.get(f"{path}?command=ls&container=nothing")
    assert (answer.status, answer.body["message"]) == (400, "container nothing is not valid for pod p")


def test_a_command_is_required(http: Http, path: str) -> None:
    answer = http.get(f"{path}?container=main")
    assert "at least one command" in answer.body["message"]


@pytest.mark.usefixtures("path")
def test_trouble_inside_the_server_is_no_success(kubectl: Kubectl) -> None:
    assert "ZeroDivisionError" in kubectl.refused("exec", "p", "-c", "main", "--", "crash")


@pytest.mark.usefixtures("path")
def test_what_the_kubelet_refuses_is_told(kubectl: Kubectl, refuse: Any) -> None:
    refuse(500, 'unable to upgrade connection: container not found ("main")')
    message = kubectl.refused("exec", "p", "-c", "main", "--", "ls")
    assert message == ('error: Internal error occurred: unable to upgrade connection: container not found ("main")')


def test_a_pod_that_has_ended_runs_nothing(kubectl: Kubectl, http: Http, namespace: str, path: str) -> None:
    http.patch(f"/api/v1/namespaces/{namespace}/pods/p/status", {"status": {"phase": "Succeeded"}})
    message = kubectl.refused("exec", "p", "-c", "main", "--", "ls")
    assert "cannot exec into a container in a completed pod; current phase is Succeeded" in message


def test_a_pod_without_a_node_runs_nothing(kubectl: Kubectl, http: Http, namespace: str) -> None:
    http.create(f"/api/v1/namespaces/{namespace}/pods", pod("q"))
    assert "pod q does not have a host assigned" in kubectl.refused("exec", "q", "--", "ls")


def test_spdy_is_refused_with_the_reason(http: Http, path: str) -> None:
    answer = http.request("POST", f"{path}?container=main&command=ls", Upgrade="SPDY/3.1", Connection="Upgrade")
    assert answer.status == 400
    assert "only WebSocket" in answer.body["message"]
