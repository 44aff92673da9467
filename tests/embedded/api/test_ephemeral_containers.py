"""Containers added to a running pod (`kubectl debug`)."""

from __future__ import annotations

from tests.embedded.api.objects import pod
from tests.embedded.clients import Http, Kubectl


def test_kubectl_debug_adds_a_container(kubectl: Kubectl, http: Http, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    http.create(path, pod("p", node="n1"))
    kubectl("debug", "p", "--image=busybox", "--container=look", "--attach=false", "--", "sleep", "60")
    (added,) = http.get(f"{path}/p").body["spec"]["ephemeralContainers"]
    assert (added["name"], added["image"], added["command"]) == ("look", "busybox", ["sleep", "60"])


def test_nothing_else_changes_by_that_path(http: Http, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    http.create(path, pod("p", node="n1"))
    http.patch(f"{path}/p/ephemeralcontainers", {"spec": {"nodeName": "n2"}, "metadata": {"labels": {"a": "b"}}})
    stored = http.get(f"{path}/p").body
    assert stored["spec"]["nodeName"] == "n1"
    assert "a" not in stored["metadata"].get("labels", {})
