"""Creating objects: names, namespaces, dry runs, and what the server completes."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.embedded.api.objects import config_map, deployment, pod, service
from tests.embedded.clients import Http, Kubectl


@pytest.fixture
def path(namespace: str) -> str:
    return f"/api/v1/namespaces/{namespace}"


def test_the_server_writes_its_own_metadata(http: Http, path: str, namespace: str) -> None:
    sent = config_map("one")
    sent["metadata"] |= {"uid": "mine", "creationTimestamp": "2001-01-01T00:00:00Z", "generation": 7}
    meta = http.create(f"{path}/configmaps", sent)["metadata"]
    assert meta["uid"] != "mine"
    assert meta["creationTimestamp"] > "2025"
    assert int(meta["resourceVersion"]) > 0
    assert meta["namespace"] == namespace
    assert "generation" not in meta


def test_a_generated_name_has_the_prefix_and_differs_each_time(http: Http, path: str) -> None:
    sent = {"metadata": {"generateName": "job-"}}
    names = {http.create(f"{path}/configmaps", sent)["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("job-") and len(name) == 9 for name in names)


def test_a_name_is_required(http: Http, path: str) -> None:
    answer = http.request("POST", f"{path}/configmaps", {"data": {"a": "b"}})
    assert (answer.status, answer.body["reason"]) == (422, "Invalid")
    assert answer.body["details"]["causes"] == [
        {
            "reason": "FieldValueRequired",
            "message": "Required value: name or generateName is required",
            "field": "metadata.name",
        }
    ]


def test_a_name_is_taken_once(kubectl: Kubectl, http: Http, path: str) -> None:
    http.create(f"{path}/configmaps", config_map("one"))
    message = kubectl.refused("create", "configmap", "one")
    assert message == 'error: failed to create configmap: configmaps "one" already exists'


def test_nothing_is_created_in_a_missing_namespace(http: Http) -> None:
    answer = http.request("POST", "/api/v1/namespaces/nowhere/configmaps", config_map("one"))
    assert (answer.status, answer.body["message"]) == (404, 'namespaces "nowhere" not found')


def test_the_namespace_must_be_that_of_the_path(http: Http, path: str) -> None:
    sent = config_map("one")
    sent["metadata"]["namespace"] = "default"
    answer = http.request("POST", f"{path}/configmaps", sent)
    assert answer.status == 400
    assert answer.body["message"] == (
        "the namespace of the provided object does not match the namespace sent on the request"
    )


def test_the_version_must_be_that_of_the_path(http: Http, namespace: str) -> None:
    sent = {**deployment("web"), "apiVersion": "apps/v1beta1"}
    answer = http.request("POST", f"/apis/apps/v1/namespaces/{namespace}/deployments", sent)
    assert answer.status == 400
    assert answer.body["message"] == (
        "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)"
    )


def test_a_resource_version_cannot_be_chosen(http: Http, path: str) -> None:
    sent = config_map("one")
    sent["metadata"]["resourceVersion"] = "1"
    answer = http.request("POST", f"{path}/configmaps", sent)
    assert answer.body["message"] == "resourceVersion should not be set on objects to be created"


def test_a_dry_run_answers_as_if_and_stores_nothing(http: Http, path: str) -> None:
    answer = http.request("POST", f"{path}/configmaps?dryRun=All", config_map("one"))
    assert (answer.status, answer.body["metadata"]["name"]) == (201, "one")
    assert http.get(f"{path}/configmaps/one").status == 404


def test_a_body_that_is_no_json_is_refused(http: Http, path: str) -> None:
    answer = http.request("POST", f"{path}/configmaps", "{")
    assert (answer.status, answer.body["reason"]) == (400, "BadRequest")


def test_a_yaml_body_is_read_with_dates_as_text(http: Http, path: str) -> None:
    text = "metadata:\n  name: one\ndata:\n  day: 2026-01-02\n"
    answer = http.request("POST", f"{path}/configmaps", text, content_type="application/yaml")
    assert (answer.status, answer.body["data"]) == (201, {"day": "2026-01-02"})


def test_an_unknown_type_of_body_is_refused(http: Http, path: str) -> None:
    answer = http.request("POST", f"{path}/configmaps", "x", content_type="text/plain")
    assert (answer.status, answer.body["reason"]) == (415, "UnsupportedMediaType")


def test_an_unknown_field_is_warned_of(http: Http, path: str) -> None:
    answer = http.request("POST", f"{path}/configmaps?fieldValidation=Warn", {**config_map("one"), "colour": "red"})
    assert answer.status == 201
    assert answer.headers["Warning"] == '299 - "unknown field \\"colour\\""'
    assert "colour" not in answer.body


def test_a_service_gets_addresses_of_its_own(http: Http, path: str) -> None:
    first, second = (http.create(f"{path}/services", service(name, 80))["spec"] for name in ("a", "b"))
    assert first["clusterIP"].startswith("10.96.")
    assert first["clusterIPs"] == [first["clusterIP"]]
    assert first["clusterIP"] != second["clusterIP"]


def test_a_headless_service_has_no_address(http: Http, path: str) -> None:
    assert http.create(f"{path}/services", service("a", 80, clusterIP="None"))["spec"]["clusterIP"] == "None"


def test_node_ports_are_given_and_kept(http: Http, path: str) -> None:
    http.create(f"{path}/services", service("earlier", 80, type="NodePort"))
    created = http.create(f"{path}/services", service("a", 80, 81, type="NodePort"))
    http.request("DELETE", f"{path}/services/earlier")
    ports = [each["nodePort"] for each in created["spec"]["ports"]]
    assert len(set(ports)) == 2
    assert all(30000 <= port <= 32767 for port in ports)
    changed = http.request("PUT", f"{path}/services/a", service("a", 80, 81, type="NodePort")).body
    assert [each["nodePort"] for each in changed["spec"]["ports"]] == ports
    assert changed["spec"]["clusterIP"] == created["spec"]["clusterIP"]


def test_an_address_is_given_once(http: Http, path: str) -> None:
    taken = http.create(f"{path}/services", service("a", 80))["spec"]["clusterIP"]
    answer = http.request("POST", f"{path}/services", service("b", 80, clusterIP=taken))
    assert answer.status == 422
    assert "provided IP is already allocated" in answer.body["message"]


def test_text_of_a_secret_is_stored_encoded(http: Http, path: str) -> None:
    stored = http.create(f"{path}/secrets", {"metadata": {"name": "s"}, "stringData": {"key": "value"}})
    assert stored["data"] == {"key": base64.b64encode(b"value").decode()}
    assert "stringData" not in stored


def test_a_job_selects_its_own_pods(http: Http, namespace: str) -> None:
    template = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "busybox"}]}}
    job = {"metadata": {"name": "j"}, "spec": {"template": template}}
    stored = http.create(f"/apis/batch/v1/namespaces/{namespace}/jobs", job)
    selector = {"batch.kubernetes.io/controller-uid": stored["metadata"]["uid"]}
    assert stored["spec"]["selector"] == {"matchLabels": selector}
    assert stored["spec"]["template"]["metadata"]["labels"].items() >= selector.items()


def test_a_pod_begins_pending_with_the_default_account(http: Http, path: str) -> None:
    sent = pod("p")
    sent["status"] = {"phase": "Running"}
    stored = http.create(f"{path}/pods", sent)
    assert (stored["status"]["phase"], stored["spec"]["serviceAccountName"]) == ("Pending", "default")
    tolerated = {each["key"] for each in stored["spec"]["tolerations"]}
    assert tolerated == {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "100m"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}, "Burstable"),
    ],
)
def test_the_quality_of_service_follows_the_resources(
    http: Http, path: str, resources: dict[str, Any], expected: str
) -> None:
    sent = pod("p")
    sent["spec"]["containers"][0]["resources"] = resources
    assert http.create(f"{path}/pods", sent)["status"]["qosClass"] == expected


def test_a_pod_beyond_the_quota_is_forbidden(kubectl: Kubectl, http: Http, path: str) -> None:
    kubectl("create", "quota", "q", "--hard=pods=1")
    http.create(f"{path}/pods", pod("p"))
    answer = http.request("POST", f"{path}/pods", pod("q"))
    assert (answer.status, answer.body["message"]) == (
        403,
        'pods "q" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
    )


def test_a_pod_of_an_unknown_account_is_forbidden(http: Http, path: str) -> None:
    sent = pod("p")
    sent["spec"]["serviceAccountName"] = "nobody"
    answer = http.request("POST", f"{path}/pods", sent)
    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert answer.body["message"].endswith('serviceaccount "nobody" not found')
