"""Custom resources: served, checked and shown as their definition says, from the moment it is there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.embedded.api.objects import Object
from tests.embedded.clients import Http, Kubectl

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
SCHEMA: Object = {
    "type": "object",
    "required": ["spec"],
    "properties": {
        "spec": {
            "type": "object",
            "required": ["mode"],
            "properties": {
                "mode": {"type": "string", "enum": ["one", "all"]},
                "load": {"type": "integer", "default": 7},
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            },
        },
        "status": {"type": "object", "properties": {"phase": {"type": "string"}}},
    },
}


def _short(group: str) -> str:
    """A short name of the group's own: kubectl keeps the names of earlier tests for a while."""
    return group.partition(".")[0].replace("-", "")


def _definition(group: str) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"gadgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "gadgets", "kind": "Gadget", "shortNames": [_short(group)], "categories": ["all"]},
            "versions": [
                {
                    "name": "v1alpha1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": SCHEMA},
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        {"name": "Mode", "type": "string", "jsonPath": ".spec.mode"},
                        {"name": "Load", "type": "integer", "jsonPath": ".spec.load", "priority": 1},
                        {"name": "Odd", "type": "date", "jsonPath": ".spec.mode", "priority": 1},
                        {"name": "Since", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
                    ],
                }
            ],
        },
    }


@pytest.fixture
def group(http: Http, namespace: str) -> Iterator[str]:
    """The API group of a defined resource `gadgets`."""
    name = f"{namespace}.example.com"
    http.create(DEFINITIONS, _definition(name))
    yield name
    http.request("DELETE", f"{DEFINITIONS}/gadgets.{name}")


@pytest.fixture
def path(group: str, namespace: str) -> str:
    return f"/apis/{group}/v1alpha1/namespaces/{namespace}/gadgets"


def _gadget(name: str, **spec: Any) -> Object:
    return {"metadata": {"name": name}, "spec": {"mode": "one", **spec}}


def _manifest(group: str, name: str, **spec: Any) -> str:
    return json.dumps({"apiVersion": f"{group}/v1alpha1", "kind": "Gadget", **_gadget(name, **spec)})


def test_a_definition_is_established_at_once(kubectl: Kubectl, group: str) -> None:
    kubectl("wait", "--for=condition=Established", f"crd/gadgets.{group}", "--timeout=20s")
    spec = kubectl.json("get", "crd", f"gadgets.{group}")["spec"]
    assert (spec["names"]["singular"], spec["names"]["listKind"]) == ("gadget", "GadgetList")


def test_kubectl_works_on_the_new_kind(kubectl: Kubectl, group: str) -> None:
    manifest = _manifest(group, "g", load=1)
    assert "created" in kubectl("apply", "-f", "-", stdin=manifest)
    assert "configured" in kubectl("apply", "-f", "-", stdin=_manifest(group, "g", load=2))
    assert "unchanged" in kubectl("apply", "-f", "-", stdin=_manifest(group, "g", load=2))
    assert kubectl.json("get", _short(group), "g")["spec"] == {"mode": "one", "load": 2}
    assert f"gadget.{group}/g" in kubectl("get", "all", "-o", "name")
    assert "FIELDS:" in kubectl("explain", f"gadgets.{group}.spec")
    kubectl("delete", f"gadgets.{group}", "g")
    assert "not found" in kubectl.refused("get", f"gadgets.{group}", "g")


def test_the_columns_are_those_of_the_definition(kubectl: Kubectl, http: Http, path: str, group: str) -> None:
    http.create(path, _gadget("g"))
    header, row = kubectl("get", f"gadgets.{group}").splitlines()
    assert header.split() == ["NAME", "MODE", "SINCE"]
    assert row.split()[:2] == ["g", "one"]
    assert row.split()[2].endswith("s")
    assert kubectl("get", f"gadgets.{group}", "-o", "wide").splitlines()[1].split()[:3] == [
        "g",
        "one",
        "7",
    ]  # Odd is no date


def test_fields_that_the_schema_does_not_know_are_pruned(http: Http, path: str) -> None:
    stored = http.create(path, _gadget("g", colour="red", free={"any": "thing"}))
    assert stored["spec"] == {"mode": "one", "load": 7, "free": {"any": "thing"}}


