"""Trouble on the way to the API server becomes an error that says what was asked, and of whom."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from pytest_microremed.cluster import connection
from pytest_microremed.cluster.cluster import Cluster, Conflict, RequestFailed
from pytest_microremed.cluster.kinds import CONFIG_MAPS, DEPLOYMENTS, NODES, PODS
from pytest_microremed.errors import ClusterError
from tests.cluster.stub import Answer, serving, write_kubeconfig

DENIED = {"kind": "Status", "status": "Failure", "message": "admission webhook says no", "code": 403}


def test_a_refusal_says_verb_object_status_and_the_servers_message(tmp_path: Path) -> None:
    with serving(tmp_path, Answer(403, DENIED)) as stub:
        cluster = Cluster(stub.kubeconfig)
        with pytest.raises(ClusterError) as caught:
            cluster.patch(DEPLOYMENTS, "shop", "web", {"spec": {}})
    assert str(caught.value) == "PATCH Deployment shop/web: 403: admission webhook says no"
    assert isinstance(caught.value, RequestFailed)
    assert caught.value.status == 403


def test_an_answer_that_is_no_status_is_shown_as_it_is(tmp_path: Path) -> None:
    with (
        serving(tmp_path, Answer(502, b"<h1>Bad Gateway</h1>")) as stub,
        pytest.raises(ClusterError, match="GET Pod shop/web: 502: <h1>Bad Gateway</h1>"),
    ):
        Cluster(stub.kubeconfig).get(PODS, "shop", "web")


def test_what_is_not_there_is_none(tmp_path: Path) -> None:
    with serving(tmp_path, Answer(404, {"message": "not found"})) as stub:
        cluster = Cluster(stub.kubeconfig)
        assert cluster.get(PODS, "shop", "web") is None
        cluster.delete(PODS, "shop", "web")
        with pytest.raises(RequestFailed, match="GET Pod shop/\\*: 404"):
            cluster.list(PODS, "shop")


def test_a_conflict_is_told_apart(tmp_path: Path) -> None:
    with (
        serving(tmp_path, Answer(409, {"message": "the object has been modified"})) as stub,
        pytest.raises(Conflict),
    ):
        Cluster(stub.kubeconfig).replace({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}"
    write_kubeconfig(tmp_path / "config", address)
    with pytest.raises(RequestFailed, match=f"GET Node \\*: no answer: {address}: .*refused") as caught:
        Cluster(tmp_path / "config").list(NODES, None)
    assert caught.value.status == 0


def test_a_server_that_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "READ_TIMEOUT_S", 0.05)
    with serving(tmp_path, Answer(delay_s=0.5)) as stub, pytest.raises(RequestFailed, match="timed out"):
        Cluster(stub.kubeconfig).create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})
    assert len(stub.requests) == 1, "a write whose answer was lost must not be sent again"


def test_a_busy_server_is_asked_again(tmp_path: Path) -> None:
    busy = Answer(429, {"message": "too many requests"}, {"Retry-After": "0"})
    with serving(tmp_path, busy, busy, Answer(201, {"kind": "Pod"})) as stub:
        Cluster(stub.kubeconfig).create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})
    assert len(stub.requests) == 3


def test_an_answer_that_is_no_json(tmp_path: Path) -> None:
    with (
        serving(tmp_path, Answer(200, b"<html>")) as stub,
        pytest.raises(ClusterError, match="the answer is no JSON"),
    ):
        Cluster(stub.kubeconfig).get(PODS, "shop", "web")


def test_a_proxy_of_the_environment_does_not_stand_before_the_loopback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with serving(tmp_path, Answer(200, {"items": []})) as stub:
        assert Cluster(stub.kubeconfig).list(PODS, "shop") == []


def test_no_kubeconfig_but_the_given_one_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_kubeconfig(tmp_path / "ambient", "http://127.0.0.1:1")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "ambient"))
    with pytest.raises(ClusterError, match=f"kubeconfig {tmp_path / 'missing'}"):
        Cluster(tmp_path / "missing")
    with serving(tmp_path, Answer(200, {"items": []})) as stub:
        assert Cluster(stub.kubeconfig).list(PODS, "shop") == []


def test_a_context_that_the_kubeconfig_does_not_have(tmp_path: Path) -> None:
    write_kubeconfig(tmp_path / "config", "http://127.0.0.1:1", context="one")
    with pytest.raises(ClusterError, match="two"):
        Cluster(tmp_path / "config", context="two")
    assert Cluster(tmp_path / "config", context="one").name == "one"


def test_requests_carry_the_token_and_say_who_writes(tmp_path: Path) -> None:
    with serving(tmp_path, Answer(200, {"items": None})) as stub:
        cluster = Cluster(stub.kubeconfig)
        assert cluster.list(CONFIG_MAPS, "shop", {"app": "web", "tier": "front"}) == []
        cluster.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}})
    (listed, applied) = stub.requests
    assert listed[:2] == ("GET", "/api/v1/namespaces/shop/configmaps?labelSelector=app%3Dweb%2Ctier%3Dfront")
    assert applied[:2] == (
        "PATCH",
        "/api/v1/namespaces/shop/configmaps/a?fieldManager=pytest-microremed&force=true",
    )
    assert stub.headers[1]["content-type"] == "application/apply-patch+yaml"
    assert {headers["authorization"] for headers in stub.headers} == {"Bearer secret-token"}


def test_a_refused_exec_tells_the_servers_message(tmp_path: Path) -> None:
    status = {"kind": "Status", "message": "container probe is not valid for pod web", "code": 400}
    with (
        serving(tmp_path, Answer(400, status)) as stub,
        pytest.raises(RequestFailed, match="EXEC Pod shop/web container probe: 400: container probe is not valid"),
    ):
        Cluster(stub.kubeconfig).execute("shop", "web", "probe", ["true"], timeout_s=5)


def test_an_exec_that_gets_no_answer_ends_in_time(tmp_path: Path) -> None:
    with (
        serving(tmp_path, Answer(delay_s=1)) as stub,
        pytest.raises(ClusterError, match=r"end of `sleep 9`: not so after 0\.1 s"),
    ):
        Cluster(stub.kubeconfig).execute("shop", "web", "probe", ["sleep", "9"], timeout_s=0.1)
