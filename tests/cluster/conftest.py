"""One embedded cluster for the tests of the handle, with a namespace that holds one pod."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.embedded import open_embedded
from pytest_microremed.cluster.kinds import NAMESPACES, PODS
from pytest_microremed.systems.health import is_ready


@pytest.fixture(scope="session")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    embedded = open_embedded(tmp_path_factory.mktemp("cluster"))
    yield embedded
    embedded.close()


@pytest.fixture(scope="session")
def namespace(cluster: Cluster) -> str:
    """Holds the ready pod `web` with one container, `shell`."""
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
    container = {
        "name": "shell",
        "image": "busybox:1.36",
        "command": ["sleep", "infinity"],
        "resources": {"limits": {"cpu": "500m", "memory": "64Mi"}},
    }
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web", "namespace": "shop", "labels": {"app": "web"}},
            "spec": {"containers": [container]},
        }
    )
    assert cluster.get(NAMESPACES, None, "shop")
    cluster.wait_for("web ready", lambda: is_ready(cluster.get(PODS, "shop", "web") or {"metadata": {}}), 120)
    return "shop"
