"""Playbooks and probes on the embedded cluster, with the rights that are issued for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.credentials import issue_agent, issue_probe
from pytest_microremed.cluster.embedded import open_embedded
from pytest_microremed.cluster.kinds import CONFIG_MAPS, DEPLOYMENTS
from pytest_microremed.incident import Incident, ProbeResult
from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.playbook.probe import Probe
from pytest_microremed.playbook.runner import PlaybookRunner
from pytest_microremed.remediators.restart import Restart

WEB = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "namespace": "shop"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "containers": [{"name": "shell", "image": "busybox:1.36", "command": ["sleep", "infinity"]}],
            },
        },
    },
}
MODULES = """\
- hosts: k3s_control_plane
  gather_facts: false
  become: true
  tasks:
    - name: Look with the collection
      kubernetes.core.k8s_info:
        kind: Deployment
        api_version: apps/v1
        name: web
        namespace: shop
      register: found
      failed_when: found.resources[0].metadata.name != "web"
    - name: Change something with the collection
      kubernetes.core.k8s:
        state: present
        definition:
          apiVersion: v1
          kind: ConfigMap
          metadata: {name: left-behind, namespace: shop}
          data: {by: "{{ found.resources[0].metadata.name }}"}
    - name: Read what is not the agent's
      ansible.builtin.command: kubectl get secrets --namespace kube-system
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = open_embedded(tmp_path_factory.mktemp("cluster"))
    try:
        cluster.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}})
        cluster.create(WEB)
        cluster.wait_for("web is ready", lambda: ready(cluster), 120)
        yield cluster
    finally:
        cluster.close()


def ready(cluster: Cluster) -> bool:
    return bool((cluster.get(DEPLOYMENTS, "shop", "web") or {}).get("status", {}).get("readyReplicas"))


def test_modules_of_the_collection_work_within_the_agents_rights(cluster: Cluster, tmp_path: Path) -> None:
    result = PlaybookRunner(issue_agent(cluster, "shop"), tmp_path).run(Playbook(MODULES))
    made = cluster.get(CONFIG_MAPS, "shop", "left-behind")
    assert made, result.output
    assert made["data"] == {"by": "web"}
    assert "task [Read what is not the agent's] failed" in result.reason
    assert "forbidden" in result.output


def test_a_restart_gives_new_pods(cluster: Cluster, tmp_path: Path) -> None:
    def no_probe(commands: object) -> ProbeResult:
        raise AssertionError("a restart does not look")

    before = (cluster.get(DEPLOYMENTS, "shop", "web") or {})["metadata"]["generation"]
    incident = Incident("shop", "web", "failure", "report", "context", no_probe)
    result = PlaybookRunner(issue_agent(cluster, "shop"), tmp_path).run(Playbook(Restart().remediate(incident)))
    assert result.exit_code == 0, result.output
    after = cluster.get(DEPLOYMENTS, "shop", "web") or {}
    assert after["metadata"]["generation"] == before + 1
    assert after["status"]["updatedReplicas"] == 1


def test_a_probe_looks_at_objects_and_into_containers(cluster: Cluster, tmp_path: Path) -> None:
    probe = Probe(issue_probe(cluster, "shop"), tmp_path)
    pods, inside, other = probe(
        [
            "kubectl -n shop get pods -l app=web --no-headers",
            "kubectl -n shop exec deploy/web -- sh -c 'ps | grep sleep'",
            "kubectl -n kube-system get secrets",
        ]
    ).outputs
    assert pods.exit_code == 0, pods.output
    assert "Running" in pods.output
    assert inside.exit_code == 0, inside.output
    assert "sleep infinity" in inside.output
    assert other.exit_code == 1
    assert "forbidden" in other.output
    assert (probe.count, probe.refused) == (3, 0)
