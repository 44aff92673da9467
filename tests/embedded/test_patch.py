"""The ways to patch an object, by content type."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.patch import apply_patch
from pytest_microremed.embedded.api.resources import DEPLOYMENTS, Resource

Object = dict[str, Any]

CUSTOM = Resource("example.org", "v1", "widgets", "Widget", custom=True)
JSON, MERGE = "application/json-patch+json", "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


def deployment() -> Object:
    containers = [{"name": "web", "image": "nginx"}, {"name": "side", "image": "busybox"}]
    return {"spec": {"replicas": 2, "template": {"spec": {"containers": containers}}}}


def patched(kind: str, patch: Any, resource: Resource = DEPLOYMENTS) -> Object:
    return apply_patch(kind, deployment(), json.dumps(patch).encode(), resource)


def refusal(kind: str, body: bytes, resource: Resource = DEPLOYMENTS) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        apply_patch(kind, deployment(), body, resource)
    return caught.value.code, caught.value.message


def test_strategic_patches_merge_lists_by_key() -> None:
    containers = [{"name": "web", "image": "nginx:2"}]
    new = patched(STRATEGIC, {"spec": {"template": {"spec": {"containers": containers}}}})
    assert new["spec"]["template"]["spec"]["containers"] == [
        {"name": "web", "image": "nginx:2"},
        {"name": "side", "image": "busybox"},
    ]


def test_merge_patches_replace_lists_and_remove_by_null() -> None:
    new = patched(MERGE, {"spec": {"replicas": None, "template": {"spec": {"containers": []}}}})
    assert new == {"spec": {"template": {"spec": {"containers": []}}}}


def test_json_patches_run_their_operations() -> None:
    operations = [
        {"op": "test", "path": "/spec/replicas", "value": 2},
        {"op": "replace", "path": "/spec/replicas", "value": 5},
        {"op": "remove", "path": "/spec/template/spec/containers/0"},
    ]
    new = patched(JSON, operations)
    assert new["spec"]["replicas"] == 5
    assert [container["name"] for container in new["spec"]["template"]["spec"]["containers"]] == ["side"]


@pytest.mark.parametrize(
    "operation",
    [{"op": "remove", "path": "/spec/absent"}, {"op": "test", "path": "/spec/replicas", "value": 3}],
    ids=["missing path", "failed test"],
)
def test_json_patches_that_do_not_fit_are_refused(operation: Object) -> None:
    body = json.dumps([operation]).encode()
    assert refusal(JSON, body) == (422, "the server rejected our request due to an error in our request")


def test_custom_resources_take_no_strategic_patch() -> None:
    code, message = refusal(STRATEGIC, b"{}", CUSTOM)
    assert code == 415
    assert message == (
        "the body of the request was in an unknown format - accepted media types include:"
        " application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


@pytest.mark.parametrize("kind", [MERGE, STRATEGIC])
@pytest.mark.parametrize("body", [b"{", b"[]"], ids=["not JSON", "no object"])
def test_bodies_that_cannot_be_read_are_bad_requests(kind: str, body: bytes) -> None:
    assert refusal(kind, body)[0] == 400


def test_a_strategic_patch_without_merge_key_fails_as_on_a_real_server() -> None:
    body = json.dumps({"spec": {"template": {"spec": {"containers": [{"image": "x"}]}}}}).encode()
    message = "map: map[image:x] does not contain declared merge key: name"
    assert refusal(STRATEGIC, body) == (500, message)
