"""Changing objects: replace, patch, and the versions that guard against lost updates."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embedded.api.objects import config_map, deployment
from tests.embedded.clients import Http, Kubectl

MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


@pytest.fixture
def path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps"


@pytest.fixture
def web(http: Http, namespace: str) -> str:
    """The path of a stored Deployment."""
    http.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("web"))
    return f"/apis/apps/v1/namespaces/{namespace}/deployments/web"


def test_a_replacement_of_an_old_version_conflicts(http: Http, path: str) -> None:
    stored = http.create(path, config_map("one"))
    http.patch(f"{path}/one", {"data": {"a": "1"}})
    answer = http.request("PUT", f"{path}/one", {**stored, "data": {"b": "2"}})
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")
    assert answer.body["message"] == f'Operation cannot be fulfilled on configmaps "one": {MODIFIED}'
    assert http.get(f"{path}/one").body["data"] == {"a": "1"}


def test_a_replacement_without_a_version_wins(http: Http, path: str) -> None:
    http.create(path, config_map("one", a="1"))
    answer = http.request("PUT", f"{path}/one", config_map("one", b="2"))
    assert (answer.status, answer.body["data"]) == (200, {"b": "2"})


def test_a_patch_of_an_old_version_conflicts(http: Http, path: str) -> None:
    stored = http.create(path, config_map("one"))
    http.patch(f"{path}/one", {"data": {"a": "1"}})
    version = stored["metadata"]["resourceVersion"]
    answer = http.patch(f"{path}/one", {"metadata": {"resourceVersion": version}, "data": {"b": "2"}})
    assert (answer.status, answer.body["reason"]) == (409, "Conflict")


def test_an_object_that_was_made_anew_is_another(http: Http, path: str) -> None:
    stored = http.create(path, config_map("one"))
    http.request("DELETE", f"{path}/one")
    http.create(path, config_map("one"))
    del stored["metadata"]["resourceVersion"]
    answer = http.request("PUT", f"{path}/one", stored)
    assert answer.status == 409
    assert "Precondition failed: UID in precondition: " in answer.body["message"]


def test_the_name_must_be_that_of_the_path(http: Http, path: str) -> None:
    http.create(path, config_map("one"))
    answer = http.request("PUT", f"{path}/one", config_map("two"))
    assert (answer.status, answer.body["message"]) == (
        400,
        "the name of the object (two) does not match the name on the URL (one)",
    )


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_missing_object_cannot_be_changed(http: Http, path: str, method: str) -> None:
    content_type = "application/json" if method == "PUT" else "application/merge-patch+json"
    answer = http.request(method, f"{path}/one", config_map("one"), content_type=content_type)
    assert (answer.status, answer.body["message"]) == (404, 'configmaps "one" not found')


def test_what_changes_nothing_makes_no_new_version(http: Http, path: str) -> None:
    stored = http.create(path, config_map("one", a="1"))
    answer = http.patch(f"{path}/one", {"data": {"a": "1"}})
    assert answer.body["metadata"]["resourceVersion"] == stored["metadata"]["resourceVersion"]


def test_a_dry_run_changes_nothing(http: Http, path: str) -> None:
    http.create(path, config_map("one", a="1"))
    answer = http.patch(f"{path}/one?dryRun=All", {"data": {"a": "2"}})
    assert answer.body["data"] == {"a": "2"}
    assert http.get(f"{path}/one").body["data"] == {"a": "1"}


def test_generation_counts_changes_of_the_spec_only(http: Http, web: str) -> None:
    assert http.get(web).body["metadata"]["generation"] == 1
    assert http.patch(web, {"metadata": {"labels": {"x": "y"}}}).body["metadata"]["generation"] == 1
    assert http.patch(web, {"spec": {"replicas": 2}}).body["metadata"]["generation"] == 2


def test_the_status_has_its_own_path(http: Http, web: str) -> None:
    both: dict[str, Any] = {"spec": {"replicas": 5}, "status": {"replicas": 3}}
    changed = http.patch(f"{web}/status", both).body
    assert (changed["spec"]["replicas"], changed["status"]["replicas"]) == (1, 3)
    changed = http.patch(web, {"spec": {"replicas": 7}, "status": {"replicas": 9}}).body
    assert (changed["spec"]["replicas"], changed["status"]["replicas"]) == (7, 3)


def test_the_system_fields_stay(http: Http, path: str) -> None:
    stored = http.create(path, config_map("one"))
    changed = http.patch(f"{path}/one", {"metadata": {"creationTimestamp": "2001-01-01T00:00:00Z"}}).body
    assert changed["metadata"]["creationTimestamp"] == stored["metadata"]["creationTimestamp"]


def test_a_json_patch_changes_one_field(http: Http, web: str) -> None:
    answer = http.patch(web, [{"op": "replace", "path": "/spec/replicas", "value": 4}], kind="json")
    assert answer.body["spec"]["replicas"] == 4


def test_a_strategic_patch_merges_containers_by_name(http: Http, web: str) -> None:
    containers = [{"name": "main", "image": "nginx:1.26"}, {"name": "more", "image": "busybox"}]
    answer = http.patch(web, {"spec": {"template": {"spec": {"containers": containers}}}}, "strategic-merge")
    found = {each["name"]: each for each in answer.body["spec"]["template"]["spec"]["containers"]}
    assert (found["main"]["image"], found["more"]["image"]) == ("nginx:1.26", "busybox")
    assert found["main"]["imagePullPolicy"] == "IfNotPresent"


def test_an_unknown_kind_of_patch_is_refused(http: Http, web: str) -> None:
    answer = http.request("PATCH", web, {}, content_type="application/json")
    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")
    assert "application/strategic-merge-patch+json" in answer.body["message"]


def test_the_fields_of_a_manager_are_recorded(http: Http, web: str) -> None:
    http.request(
        "PATCH",
        f"{web}?fieldManager=tester",
        {"spec": {"replicas": 2}},
        content_type="application/merge-patch+json",
    )
    entries = http.get(web).body["metadata"]["managedFields"]
    assert {"f:spec": {"f:replicas": {}}} in [each["fieldsV1"] for each in entries if each["manager"] == "tester"]


def test_server_side_apply_creates_and_refuses_what_others_own(kubectl: Kubectl, http: Http, web: str) -> None:
    import json

    applied = json.dumps(deployment("other", replicas=2))
    assert "serverside-applied" in kubectl("apply", "--server-side", "-f", "-", stdin=applied)
    changed = json.dumps(deployment("other", replicas=3))
    refused = kubectl.refused("apply", "--server-side", "--field-manager=second", "-f", "-", stdin=changed)
    assert 'conflict with "kubectl"' in refused
    kubectl("apply", "--server-side", "--field-manager=second", "--force-conflicts", "-f", "-", stdin=changed)
    assert kubectl.json("get", "deployment", "other")["spec"]["replicas"] == 3


def test_server_side_apply_needs_a_manager(http: Http, web: str) -> None:
    body = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
    answer = http.request("PATCH", web, body, content_type="application/apply-patch+yaml")
    assert answer.status == 422
    assert answer.body["message"] == (
        'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch'
    )
