"""What a killed run has left is found by its label and removed; what is not ours is left alone."""

from __future__ import annotations

from pytest_microremed.cluster.cleaning import clean
from pytest_microremed.cluster.cluster import Cluster, Obj
from pytest_microremed.cluster.credentials import AGENTS_NAMESPACE, issue_agent
from pytest_microremed.cluster.kinds import NETWORK_CHAOS, ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS
from pytest_microremed.cluster.labels import MANAGED_BY


def network_chaos(name: str, labels: dict[str, str]) -> Obj:
    return {
        "apiVersion": NETWORK_CHAOS.api_version,
        "kind": NETWORK_CHAOS.kind,
        "metadata": {"name": name, "namespace": "shop", "labels": labels},
        "spec": {
            "action": "delay",
            "mode": "one",
            "selector": {"namespaces": ["shop"], "labelSelectors": {"app": "web"}},
            "delay": {"latency": "10ms"},
        },
    }


def test_faults_and_credentials_go(cluster: Cluster, namespace: str) -> None:
    cluster.create(network_chaos("leftover", dict(MANAGED_BY)))
    cluster.create(network_chaos("theirs", {"app": "web"}))
    issue_agent(cluster, namespace)
    removed = [line for line in clean(cluster) if not line.endswith("/probe")]
    assert sorted(removed) == [
        "NetworkChaos shop/leftover",
        "Role shop/remediator",
        "RoleBinding shop/remediator",
        "ServiceAccount microremed-agents/remediator",
    ]
    assert [obj["metadata"]["name"] for obj in cluster.list(NETWORK_CHAOS, None)] == ["theirs"]
    assert cluster.list(ROLES, namespace) == cluster.list(ROLE_BINDINGS, namespace) == []
    assert cluster.list(SERVICE_ACCOUNTS, AGENTS_NAMESPACE, MANAGED_BY) == []
    cluster.delete(NETWORK_CHAOS, namespace, "theirs")


def test_a_clean_cluster_has_nothing_to_remove(cluster: Cluster) -> None:
    clean(cluster)
    assert clean(cluster) == []


def test_credentials_can_be_issued_right_after_cleaning(cluster: Cluster, namespace: str) -> None:
    issue_agent(cluster, namespace)
    clean(cluster)
    assert "token" in issue_agent(cluster, namespace)
