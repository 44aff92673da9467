"""Deletion: what becomes of dependents, finalizers, preconditions, collections."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embedded.api.objects import config_map, deployment, owned_by, pod
from tests.embedded.clients import Http, Kubectl


@pytest.fixture
def path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}"


@pytest.fixture
def family(http: Http, path: str) -> dict[str, Any]:
    """A config map `parent`, its `child`, and the child's `grandchild`."""
    stored: dict[str, Any] = {"parent": http.create(f"{path}/configmaps", config_map("parent"))}
    for name, owner in (("child", "parent"), ("grandchild", "child")):
        stored[name] = http.create(f"{path}/configmaps", owned_by(config_map(name), stored[owner]))
    return stored


def _names(http: Http, path: str) -> set[str]:
    listed = http.get(f"{path}/configmaps").body["items"]
    return {item["metadata"]["name"] for item in listed} - {"kube-root-ca.crt"}


def _delete(http: Http, path: str, **options: Any) -> Any:
    return http.request("DELETE", path, options or None)


def test_a_deletion_is_confirmed_by_a_status(http: Http, path: str) -> None:
    stored = http.create(f"{path}/configmaps", config_map("one"))
    answer = _delete(http, f"{path}/configmaps/one")
    assert (answer.status, answer.body["status"]) == (200, "Success")
    assert answer.body["details"] == {
        "name": "one",
        "kind": "configmaps",
        "uid": stored["metadata"]["uid"],
    }
    assert http.get(f"{path}/configmaps/one").status == 404


def test_a_missing_object_cannot_be_deleted(kubectl: Kubectl) -> None:
    message = kubectl.refused("delete", "configmap", "nothing")
    assert message == 'Error from server (NotFound): configmaps "nothing" not found'


@pytest.mark.usefixtures("family")
def test_dependents_go_with_their_owner(http: Http, path: str) -> None:
    _delete(http, f"{path}/configmaps/parent")
    assert _names(http, path) == set()


@pytest.mark.usefixtures("family")
def test_orphans_outlive_their_owner(http: Http, path: str) -> None:
    _delete(http, f"{path}/configmaps/parent", propagationPolicy="Orphan")
    assert _names(http, path) == {"child", "grandchild"}
    assert "ownerReferences" not in http.get(f"{path}/configmaps/child").body["metadata"]


@pytest.mark.usefixtures("family")
def test_in_the_foreground_the_owner_goes_last(http: Http, path: str) -> None:
    http.patch(f"{path}/configmaps/grandchild", {"metadata": {"finalizers": ["example.com/hold"]}})
    _delete(http, f"{path}/configmaps/parent", propagationPolicy="Foreground")
    parent = http.get(f"{path}/configmaps/parent").body["metadata"]
    assert parent["finalizers"] == ["foregroundDeletion"]
    assert "deletionTimestamp" in parent
    http.patch(f"{path}/configmaps/grandchild", {"metadata": {"finalizers": None}})
    assert _names(http, path) == set()


@pytest.mark.usefixtures("family")
def test_kubectl_waits_for_a_cascade_in_the_foreground(kubectl: Kubectl, http: Http, path: str) -> None:
    kubectl("delete", "configmap", "parent", "--cascade=foreground", "--timeout=20s")
    assert _names(http, path) == set()


def test_an_unknown_propagation_is_refused(http: Http, path: str) -> None:
    http.create(f"{path}/configmaps", config_map("one"))
    answer = _delete(http, f"{path}/configmaps/one", propagationPolicy="Sideways")
    assert answer.status == 422
    assert 'Unsupported value: "Sideways"' in answer.body["message"]


def test_a_finalizer_holds_an_object_until_it_is_taken_off(http: Http, path: str) -> None:
    held = config_map("one")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    http.create(f"{path}/configmaps", held)
    answer = _delete(http, f"{path}/configmaps/one")
    assert (answer.body["kind"], "deletionTimestamp" in answer.body["metadata"]) == ("ConfigMap", True)
    assert http.patch(f"{path}/configmaps/one", {"data": {"still": "there"}}).status == 200
    http.patch(f"{path}/configmaps/one", {"metadata": {"finalizers": []}})
    assert http.get(f"{path}/configmaps/one").status == 404


