"""Namespaces: what each has from the start, and how it ends."""

from __future__ import annotations

import pytest

from tests.embedded.api.objects import config_map, deployment, pod
from tests.embedded.clients import Http, Kubectl


def test_four_namespaces_exist_from_the_start(http: Http) -> None:
    names = {item["metadata"]["name"] for item in http.get("/api/v1/namespaces").body["items"]}
    assert {"default", "kube-system", "kube-public", "kube-node-lease"} <= names


def test_a_new_namespace_is_furnished(http: Http, namespace: str) -> None:
    stored = http.get(f"/api/v1/namespaces/{namespace}").body
    assert stored["metadata"]["labels"] == {"kubernetes.io/metadata.name": namespace}
    assert stored["status"] == {"phase": "Active"}
    assert stored["spec"] == {"finalizers": ["kubernetes"]}
    accounts = http.get(f"/api/v1/namespaces/{namespace}/serviceaccounts").body["items"]
    assert [item["metadata"]["name"] for item in accounts] == ["default"]
    authority = http.get(f"/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt").body
    assert authority["data"]["ca.crt"].startswith("-----BEGIN CERTIFICATE-----")


def test_a_namespace_takes_its_contents_along(kubectl: Kubectl, http: Http, namespace: str) -> None:
    http.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map("one"))
    http.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("web"))
    kubectl("delete", "namespace", namespace, "--timeout=20s")
    assert http.get(f"/api/v1/namespaces/{namespace}").status == 404
    assert http.get(f"/apis/apps/v1/namespaces/{namespace}/deployments").body["items"] == []
    assert http.get(f"/api/v1/namespaces/{namespace}/serviceaccounts").body["items"] == []


@pytest.fixture
def ending(http: Http, namespace: str) -> str:
    """A namespace that is deleted but held by an object with a finalizer."""
    held = config_map("held")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    http.create(f"/api/v1/namespaces/{namespace}/configmaps", held)
    http.request("DELETE", f"/api/v1/namespaces/{namespace}")
    return namespace


def test_an_ending_namespace_says_so(kubectl: Kubectl, ending: str) -> None:
    assert kubectl("get", "namespace", ending, "--no-headers").split()[1] == "Terminating"


def test_nothing_new_comes_into_an_ending_namespace(http: Http, ending: str) -> None:
    answer = http.request("POST", f"/api/v1/namespaces/{ending}/pods", pod("p"))
    assert answer.status == 403
    assert answer.body["message"] == (
        f'pods "p" is forbidden: unable to create new content in namespace {ending} because it is being terminated'
    )
    assert answer.body["details"]["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {ending} is being terminated",
            "field": "metadata.namespace",
        }
    ]


def test_the_last_finalizer_lets_the_namespace_go(kubectl: Kubectl, http: Http, ending: str) -> None:
    http.patch(f"/api/v1/namespaces/{ending}/configmaps/held", {"metadata": {"finalizers": []}})
    kubectl("wait", "--for=delete", f"namespace/{ending}", "--timeout=20s")
    assert http.get(f"/api/v1/namespaces/{ending}").status == 404


def test_a_namespace_can_be_let_go_by_finalizing_it(http: Http, ending: str) -> None:
    stored = http.get(f"/api/v1/namespaces/{ending}").body
    stored["spec"]["finalizers"] = []
    assert http.request("PUT", f"/api/v1/namespaces/{ending}/finalize", stored).status == 200
    assert http.get(f"/api/v1/namespaces/{ending}").status == 404
    http.patch(f"/api/v1/namespaces/{ending}/configmaps/held", {"metadata": {"finalizers": []}})


def test_some_namespaces_stay(http: Http) -> None:
    answer = http.request("DELETE", "/api/v1/namespaces/default")
    assert (answer.status, answer.body["message"]) == (
        403,
        'namespaces "default" is forbidden: this namespace may not be deleted',
    )
    assert http.request("DELETE", "/api/v1/namespaces").status == 405


def test_the_finalizers_of_the_spec_change_by_finalizing_only(http: Http, namespace: str) -> None:
    http.patch(f"/api/v1/namespaces/{namespace}", {"spec": {"finalizers": []}})
    assert http.get(f"/api/v1/namespaces/{namespace}").body["spec"] == {"finalizers": ["kubernetes"]}
