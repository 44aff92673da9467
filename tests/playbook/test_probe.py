"""A probe answers every command with text, within its limits, and counts."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_microremed.incident import ProbeOutput
from pytest_microremed.playbook import probe as probe_module
from pytest_microremed.playbook.probe import Probe
from tests.playbook.nowhere import KUBECONFIG

CLIENT = "kubectl version --client"


@pytest.fixture
def probe(tmp_path: Path) -> Probe:
    return Probe(KUBECONFIG, tmp_path)


@pytest.fixture
def silent_server() -> Iterator[str]:
    """The address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_answers_come_in_the_order_of_the_commands(probe: Probe, tmp_path: Path) -> None:
    result = probe([CLIENT, "kubectl delete pod web"])
    version, refused = result.outputs
    assert version.exit_code == 0
    assert "Client Version" in version.output
    assert refused == ProbeOutput("kubectl delete pod web", refused.output, None)
    assert refused.output.startswith("refused: kubectl delete: ")
    assert str(result).startswith(f"$ {CLIENT}\nClient Version")
    assert (probe.count, probe.refused) == (2, 1)
    assert not list(tmp_path.iterdir())


def test_one_command_may_come_as_text(probe: Probe) -> None:
    (only,) = probe(CLIENT).outputs
    assert only.exit_code == 0


def test_what_kubectl_complains_about_is_the_answer(probe: Probe) -> None:
    (only,) = probe(["kubectl get pods"]).outputs
    assert only.exit_code == 1
    assert "127.0.0.1:9 was refused" in only.output


def test_hosts_secrets_and_settings_do_not_reach_kubectl(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/host/kubeconfig")
    monkeypatch.setenv("KUBECTL_COMMAND_HEADERS", "secret")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    (only,) = probe(["kubectl get pods"]).outputs
    assert "127.0.0.1:9 was refused" in only.output


def test_beyond_the_limit_nothing_is_run(tmp_path: Path) -> None:
    probe = Probe(KUBECONFIG, tmp_path, limit=2)
    outputs = probe(["kubectl delete pod web", CLIENT, CLIENT, CLIENT]).outputs
    assert [o.exit_code for o in outputs] == [None, 0, None, None]
    assert outputs[2].output == "refused: the 2 probe commands of this case are used up"
    assert (probe.count, probe.refused) == (4, 3)


def test_a_command_that_hangs_is_ended(tmp_path: Path, silent_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "TIMEOUT_S", 0.5)
    probe = Probe(KUBECONFIG.replace("http://127.0.0.1:9", silent_server), tmp_path)
    (only,) = probe(["kubectl get pods"]).outputs
    assert only.output.endswith("[ended at its time limit of 0.5 s]")
    assert only.exit_code


def test_long_answers_are_cut_and_the_cut_is_said(probe: Probe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe_module, "OUTPUT_LIMIT", 30)
    (only,) = probe([f"{CLIENT} -o json"]).outputs
    assert "characters cut …]" in only.output
    assert len(only.output) < 70
