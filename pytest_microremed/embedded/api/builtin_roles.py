"""The ClusterRoles and bindings that every cluster has (Kubernetes: default roles), in short form."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.resources import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.api.tokens import AUTHENTICATED, MASTERS

_RBAC = "rbac.authorization.k8s.io"
_READ = ("get", "list", "watch")
_WRITE = ("create", "delete", "deletecollection", "patch", "update")
_DISCOVERY = (
    "/api",
    "/api/*",
    "/apis",
    "/apis/*",
    "/healthz",
    "/livez",
    "/openapi",
    "/openapi/*",
    "/readyz",
    "/version",
)
_PUBLIC = ("/healthz", "/livez", "/readyz", "/version")

_VIEWED: dict[str, tuple[str, ...]] = {
    "": (
        "configmaps", "endpoints", "events", "limitranges", "namespaces", "persistentvolumeclaims", "pods",
        "pods/log", "pods/status", "resourcequotas", "serviceaccounts", "services",
    ),
    "apps": (
        "controllerrevisions", "daemonsets", "deployments", "deployments/scale", "replicasets",
        "replicasets/scale", "statefulsets", "statefulsets/scale",
    ),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "discovery.k8s.io": ("endpointslices",),
    "metrics.k8s.io": ("nodes", "pods"),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
}  # fmt: skip
_EDITED: dict[str, tuple[str, ...]] = {
    "": (
        "configmaps", "events", "persistentvolumeclaims", "pods", "pods/eviction", "pods/exec", "secrets",
        "serviceaccounts", "serviceaccounts/token", "services",
    ),
    "apps": (
        "daemonsets", "deployments", "deployments/scale", "replicasets", "replicasets/scale", "statefulsets",
        "statefulsets/scale",
    ),
    "autoscaling": ("horizontalpodautoscalers",),
    "batch": ("cronjobs", "jobs"),
    "networking.k8s.io": ("ingresses", "networkpolicies"),
    "policy": ("poddisruptionbudgets",),
}  # fmt: skip


def create_builtin_roles(store: Store) -> None:
    """Store the default roles and who has them."""
    view = [_rule(_READ, group, plurals) for group, plurals in _VIEWED.items()]
    secrets = [_rule(_READ, "", ("pods/exec", "secrets"))]
    edit = [*view, *secrets, *(_rule(_WRITE, group, plurals) for group, plurals in _EDITED.items())]
    admin = [*edit, _rule((*_READ, *_WRITE), _RBAC, ("rolebindings", "roles"))]
    admin.append(_rule(("create",), "authorization.k8s.io", ("localsubjectaccessreviews",)))
    everything = [_rule(("*",), "*", ("*",)), _paths(("*",), ("*",))]
    reviews = [_rule(("create",), "authorization.k8s.io", ("selfsubjectaccessreviews", "selfsubjectrulesreviews"))]
    reviews.append(_rule(("create",), "authentication.k8s.io", ("selfsubjectreviews",)))
    roles: dict[str, list[Object]] = {
        "cluster-admin": everything,
        "admin": admin,
        "edit": edit,
        "view": view,
        "system:basic-user": reviews,
        "system:discovery": [_paths(("get",), _DISCOVERY)],
        "system:public-info-viewer": [_paths(("get",), _PUBLIC)],
    }
    for name, rules in roles.items():
        store.create(CLUSTER_ROLES, {**_object("ClusterRole", name), "rules": rules})
    groups = {"cluster-admin": MASTERS} | dict.fromkeys(list(roles)[4:], AUTHENTICATED)
    for name, group in groups.items():
        store.create(
            CLUSTER_ROLE_BINDINGS,
            {
                **_object("ClusterRoleBinding", name),
                "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": name},
                "subjects": [{"apiGroup": _RBAC, "kind": "Group", "name": group}],
            },
        )


def _object(kind: str, name: str) -> Object:
    labels = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": {"name": name, "labels": labels}}


def _rule(verbs: Iterable[str], group: str, plurals: Iterable[str]) -> dict[str, Any]:
    return {"apiGroups": [group], "resources": list(plurals), "verbs": list(verbs)}


def _paths(verbs: Iterable[str], urls: Iterable[str]) -> dict[str, Any]:
    return {"nonResourceURLs": list(urls), "verbs": list(verbs)}
