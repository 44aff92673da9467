"""Evictions, and the disruption budgets that limit them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embedded.api.objects import pod
from tests.embedded.clients import Answer, Http


@pytest.fixture
def path(http: Http, namespace: str) -> str:
    """The path of a running pod without a grace period."""
    created = pod("p", node="n1", labels={"app": "web"})
    created["spec"]["terminationGracePeriodSeconds"] = 0
    http.create(f"/api/v1/namespaces/{namespace}/pods", created)
    http.patch(f"/api/v1/namespaces/{namespace}/pods/p/status", {"status": {"phase": "Running"}})
    return f"/api/v1/namespaces/{namespace}/pods/p"


def _budget(http: Http, namespace: str, allowed: int) -> str:
    budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    spec = {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}
    http.create(budgets, {"metadata": {"name": "b"}, "spec": spec})
    status = {"disruptionsAllowed": allowed, "desiredHealthy": 1, "currentHealthy": 1 + allowed}
    http.patch(f"{budgets}/b/status", {"status": {**status, "expectedPods": 2}})
    return f"{budgets}/b"


def _evict(http: Http, path: str, **more: Any) -> Answer:
    return http.request("POST", f"{path}/eviction", {"metadata": {"name": "p"}, **more})


def test_an_eviction_deletes_the_pod(http: Http, path: str) -> None:
    answer = _evict(http, path)
    assert (answer.status, answer.body["status"]) == (201, "Success")
    assert http.get(path).status == 404


def test_a_budget_without_disruptions_left_forbids_it(http: Http, path: str, namespace: str) -> None:
    _budget(http, namespace, allowed=0)
    answer = _evict(http, path)
    assert (answer.status, answer.body["reason"]) == (429, "TooManyRequests")
    assert answer.body["message"] == "Cannot evict pod as it would violate the pod's disruption budget."
    assert answer.body["details"]["causes"][0] == {
        "reason": "DisruptionBudget",
        "message": "The disruption budget b needs 1 healthy pods and has 1 currently",
    }
    assert http.get(path).status == 200


def test_an_eviction_takes_from_the_budget(http: Http, path: str, namespace: str) -> None:
    budget = _budget(http, namespace, allowed=1)
    assert _evict(http, path).status == 201
    assert http.get(budget).body["status"]["disruptionsAllowed"] == 0


def test_a_dry_run_evicts_nothing(http: Http, path: str, namespace: str) -> None:
    budget = _budget(http, namespace, allowed=1)
    assert _evict(http, path, deleteOptions={"dryRun": ["All"]}).status == 201
    assert http.get(path).status == 200
    assert http.get(budget).body["status"]["disruptionsAllowed"] == 1


def test_a_pod_that_does_not_run_is_no_disruption(http: Http, path: str, namespace: str) -> None:
    _budget(http, namespace, allowed=0)
    http.patch(f"{path}/status", {"status": {"phase": "Failed"}})
    assert _evict(http, path).status == 201


def test_a_missing_pod_cannot_be_evicted(http: Http, namespace: str) -> None:
    answer = _evict(http, f"/api/v1/namespaces/{namespace}/pods/p")
    assert (answer.status, answer.body["message"]) == (404, 'pods "p" not found')
