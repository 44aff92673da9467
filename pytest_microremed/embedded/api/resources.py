"""The resources that the embedded API server serves: names, scope and verbs as on a real server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


@dataclass(frozen=True)
class Resource:
    """One served resource (Kubernetes API concepts: group, version, resource, kind).

    Equal by what addresses its objects, so that a custom resource stays the same when its definition changes.
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    short_names: tuple[str, ...] = field(default=(), compare=False)
    categories: tuple[str, ...] = field(default=(), compare=False)
    subresources: tuple[str, ...] = field(default=("status",), compare=False)
    verbs: tuple[str, ...] = field(default=ALL_VERBS, compare=False)
    custom: bool = False
    """Defined by a CustomResourceDefinition: no strategic merge patch (415), schema from the definition."""
    schema: Mapping[str, Any] | None = field(default=None, compare=False, repr=False)
    """Of a custom resource: the `openAPIV3Schema` of its version."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def singular(self) -> str:
        return self.kind.lower()

    @property
    def qualified(self) -> str:
        """`deployments.apps`, `pods`: how the API server's messages name it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


def _workload(plural: str, kind: str, *short: str, scale: bool = True) -> Resource:
    return Resource("apps", "v1", plural, kind, True, short, ("all",), ("status", "scale") if scale else ("status",))


NAMESPACES = Resource(
    "",
    "v1",
    "namespaces",
    "Namespace",
    False,
    ("ns",),
    (),
    ("status", "finalize"),
    tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
)
NODES = Resource("", "v1", "nodes", "Node", False, ("no",))
PODS = Resource(
    "", "v1", "pods", "Pod", True, ("po",), ("all",), ("status", "log", "exec", "eviction", "ephemeralcontainers")
)
SERVICES = Resource("", "v1", "services", "Service", True, ("svc",), ("all",))
ENDPOINTS = Resource("", "v1", "endpoints", "Endpoints", True, ("ep",), (), ())
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap", True, ("cm",), (), ())
SECRETS = Resource("", "v1", "secrets", "Secret", True, (), (), ())
EVENTS = Resource("", "v1", "events", "Event", True, ("ev",), (), ())
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount", True, ("sa",), (), ("token",))
PERSISTENT_VOLUMES = Resource("", "v1", "persistentvolumes", "PersistentVolume", False, ("pv",))
PERSISTENT_VOLUME_CLAIMS = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", True, ("pvc",))
RESOURCE_QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota", True, ("quota",))
LIMIT_RANGES = Resource("", "v1", "limitranges", "LimitRange", True, ("limits",), (), ())
DEPLOYMENTS = _workload("deployments", "Deployment", "deploy")
REPLICA_SETS = _workload("replicasets", "ReplicaSet", "rs")
STATEFUL_SETS = _workload("statefulsets", "StatefulSet", "sts")
DAEMON_SETS = _workload("daemonsets", "DaemonSet", "ds", scale=False)
CONTROLLER_REVISIONS = Resource("apps", "v1", "controllerrevisions", "ControllerRevision", True, (), (), ())
JOBS = Resource("batch", "v1", "jobs", "Job", True, (), ("all",))
CRON_JOBS = Resource("batch", "v1", "cronjobs", "CronJob", True, ("cj",), ("all",))
HORIZONTAL_POD_AUTOSCALERS = Resource(
    "autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler", True, ("hpa",), ("all",)
)
HORIZONTAL_POD_AUTOSCALERS_V1 = Resource(
    "autoscaling", "v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", True, ("hpa",), ("all",)
)
NETWORK_POLICIES = Resource("networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", True, ("netpol",), (), ())
INGRESSES = Resource("networking.k8s.io", "v1", "ingresses", "Ingress", True, ("ing",))
POD_DISRUPTION_BUDGETS = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", True, ("pdb",))
ENDPOINT_SLICES = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", True, (), (), ())
ROLES = Resource("rbac.authorization.k8s.io", "v1", "roles", "Role", True, (), (), ())
ROLE_BINDINGS = Resource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", True, (), (), ())
CLUSTER_ROLES = Resource("rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", False, (), (), ())
CLUSTER_ROLE_BINDINGS = Resource(
    "rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", False, (), (), ()
)
STORAGE_CLASSES = Resource("storage.k8s.io", "v1", "storageclasses", "StorageClass", False, ("sc",), (), ())
PRIORITY_CLASSES = Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", False, ("pc",), (), ())
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease", True, (), (), ())
CUSTOM_RESOURCE_DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    False,
    ("crd", "crds"),
)

BUILT_IN: tuple[Resource, ...] = (
    NAMESPACES, NODES, PODS, SERVICES, ENDPOINTS, CONFIG_MAPS, SECRETS, EVENTS, SERVICE_ACCOUNTS,
    PERSISTENT_VOLUMES, PERSISTENT_VOLUME_CLAIMS, RESOURCE_QUOTAS, LIMIT_RANGES,
    DEPLOYMENTS, REPLICA_SETS, STATEFUL_SETS, DAEMON_SETS, CONTROLLER_REVISIONS, JOBS, CRON_JOBS,
    HORIZONTAL_POD_AUTOSCALERS, NETWORK_POLICIES, INGRESSES, POD_DISRUPTION_BUDGETS, ENDPOINT_SLICES,
    ROLES, ROLE_BINDINGS, CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS, STORAGE_CLASSES, PRIORITY_CLASSES, LEASES,
    CUSTOM_RESOURCE_DEFINITIONS,
)  # fmt: skip
OTHER_VERSIONS = (HORIZONTAL_POD_AUTOSCALERS_V1,)
"""Served beside the version of BUILT_IN, in which the objects are stored."""
