"""Label and field selectors of lists."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.embedded.api.objects import config_map, pod
from tests.embedded.clients import Http, Kubectl


@pytest.fixture
def labelled(http: Http, namespace: str) -> str:
    """A path with config maps a (tier=front,x=1), b (tier=back), c (no labels)."""
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    http.create(path, config_map("a", {"tier": "front", "x": "1", "example.com/part": "ui"}))
    http.create(path, config_map("b", {"tier": "back"}))
    http.create(path, config_map("c"))
    return path


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("tier=front", "a"),
        ("tier==front", "a"),
        ("tier!=front", "b c"),
        ("tier", "a b"),
        ("!tier", "c"),
        ("tier in (front, back)", "a b"),
        ("tier in (front),x=1", "a"),
        ("tier notin (front)", "b c"),
        ("tier=front,x=2", ""),
        ("example.com/part=ui", "a"),
        ("x>0", "a"),
        ("x<1", ""),
        ("tier=", ""),
    ],
)
def test_a_label_selector_selects(http: Http, labelled: str, selector: str, names: str) -> None:
    listed = http.get(f"{labelled}?labelSelector={quote(selector)}").body["items"]
    found = [item["metadata"]["name"] for item in listed if item["metadata"]["name"] != "kube-root-ca.crt"]
    assert found == names.split()


@pytest.mark.parametrize("selector", ["=x", "tier in front", "a b", "!", "tier=front back"])
def test_a_label_selector_that_cannot_be_read_is_refused(http: Http, labelled: str, selector: str) -> None:
    answer = http.get(f"{labelled}?labelSelector={quote(selector)}")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")
    assert "unable to parse requirement" in answer.body["message"]


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("metadata.name=one", "one"),
        ("metadata.name!=one", "two"),
        ("spec.nodeName=n1", "one"),
        ("spec.nodeName=", "two"),
        ("status.phase=Pending,metadata.name=two", "two"),
        ("status.phase=Running", ""),
        ("spec.restartPolicy==Always", "one two"),
    ],
)
def test_a_field_selector_selects(http: Http, namespace: str, selector: str, names: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/pods"
    http.create(path, pod("one", node="n1"))
    http.create(path, pod("two"))
    listed = http.get(f"{path}?fieldSelector={quote(selector)}").body["items"]
    assert [item["metadata"]["name"] for item in listed] == names.split()


def test_events_are_selected_by_the_object_they_are_about(http: Http, namespace: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/events"
    for name, kind in (("e1", "Pod"), ("e2", "Node")):
        about = {"kind": kind, "name": "x", "namespace": namespace}
        http.create(path, {"metadata": {"name": name}, "involvedObject": about, "type": "Warning", "reason": "R"})
    listed = http.get(f"{path}?fieldSelector=involvedObject.kind%3DPod,type%3DWarning,reason%3DR").body["items"]
    assert [item["metadata"]["name"] for item in listed] == ["e1"]


def test_a_field_that_pods_cannot_be_selected_by_is_refused(kubectl: Kubectl) -> None:
    message = kubectl.refused("get", "pods", "--field-selector", "spec.colour=red")
    assert message == (
        'Error from server (BadRequest): Unable to find "/v1, Resource=pods" that match label selector "", field'
        ' selector "spec.colour=red": field label not supported: spec.colour'
    )


def test_other_kinds_are_selected_by_name_and_namespace_only(http: Http, labelled: str) -> None:
    answer = http.get(f"{labelled}?fieldSelector=data.mode%3Dfast")
    assert (answer.status, answer.body["message"]) == (
        400,
        '"data.mode" is not a known field selector: only "metadata.name", "metadata.namespace"',
    )


def test_kubectl_selects_by_labels_across_namespaces(kubectl: Kubectl, labelled: str, namespace: str) -> None:
    found = kubectl("get", "configmaps", "-A", "-l", "tier in (front,back)", "-o", "name").split()
    assert {"configmap/a", "configmap/b"} <= set(found)