def test_an_unknown_field_is_refused_if_strict(http: Http, path: str) -> None:
    answer = http.request("POST", f"{path}?fieldValidation=Strict", _gadget("g", colour="red"))
    assert answer.status == 400
    assert 'unknown field "spec.colour"' in answer.body["message"]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "spec.mode: Required value"),
        ({"mode": "many"}, 'spec.mode: Unsupported value: "many": supported values: "one", "all"'),
        ({"mode": "one", "load": "much"}, 'spec.load: Invalid value: "string"'),
    ],
)
def test_values_that_the_schema_forbids_are_refused(
    http: Http, path: str, group: str, spec: Object, words: str
) -> None:
    answer = http.request("POST", path, {"metadata": {"name": "g"}, "spec": spec})
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert answer.body["message"].startswith(f'Gadget.{group} "g" is invalid: {words}')


def test_a_strategic_patch_is_not_served(http: Http, path: str) -> None:
    http.create(path, _gadget("g"))
    answer = http.patch(f"{path}/g", {"spec": {"load": 3}}, "strategic-merge")
    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")
    assert http.patch(f"{path}/g", {"spec": {"load": 3}}).body["spec"]["load"] == 3


def test_the_status_has_its_own_path(http: Http, path: str) -> None:
    stored = http.create(path, {**_gadget("g"), "status": {"phase": "early"}})
    assert "status" not in stored
    assert "status" not in http.patch(f"{path}/g", {"status": {"phase": "early"}}).body
    changed = http.patch(f"{path}/g/status", {"spec": {"load": 9}, "status": {"phase": "done"}}).body
    assert (changed["status"], changed["spec"]["load"]) == ({"phase": "done"}, 7)
    assert changed["metadata"]["generation"] == 1
    assert http.patch(f"{path}/g", {"spec": {"load": 8}}).body["metadata"]["generation"] == 2


def test_a_replacement_must_name_its_version(http: Http, path: str) -> None:
    http.create(path, _gadget("g"))
    answer = http.request("PUT", f"{path}/g", _gadget("g"))
    assert answer.status == 422
    assert "metadata.resourceVersion: Invalid value: 0x0: must be specified for an update" in answer.body["message"]


def test_discovery_has_it_while_it_is_defined(http: Http, group: str) -> None:
    assert http.get(f"/apis/{group}/v1alpha1").body["resources"][0]["name"] == "gadgets"
    http.request("DELETE", f"{DEFINITIONS}/gadgets.{group}")
    assert http.get(f"/apis/{group}/v1alpha1").status == 404


def test_a_deleted_definition_takes_its_objects_along(kubectl: Kubectl, http: Http, path: str, group: str) -> None:
    http.create(path, _gadget("g"))
    kubectl("delete", "crd", f"gadgets.{group}", "--timeout=20s")
    assert http.get(path).status == 404
    http.create(DEFINITIONS, _definition(group))
    assert http.get(path).body["items"] == []


def test_a_definition_waits_for_objects_with_finalizers(http: Http, path: str, group: str) -> None:
    held = _gadget("g")
    held["metadata"]["finalizers"] = ["example.com/hold"]
    http.create(path, held)
    http.request("DELETE", f"{DEFINITIONS}/gadgets.{group}")
    assert "deletionTimestamp" in http.get(f"{DEFINITIONS}/gadgets.{group}").body["metadata"]
    http.patch(f"{path}/g", {"metadata": {"finalizers": None}})
    assert http.get(f"{DEFINITIONS}/gadgets.{group}").status == 404


def test_a_changed_definition_holds_for_stored_objects(http: Http, path: str, group: str) -> None:
    http.create(path, _gadget("g"))
    field = "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/more"
    change = [{"op": "add", "path": field, "value": {"type": "string"}}]
    assert http.patch(f"{DEFINITIONS}/gadgets.{group}", change, kind="json").status == 200
    assert http.patch(f"{path}/g", {"spec": {"more": "yes"}}).body["spec"]["more"] == "yes"


def test_the_python_client_works_on_the_new_kind(client: Any, group: str, namespace: str) -> None:
    from kubernetes.client import CustomObjectsApi

    api: Any = CustomObjectsApi(client)
    body = json.loads(_manifest(group, "g"))
    api.create_namespaced_custom_object(group, "v1alpha1", namespace, "gadgets", body)
    listed = api.list_namespaced_custom_object(group, "v1alpha1", namespace, "gadgets")
    assert [item["metadata"]["name"] for item in listed["items"]] == ["g"]
