"""The kubeconfigs of agents and probes: enough to repair one system, and no more."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from pytest_microremed.cluster.cluster import Cluster, Obj
from pytest_microremed.cluster.credentials import AGENTS_NAMESPACE, issue_agent, issue_probe, revoke
from pytest_microremed.cluster.kinds import ROLE_BINDINGS, ROLES

CanI = Callable[..., bool]

AGENT_MAY = [
    ("get", "pods"),
    ("delete", "pods"),
    ("create", "pods/exec"),
    ("get", "pods/log"),
    ("create", "pods/eviction"),
    ("patch", "deployments.apps"),
    ("patch", "deployments.apps/scale"),
    ("delete", "statefulsets.apps"),
    ("update", "services"),
    ("patch", "configmaps"),
    ("create", "secrets"),
    ("list", "events"),
    ("delete", "networkpolicies.networking.k8s.io"),
    ("create", "horizontalpodautoscalers.autoscaling"),
    ("create", "poddisruptionbudgets.policy"),
    ("create", "jobs.batch"),
    ("list", "pods.metrics.k8s.io"),
]
NOBODY_MAY = [
    ("list", "stresschaos.chaos-mesh.org"),
    ("delete", "networkchaos.chaos-mesh.org"),
    ("create", "rolebindings.rbac.authorization.k8s.io"),
    ("get", "roles.rbac.authorization.k8s.io"),
    ("create", "serviceaccounts/token"),
    ("list", "nodes"),
    ("list", "namespaces"),
    ("delete", "namespaces"),
]


@pytest.fixture(params=[issue_agent, issue_probe], ids=["agent", "probe"])
def issue(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture
def can_i(tmp_path: Path, namespace: str) -> Iterator[Callable[[str], CanI]]:
    """Asks the API server, as the owner of a kubeconfig, whether it may."""
    opened: list[Cluster] = []

    def using(kubeconfig: str) -> CanI:
        path = tmp_path / f"kubeconfig-{len(opened)}"
        path.write_text(kubeconfig)
        opened.append(Cluster(path))

        def ask(verb: str, resource: str, namespace: str = namespace) -> bool:
            plural, _, group = resource.partition(".")
            plural, _, subresource = plural.partition("/")
            group, _, group_subresource = group.partition("/")
            attributes = {
                "verb": verb,
                "group": group,
                "resource": plural,
                "subresource": subresource or group_subresource,
                "namespace": namespace,
            }
            answer = opened[-1].connection.request(
                "POST",
                "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                "access review",
                body={
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SelfSubjectAccessReview",
                    "spec": {"resourceAttributes": attributes},
                },
            )
            return bool(answer["status"]["allowed"])

        return ask

    yield using
    for cluster in opened:
        cluster.close()


def test_an_agent_may_do_what_an_sre_does(cluster: Cluster, namespace: str, can_i: Callable[[str], CanI]) -> None:
    ask = can_i(issue_agent(cluster, namespace))
    assert [right for right in AGENT_MAY if not ask(*right)] == []


def test_a_probe_may_read_and_run_commands(cluster: Cluster, namespace: str, can_i: Callable[[str], CanI]) -> None:
    ask = can_i(issue_probe(cluster, namespace))
    readings = [("list", resource) for _, resource in AGENT_MAY if "/" not in resource]
    expected = [*readings, ("get", "pods/log"), ("create", "pods/exec")]
    assert [right for right in expected if not ask(*right)] == []
    changes = [
        ("delete", "pods"),
        ("patch", "deployments.apps"),
        ("create", "configmaps"),
        ("create", "pods/eviction"),
    ]
    assert [right for right in changes if ask(*right)] == []


def test_nobody_reaches_the_injector_rights_or_other_namespaces(
    cluster: Cluster, namespace: str, issue: Any, can_i: Callable[[str], CanI]
) -> None:
    ask = can_i(issue(cluster, namespace))
    assert [right for right in NOBODY_MAY if ask(*right)] == []
    assert not ask("get", "pods", "default")
    assert not ask("get", "secrets", AGENTS_NAMESPACE)


def test_the_kubeconfig_holds_server_authority_and_token_only(cluster: Cluster, namespace: str, issue: Any) -> None:
    document = yaml.safe_load(issue(cluster, namespace))
    (entry,) = document["clusters"]
    assert set(entry["cluster"]) == {"server", "certificate-authority-data"}
    assert entry["cluster"]["server"] == cluster.connection.server
    assert b"BEGIN CERTIFICATE" in base64.b64decode(entry["cluster"]["certificate-authority-data"])
    (user,) = document["users"]
    assert set(user["user"]) == {"token"}
    (context,) = document["contexts"]
    assert context["context"]["namespace"] == namespace
    assert user["user"]["token"] not in cluster.kubeconfig.read_text()


def test_the_token_is_short_lived(
    cluster: Cluster, namespace: str, issue: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers: list[Obj] = []

    def remember(*arguments: Any) -> Obj:
        answers.append(Cluster.create_subresource(cluster, *arguments))
        return answers[-1]

    monkeypatch.setattr(cluster, "create_subresource", remember)
    issue(cluster, namespace)
    ends = datetime.fromisoformat(answers[0]["status"]["expirationTimestamp"])
    assert timedelta(minutes=10) <= ends - datetime.now(UTC) <= timedelta(hours=2)


def test_issuing_twice_and_revoking(cluster: Cluster, namespace: str, issue: Any, can_i: Callable[[str], CanI]) -> None:
    issue(cluster, namespace)
    ask = can_i(issue(cluster, namespace))
    assert ask("get", "pods")
    revoke(cluster, namespace)
    assert not ask("get", "pods")
    assert cluster.list(ROLES, namespace) == cluster.list(ROLE_BINDINGS, namespace) == []
