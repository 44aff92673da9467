"""Fixtures of the embedded cluster's tests: one cluster for the session, a fresh namespace for each test.

`cluster`    the running EmbeddedCluster
`namespace`  a namespace of the test's own, deleted afterwards
`kubectl`    the real kubectl in that namespace (see clients.Kubectl)
`http`       plain HTTPS as the administrator (see clients.Http)
`client`     an ApiClient of the `kubernetes` package

Tests of the API server alone are in `api/`: there the same fixtures are those of a server without nodes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_microremed.embedded.cluster import EmbeddedCluster
from tests.embedded.clients import Http, Kubectl, Reachable

_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedCluster]:
    embedded = EmbeddedCluster(tmp_path_factory.mktemp("cluster"))
    embedded.start()
    yield embedded
    embedded.stop()


@pytest.fixture(scope="session")
def kubectl_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kubectl")


@pytest.fixture
def http(cluster: Reachable) -> Iterator[Http]:
    administrator = Http.to(cluster)
    yield administrator
    administrator.close()


@pytest.fixture
def namespace(http: Http) -> Iterator[str]:
    name = f"test-{next(_numbers)}"
    created = http.request("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    assert created.status == 201, created.body
    yield name
    http.request("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def kubectl(cluster: Reachable, kubectl_home: Path, namespace: str) -> Kubectl:
    return Kubectl(cluster.kubeconfig, kubectl_home, namespace)


@pytest.fixture
def client(cluster: Reachable) -> Iterator[Any]:
    from kubernetes import config

    connect: Any = config.new_client_from_config
    with connect(str(cluster.kubeconfig)) as api_client:
        yield api_client
