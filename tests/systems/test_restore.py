"""Whatever is done in the namespace of a system is seen, and put right."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import (
    CONTROLLER_REVISIONS,
    DEPLOYMENTS,
    EVENTS,
    NAMESPACES,
    PODS,
    REPLICA_SETS,
    SERVICES,
)
from pytest_microremed.systems.baseline import Baseline, changes, find_clean, restore
from tests.embedded.clients import Kubectl


@dataclass(frozen=True)
class Damage:
    """A deed, and the line by which it must show (its beginning)."""

    name: str
    do: Callable[[Kubectl], object]
    shows: str


def run(*arguments: str) -> Callable[[Kubectl], object]:
    return lambda kubectl: kubectl(*arguments)


def apply(manifest: dict[str, object]) -> Callable[[Kubectl], object]:
    return lambda kubectl: kubectl("apply", "-f", "-", stdin=json.dumps(manifest))


DENY_ALL: dict[str, object] = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": "deny-all"},
    "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
}
HELD_BY_FINALIZER: dict[str, object] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "held", "finalizers": ["example.org/forever"]},
}
BARE_POD: dict[str, object] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "debug"},
    "spec": {"containers": [{"name": "shell", "image": "busybox:1.36", "command": ["sleep", "infinity"]}]},
}

DAMAGES = [
    Damage("service deleted", run("delete", "service", "time-service"), "Service/time-service: removed"),
    Damage(
        "service misdirected",
        run("patch", "service", "time-service", "-p", '{"spec":{"selector":{"app":"other"}}}'),
        "Service/time-service: changed: spec.selector.app",
    ),
    Damage(
        "service port moved",
        run(
            "patch",
            "service",
            "time-service",
            "--type=json",
            "-p",
            '[{"op":"replace","path":"/spec/ports/0/port","value":9}]',
        ),
        "Service/time-service: changed: spec.ports[http].port",
    ),
    Damage(
        "scaled to zero",
        run("scale", "deployment/hello-service", "--replicas=0"),
        "Deployment/hello-service: changed: spec.replicas",
    ),
    Damage(
        "scaled up",
        run("scale", "deployment/hello-service", "--replicas=3"),
        "Deployment/hello-service: changed: spec.replicas",
    ),
    Damage(
        "deployment deleted",
        run("delete", "deployment", "hello-service"),
        "Deployment/hello-service: removed",
    ),
    Damage(
        "limits raised",
        run("set", "resources", "deployment/time-service", "-c", "time-service", "--limits=cpu=2"),
        "Deployment/time-service: changed: spec.template.spec.containers[time-service].resources.limits.cpu",
    ),
    Damage(
        "variable changed",
        run("set", "env", "deployment/hello-service", "TIME_SERVICE_ADDR=nowhere:1"),
        "Deployment/hello-service: changed: spec.template.spec.containers[hello-service].env",
    ),
    Damage(
        "restarted",
        run("rollout", "restart", "deployment/time-service"),
        "Deployment/time-service: changed: spec.template.metadata.annotations",
    ),
    Damage(
        "image that does not exist",
        run("set", "image", "deployment/time-service", "time-service=nobody/nothing:1"),
        "Deployment/time-service: changed: spec.template.spec.containers[time-service].image",
    ),
    Damage(
        "labelled",
        run("label", "deployment", "time-service", "tier=back"),
        "Deployment/time-service: changed: metadata.labels.tier",
    ),
    Damage(
        "pod relabelled",
        run("label", "pod", "-l", "app=time-service", "app=none", "--overwrite"),
        "Pod/time-service-",
    ),
    Damage(
        "pod annotated with a label",
        run("label", "pod", "-l", "app=time-service", "seen=yes"),
        "Pod/time-service-",
    ),
    Damage("network policy added", apply(DENY_ALL), "NetworkPolicy/deny-all: added"),
    Damage("object held by a finalizer", apply(HELD_BY_FINALIZER), "ConfigMap/held: added"),
    Damage("bare pod added", apply(BARE_POD), "Pod/debug: added"),
    Damage("quota added", run("create", "quota", "tight", "--hard=pods=1"), "ResourceQuota/tight: added"),
    Damage(
        "autoscaler added",
        run("autoscale", "deployment/hello-service", "--min=2", "--max=4"),
        "HorizontalPodAutoscaler/hello-service: added",
    ),
    Damage(
        "deployment added",
        run("create", "deployment", "extra", "--image=busybox:1.36", "--", "sleep", "infinity"),
        "Deployment/extra: added",
    ),
    Damage(
        "job added",
        run("create", "job", "once", "--image=busybox:1.36", "--", "sleep", "infinity"),
        "Job/once: added",
    ),
    Damage("secret added", run("create", "secret", "generic", "key", "--from-literal=a=b"), "Secret/key: added"),
    Damage("account added", run("create", "serviceaccount", "robot"), "ServiceAccount/robot: added"),
]


def restore_in_place(cluster: Cluster, baseline: Baseline) -> None:
    """Restore, without going the long way of a new namespace."""
    before = cluster.get(NAMESPACES, None, baseline.namespace)
    restore(cluster, baseline)
    assert find_clean(cluster, baseline) == []
    after = cluster.get(NAMESPACES, None, baseline.namespace)
    assert before
    assert after
    assert after["metadata"]["uid"] == before["metadata"]["uid"], "deployed anew"


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_damage_is_seen_and_put_right(cluster: Cluster, baseline: Baseline, kubectl: Kubectl, damage: Damage) -> None:
    damage.do(kubectl)
    found = find_clean(cluster, baseline)
    assert [line for line in found if line.startswith(damage.shows)], found
    restore_in_place(cluster, baseline)


def test_much_damage_at_once(cluster: Cluster, baseline: Baseline, kubectl: Kubectl) -> None:
    kubectl("delete", "deployment,service", "--all", "--wait=false")
    kubectl("apply", "-f", "-", stdin=json.dumps(DENY_ALL))
    restore(cluster, baseline)
    assert find_clean(cluster, baseline) == []


def test_a_deleted_namespace_is_deployed_anew(cluster: Cluster, baseline: Baseline, kubectl: Kubectl) -> None:
    kubectl("delete", "namespace", baseline.namespace, "--wait=false")
    restore(cluster, baseline)
    assert find_clean(cluster, baseline) == []
    assert cluster.list(SERVICES, baseline.namespace)


def test_immutable_fields_are_put_right_by_creating_again(
    cluster: Cluster, baseline: Baseline, kubectl: Kubectl
) -> None:
    (service,) = [s for s in cluster.list(SERVICES, baseline.namespace) if s["metadata"]["name"] == "time-service"]
    kubectl("delete", "service", "time-service")
    changed = baseline.objects[SERVICES, "time-service"]
    cluster.create({**changed, "spec": {**changed["spec"], "clusterIP": "None", "clusterIPs": ["None"]}})
    restore_in_place(cluster, baseline)
    restored = cluster.get(SERVICES, baseline.namespace, "time-service")
    assert restored
    assert restored["spec"]["clusterIP"] == service["spec"]["clusterIP"]


def test_recycled_workloads_get_new_pods(cluster: Cluster, baseline: Baseline) -> None:
    def uids() -> dict[str, str]:
        pods = cluster.list(PODS, baseline.namespace)
        return {pod["metadata"]["labels"]["app"]: pod["metadata"]["uid"] for pod in pods}

    before = uids()
    restore(cluster, baseline, recycle=("time-service",))
    after = uids()
    assert after["time-service"] != before["time-service"]
    assert after["hello-service"] == before["hello-service"]
    assert find_clean(cluster, baseline) == []


def test_restoring_what_is_clean_changes_nothing(cluster: Cluster, baseline: Baseline) -> None:
    def versions() -> list[str]:
        objects = [o for kind in (DEPLOYMENTS, SERVICES, PODS) for o in cluster.list(kind, baseline.namespace)]
        return [obj["metadata"]["resourceVersion"] for obj in objects]

    before = versions()
    restore(cluster, baseline)
    assert versions() == before


def test_the_past_is_forgotten(cluster: Cluster, baseline: Baseline, kubectl: Kubectl) -> None:
    kubectl("set", "env", "deployment/hello-service", "HINT=look-here")
    kubectl("rollout", "status", "deployment/hello-service")
    service = kubectl.json("get", "service", "time-service")
    kubectl("apply", "-f", "-", stdin=json.dumps(service))
    seen = {event["metadata"]["uid"] for event in cluster.list(EVENTS, baseline.namespace)}
    assert seen
    restore(cluster, baseline)
    replica_sets = cluster.list(REPLICA_SETS, baseline.namespace)
    assert len(replica_sets) == 2
    assert "look-here" not in json.dumps(replica_sets)
    assert cluster.list(CONTROLLER_REVISIONS, baseline.namespace) == []
    annotations = kubectl.json("get", "service", "time-service")["metadata"].get("annotations", {})
    assert "kubectl.kubernetes.io/last-applied-configuration" not in annotations
    assert not seen & {event["metadata"]["uid"] for event in cluster.list(EVENTS, baseline.namespace)}


def test_changes_are_records(cluster: Cluster, baseline: Baseline, kubectl: Kubectl) -> None:
    kubectl("scale", "deployment/hello-service", "--replicas=0")
    kubectl("delete", "service", "hello-service")
    records = changes(cluster, baseline)
    assert {record.workload for record in records} == {"hello-service"}
    found = {(c.kind, c.name, c.what): c.paths for c in records}
    assert found["Deployment", "hello-service", "changed"] == ("spec.replicas",)
    assert found["Service", "hello-service", "removed"] == ()
    (reason,) = found["Deployment", "hello-service", "unhealthy"]
    assert "pods ready" in reason or "has not seen" in reason
    restore(cluster, baseline)
