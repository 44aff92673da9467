"""One embedded cluster with simple-micro on it, put back after each test that breaks something."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.embedded import open_embedded
from pytest_microremed.systems.baseline import Baseline, deploy, find_clean, restore
from pytest_microremed.systems.system import load_system
from tests.embedded.clients import Kubectl


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    embedded = open_embedded(tmp_path_factory.mktemp("cluster"))
    yield embedded
    embedded.close()


@pytest.fixture(scope="session")
def deployed(cluster: Cluster) -> Baseline:
    system = load_system("simple-micro")
    return deploy(cluster, system, system.namespace)


@pytest.fixture
def baseline(cluster: Cluster, deployed: Baseline) -> Baseline:
    """simple-micro, clean whatever the test before has left."""
    if find_clean(cluster, deployed):
        restore(cluster, deployed)
    return deployed


@pytest.fixture(scope="session")
def kubectl_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kubectl")


@pytest.fixture
def kubectl(cluster: Cluster, kubectl_home: Path, baseline: Baseline) -> Kubectl:
    return Kubectl(cluster.kubeconfig, kubectl_home, baseline.namespace)
