"""The resource metrics API: samples of pods and nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pytest_microremed.embedded.api.runtime import Usage
from tests.embedded.api.bare_cluster import BareCluster
from tests.embedded.api.objects import pod
from tests.embedded.clients import Http, Kubectl


@pytest.fixture
def path(http: Http, namespace: str, cluster: BareCluster) -> Iterator[str]:
    """The pod metrics of a namespace where `busy` has a sample and `idle` has none."""
    for name in ("busy", "idle"):
        http.create(f"/api/v1/namespaces/{namespace}/pods", pod(name, node="n1", labels={"app": name}))
    cluster.runtime.usage_of["busy"] = {"main": Usage(0.25, 64 * 2**20)}
    yield f"/apis/metrics.k8s.io/v1beta1/namespaces/{namespace}/pods"
    cluster.runtime.usage_of.clear()


def test_a_sample_has_the_usage_of_each_container(http: Http, path: str, namespace: str) -> None:
    sample = http.get(f"{path}/busy").body
    assert (sample["kind"], sample["apiVersion"]) == ("PodMetrics", "metrics.k8s.io/v1beta1")
    assert (sample["metadata"]["namespace"], sample["metadata"]["labels"]) == (namespace, {"app": "busy"})
    assert sample["containers"] == [{"name": "main", "usage": {"cpu": "250000000n", "memory": "65536Ki"}}]
    assert sample["timestamp"]
    assert sample["window"]


def test_pods_without_a_sample_are_not_there(http: Http, path: str, namespace: str) -> None:
    answer = http.get(f"{path}/idle")
    assert (answer.status, answer.body["message"]) == (
        404,
        f'podmetrics.metrics.k8s.io "{namespace}/idle" not found',
    )
    listed = http.get(path).body
    assert (listed["kind"], [item["metadata"]["name"] for item in listed["items"]]) == ("PodMetricsList", ["busy"])


@pytest.mark.parametrize(("selector", "count"), [("app%3Dbusy", 1), ("app%3Didle", 0)])
def test_samples_are_selected_by_the_labels_of_their_pods(http: Http, path: str, selector: str, count: int) -> None:
    assert len(http.get(f"{path}?labelSelector={selector}").body["items"]) == count


@pytest.mark.usefixtures("path")
def test_kubectl_top_shows_them(kubectl: Kubectl) -> None:
    assert kubectl("top", "pods", "--no-headers").split() == ["busy", "250m", "64Mi"]
    assert kubectl("top", "pod", "busy", "--containers", "--no-headers").split() == ["busy", "main", "250m", "64Mi"]
    assert "not found" in kubectl.refused("top", "pod", "idle")


def test_nodes_have_samples(kubectl: Kubectl, http: Http) -> None:
    node = {"metadata": {"name": "measured"}, "status": {"allocatable": {"cpu": "3", "memory": "4Gi"}}}
    http.create("/api/v1/nodes", node)
    row = next(line.split() for line in kubectl("top", "nodes").splitlines() if line.startswith("measured"))
    assert row == ["measured", "1500m", "50%", "2048Mi", "50%"]
    http.request("DELETE", "/api/v1/nodes/measured")


def test_metrics_can_only_be_read(http: Http, path: str) -> None:
    for method in ("POST", "DELETE"):
        assert http.request(method, path, {}).status == 405


@pytest.mark.usefixtures("path")
def test_the_python_client_reads_them(client: Any, namespace: str) -> None:
    from kubernetes.client import CustomObjectsApi

    api: Any = CustomObjectsApi(client)
    listed = api.list_namespaced_custom_object("metrics.k8s.io", "v1beta1", namespace, "pods")
    assert listed["items"][0]["containers"][0]["usage"]["memory"] == "65536Ki"
