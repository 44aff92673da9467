"""Objects that tests create, as small as the API takes them."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def config_map(name: str, labels: dict[str, str] | None = None, **data: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels or {}},
        "data": data,
    }


def pod(name: str, *containers: str, node: str = "", labels: dict[str, str] | None = None) -> Object:
    """A pod; with `node` it counts as running there."""
    spec: Object = {"containers": [{"name": each, "image": "busybox"} for each in containers or ("main",)]}
    if node:
        spec["nodeName"] = node
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels or {}},
        "spec": spec,
    }


def deployment(name: str, replicas: int = 1) -> Object:
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "main", "image": "nginx:1.25"}]},
            },
        },
    }


def service(name: str, *ports: int, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {
            "selector": {"app": name},
            "ports": [{"port": each, "name": f"p{each}"} for each in ports],
            **spec,
        },
    }


def role(name: str, *rules: Object) -> Object:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": name},
        "rules": list(rules),
    }


def role_binding(role_name: str, *subjects: Object, kind: str = "Role") -> Object:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": role_name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role_name},
        "subjects": list(subjects),
    }


def owned_by(obj: Object, owner: Object, *, blocking: bool = True) -> Object:
    """The object with an owner reference to a stored owner."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": blocking,
    }
    return {**obj, "metadata": {**obj["metadata"], "ownerReferences": [reference]}}
