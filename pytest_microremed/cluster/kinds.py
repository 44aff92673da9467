"""The kinds of objects that the harness works with, and where a Kubernetes API server keeps them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias
from urllib.parse import quote

from pytest_microremed.errors import ClusterError

Obj: TypeAlias = dict[str, Any]
"""A Kubernetes object as plain JSON."""


@dataclass(frozen=True)
class Kind:
    """One kind of one API version (Kubernetes API concepts: group, version, resource, kind)."""

    api_version: str
    kind: str
    plural: str
    namespaced: bool = True

    def __str__(self) -> str:
        return self.kind

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """The URL path of an object, of one of its subresources, or (without name) of the collection."""
        parts = ["api" if "/" not in self.api_version else "apis", self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", quote(namespace, safe="")]
        parts.append(self.plural)
        parts += [quote(part, safe="") for part in (name, subresource) if part]
        return "/" + "/".join(parts)


NAMESPACES = Kind("v1", "Namespace", "namespaces", namespaced=False)
NODES = Kind("v1", "Node", "nodes", namespaced=False)
PODS = Kind("v1", "Pod", "pods")
SERVICES = Kind("v1", "Service", "services")
ENDPOINTS = Kind("v1", "Endpoints", "endpoints")
CONFIG_MAPS = Kind("v1", "ConfigMap", "configmaps")
SECRETS = Kind("v1", "Secret", "secrets")
EVENTS = Kind("v1", "Event", "events")
SERVICE_ACCOUNTS = Kind("v1", "ServiceAccount", "serviceaccounts")
PERSISTENT_VOLUME_CLAIMS = Kind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")
RESOURCE_QUOTAS = Kind("v1", "ResourceQuota", "resourcequotas")
LIMIT_RANGES = Kind("v1", "LimitRange", "limitranges")
DEPLOYMENTS = Kind("apps/v1", "Deployment", "deployments")
REPLICA_SETS = Kind("apps/v1", "ReplicaSet", "replicasets")
STATEFUL_SETS = Kind("apps/v1", "StatefulSet", "statefulsets")
DAEMON_SETS = Kind("apps/v1", "DaemonSet", "daemonsets")
CONTROLLER_REVISIONS = Kind("apps/v1", "ControllerRevision", "controllerrevisions")
JOBS = Kind("batch/v1", "Job", "jobs")
CRON_JOBS = Kind("batch/v1", "CronJob", "cronjobs")
HORIZONTAL_POD_AUTOSCALERS = Kind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers")
NETWORK_POLICIES = Kind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies")
INGRESSES = Kind("networking.k8s.io/v1", "Ingress", "ingresses")
POD_DISRUPTION_BUDGETS = Kind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets")
ENDPOINT_SLICES = Kind("discovery.k8s.io/v1", "EndpointSlice", "endpointslices")
ROLES = Kind("rbac.authorization.k8s.io/v1", "Role", "roles")
ROLE_BINDINGS = Kind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings")
POD_METRICS = Kind("metrics.k8s.io/v1beta1", "PodMetrics", "pods")
STRESS_CHAOS = Kind("chaos-mesh.org/v1alpha1", "StressChaos", "stresschaos")
NETWORK_CHAOS = Kind("chaos-mesh.org/v1alpha1", "NetworkChaos", "networkchaos")
IO_CHAOS = Kind("chaos-mesh.org/v1alpha1", "IOChaos", "iochaos")
POD_CHAOS = Kind("chaos-mesh.org/v1alpha1", "PodChaos", "podchaos")

CHAOS_KINDS = (STRESS_CHAOS, NETWORK_CHAOS, IO_CHAOS, POD_CHAOS)
"""What this package creates of Chaos Mesh."""

_KNOWN = {(k.api_version, k.kind): k for k in list(globals().values()) if isinstance(k, Kind)}


def kind_of(obj: Obj) -> Kind:
    """The kind that an object says it is; ClusterError for one that this package does not work with."""
    try:
        return _KNOWN[obj["apiVersion"], obj["kind"]]
    except KeyError:
        raise ClusterError(f"no kind {obj.get('kind')!r} of {obj.get('apiVersion')!r} is known here") from None
