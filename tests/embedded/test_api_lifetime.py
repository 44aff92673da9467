"""How an embedded cluster starts and stops."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pytest_microremed.embedded.cluster import EmbeddedCluster
from tests.embedded.clients import Http, Kubectl


@pytest.fixture
def own(tmp_path: Path) -> EmbeddedCluster:
    return EmbeddedCluster(tmp_path / "cluster")


def test_two_clusters_know_nothing_of_each_other(own: EmbeddedCluster, cluster: EmbeddedCluster) -> None:
    own.start()
    try:
        Http.to(own).create("/api/v1/namespaces", {"metadata": {"name": "elsewhere"}})
        assert own.url != cluster.url
        assert Http.to(cluster).get("/api/v1/namespaces/elsewhere").status == 404
    finally:
        own.stop()


def test_the_kubeconfig_is_the_owners_only(cluster: EmbeddedCluster) -> None:
    assert cluster.kubeconfig.stat().st_mode & 0o077 == 0
    assert json.loads(cluster.kubeconfig.read_text())["current-context"] == "embedded"


def test_stopping_ends_watches_and_the_thread(own: EmbeddedCluster) -> None:
    own.start()
    threads = threading.active_count()
    lines = Http.to(own).lines("/api/v1/namespaces?watch=true")
    assert next(lines)["type"] == "ADDED"
    own.stop()
    assert all(event["type"] == "ADDED" for event in lines)
    assert threading.active_count() == threads - 1


def test_after_the_stop_nobody_answers(own: EmbeddedCluster, tmp_path: Path) -> None:
    own.start()
    own.stop()
    message = Kubectl(own.kubeconfig, tmp_path).refused("get", "pods")
    assert "refused" in message


def test_starting_does_not_load_the_kubernetes_client(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from pytest_microremed.embedded.cluster import EmbeddedCluster\n"
        f"cluster = EmbeddedCluster(pathlib.Path({str(tmp_path)!r}))\n"
        "cluster.start()\n"
        "cluster.stop()\n"
        "sys.exit('kubernetes' in sys.modules)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, check=False, timeout=60, capture_output=True)
    assert (done.returncode, done.stderr) == (0, b"")