def test_the_deletion_of_a_held_object_cannot_be_undone(http: Http, path: str) -> None:
    held = config_map("one")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    http.create(f"{path}/configmaps", held)
    _delete(http, f"{path}/configmaps/one")
    http.patch(f"{path}/configmaps/one", {"metadata": {"deletionTimestamp": None}})
    assert "deletionTimestamp" in http.get(f"{path}/configmaps/one").body["metadata"]


@pytest.mark.parametrize(
    ("preconditions", "words"),
    [
        ({"uid": "other"}, "the UID in the precondition (other) does not match the UID in record"),
        ({"resourceVersion": "1"}, "the ResourceVersion in the precondition (1) does not match"),
    ],
)
def test_a_precondition_that_fails_keeps_the_object(
    http: Http, path: str, preconditions: dict[str, str], words: str
) -> None:
    http.create(f"{path}/configmaps", config_map("one"))
    answer = _delete(http, f"{path}/configmaps/one", preconditions=preconditions)
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert words in answer.body["message"]
    assert _names(http, path) == {"one"}


def test_a_precondition_that_holds_lets_it_go(http: Http, path: str) -> None:
    stored = http.create(f"{path}/configmaps", config_map("one"))
    uid = stored["metadata"]["uid"]
    assert _delete(http, f"{path}/configmaps/one", preconditions={"uid": uid}).status == 200
    assert _names(http, path) == set()


@pytest.mark.parametrize("where", ["query", "body"])
def test_a_dry_run_deletes_nothing(http: Http, path: str, where: str) -> None:
    http.create(f"{path}/configmaps", config_map("one"))
    if where == "query":
        assert _delete(http, f"{path}/configmaps/one?dryRun=All").status == 200
    else:
        assert _delete(http, f"{path}/configmaps/one", dryRun=["All"]).status == 200
    assert _names(http, path) == {"one"}


def test_a_collection_is_deleted_by_its_selectors(http: Http, path: str) -> None:
    http.create(f"{path}/configmaps", config_map("a", {"tier": "front"}))
    http.create(f"{path}/configmaps", config_map("b", {"tier": "back"}))
    answer = http.request("DELETE", f"{path}/configmaps?labelSelector=tier%3Dfront")
    assert [item["metadata"]["name"] for item in answer.body["items"]] == ["a"]
    assert _names(http, path) == {"b"}


def test_a_pod_on_a_node_is_marked_and_left_to_its_kubelet(http: Http, path: str) -> None:
    http.create(f"{path}/pods", pod("p", node="n1"))
    meta = _delete(http, f"{path}/pods/p", gracePeriodSeconds=7).body["metadata"]
    assert meta["deletionGracePeriodSeconds"] == 7
    assert "deletionTimestamp" in meta
    assert http.get(f"{path}/pods/p").status == 200


def test_a_pod_without_grace_goes_at_once(kubectl: Kubectl, http: Http, path: str) -> None:
    http.create(f"{path}/pods", pod("p", node="n1"))
    kubectl("delete", "pod", "p", "--grace-period=0", "--force")
    assert http.get(f"{path}/pods/p").status == 404


def test_a_pod_that_was_never_scheduled_goes_at_once(http: Http, path: str) -> None:
    http.create(f"{path}/pods", pod("p"))
    _delete(http, f"{path}/pods/p")
    assert http.get(f"{path}/pods/p").status == 404


def test_kubectl_deletes_all_of_a_kind(kubectl: Kubectl, http: Http, namespace: str) -> None:
    deployments = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    for name in ("a", "b"):
        http.create(deployments, deployment(name))
    assert kubectl("delete", "deployments", "--all").count("deleted") == 2
    assert http.get(deployments).body["items"] == []
