"""Everything that the controllers write is valid by an independent copy of the Kubernetes schema."""

from __future__ import annotations

import uuid
from collections import Counter

import pytest

from pytest_microremed.embedded.api.resources import (
    DAEMON_SETS,
    DEPLOYMENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    JOBS,
    POD_DISRUPTION_BUDGETS,
    RESOURCE_QUOTAS,
    SERVICES,
    STATEFUL_SETS,
)
from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.api.strategy import prepare_create
from tests.embedded.control_plane import ControlPlane, image_of, template, workload

kubernetes_validate = pytest.importorskip("kubernetes_validate")

WRITTEN = {
    "ControllerRevision",
    "DaemonSet",
    "Deployment",
    "EndpointSlice",
    "Endpoints",
    "Event",
    "HorizontalPodAutoscaler",
    "Job",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodDisruptionBudget",
    "ReplicaSet",
    "ResourceQuota",
    "StatefulSet",
}


def everything(plane: ControlPlane) -> None:
    """Healthy and broken workloads of each kind."""
    plane.kubelet.auto_ready = lambda pod: image_of(pod) != "broken"
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    requests = template("web", requests={"cpu": "100m"})
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=3, template=requests, progressDeadlineSeconds=30))
    plane.create(STATEFUL_SETS, workload("StatefulSet", "db", serviceName="db", volumeClaimTemplates=[claim]))
    plane.create(DAEMON_SETS, workload("DaemonSet", "agent"))
    for name in ("web", "db"):
        ports = [{"port": 80, "targetPort": "http"}]
        meta = {"name": name, "namespace": "shop"}
        spec = {"selector": {"app": name}, "ports": ports, "clusterIP": "None" if name == "db" else "10.96.0.7"}
        plane.create(SERVICES, {"apiVersion": "v1", "kind": "Service", "metadata": meta, "spec": spec})
    for name, image in (("good", "web:1"), ("bad", "broken")):
        pod = template(name, image=image, restartPolicy="Never")
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": "shop", "uid": str(uuid.uuid4())},
            "spec": {"completions": 1, "activeDeadlineSeconds": 30, "template": pod},
        }
        plane.create(JOBS, prepare_create(plane.store, JOBS, job))
    plane.create(
        POD_DISRUPTION_BUDGETS,
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
        },
    )
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    plane.create(
        HORIZONTAL_POD_AUTOSCALERS,
        {
            "apiVersion": "autoscaling/v2",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": {"scaleTargetRef": target, "maxReplicas": 4},
        },
    )
    plane.create(
        RESOURCE_QUOTAS,
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "small", "namespace": "shop"},
            "spec": {"hard": {"pods": "10", "requests.cpu": "0"}},
        },
    )
    plane.kubelet.write(plane.pods(**{"job-name": "good"})[0], ready=False, phase="Succeeded")
    plane.set_image("web", "broken")
    plane.set_image("db", "broken", STATEFUL_SETS)
    plane.advance(60)


def test_what_is_written_is_valid() -> None:
    plane = ControlPlane(usage=lambda pod: {"main": Usage(0.05, 2**20)})
    everything(plane)
    kinds: Counter[str] = Counter()
    for resource in plane.store.resources():
        for obj in plane.store.list(resource):
            if resource.kind in WRITTEN:
                kubernetes_validate.validate(obj, "1.37", strict=True)
                kinds[resource.kind] += 1
    assert set(kinds) == WRITTEN
    plane.close()
