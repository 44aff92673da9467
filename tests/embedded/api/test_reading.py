"""Reading objects: get, list, and what is not there."""

from __future__ import annotations

from tests.embedded.clients import Http, Kubectl


def test_a_created_object_can_be_read(kubectl: Kubectl) -> None:
    kubectl("create", "configmap", "settings", "--from-literal=mode=fast")
    assert kubectl.json("get", "configmap", "settings")["data"] == {"mode": "fast"}


def test_a_missing_object_is_named_in_the_error(kubectl: Kubectl) -> None:
    message = kubectl.refused("get", "deployment", "nothing")
    assert message == 'Error from server (NotFound): deployments.apps "nothing" not found'


def test_a_request_without_a_token_is_refused(http: Http) -> None:
    http.token = None
    answer = http.get("/api/v1/namespaces")
    assert (answer.status, answer.body["reason"]) == (401, "Unauthorized")
