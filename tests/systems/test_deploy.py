"""Deployment: each system comes up, and only in a namespace that is the harness's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from pytest_microremed.cluster.cluster import Cluster, Obj
from pytest_microremed.cluster.kinds import CONFIG_MAPS, NAMESPACES
from pytest_microremed.errors import ClusterError
from pytest_microremed.systems.baseline import deploy, find_clean
from pytest_microremed.systems.render import namespace_manifest
from pytest_microremed.systems.system import load_system


@pytest.fixture(params=["online-boutique", "train-ticket"])
def system_name(request: pytest.FixtureRequest, cluster: Cluster) -> Iterator[str]:
    yield request.param
    cluster.delete(NAMESPACES, None, request.param)


def test_the_system_comes_up_and_is_clean(cluster: Cluster, system_name: str) -> None:
    system = load_system(system_name)
    baseline = deploy(cluster, system, system.namespace)
    assert baseline.ready == {name: workload.replicas for name, workload in system.workloads.items()}
    assert find_clean(cluster, baseline) == []


def test_the_namespace_is_the_callers_choice(cluster: Cluster) -> None:
    baseline = deploy(cluster, load_system("simple-micro"), "elsewhere")
    assert baseline.namespace == "elsewhere"
    assert find_clean(cluster, baseline) == []
    cluster.delete(NAMESPACES, None, "elsewhere")


def test_somebody_elses_namespace_is_left_alone(cluster: Cluster) -> None:
    cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "theirs"}})
    cluster.create(config_map("theirs", "precious"))
    with pytest.raises(ClusterError, match="namespace theirs of cluster embedded is somebody else's"):
        deploy(cluster, load_system("simple-micro"), "theirs")
    assert cluster.get(CONFIG_MAPS, "theirs", "precious")


@pytest.mark.parametrize("namespace", ["whole", "half-deleted"])
def test_what_a_killed_run_has_left_is_replaced(cluster: Cluster, namespace: str) -> None:
    system = load_system("simple-micro")
    cluster.create(namespace_manifest(system, namespace))
    cluster.create(config_map(namespace, "leftover"))
    if namespace == "half-deleted":
        cluster.delete(NAMESPACES, None, namespace)
    baseline = deploy(cluster, system, namespace)
    assert cluster.get(CONFIG_MAPS, namespace, "leftover") is None
    assert find_clean(cluster, baseline) == []
    cluster.delete(NAMESPACES, None, namespace)


def config_map(namespace: str, name: str) -> Obj:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}}
