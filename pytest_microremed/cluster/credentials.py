"""Short-lived credentials for remediators and their probes: rights in one namespace, none over faults."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import yaml

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import NAMESPACES, ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS, Kind, Obj
from pytest_microremed.cluster.labels import MANAGED_BY
from pytest_microremed.errors import ClusterError

AGENTS_NAMESPACE = "microremed-agents"
"""Where the ServiceAccounts are: outside the namespaces they have rights in, so that no pod can use them."""
AGENT, PROBE = "remediator", "probe"
TOKEN_S = 7200
"""Lifetime of a token: longer than any case, and soon over. Kubernetes: at least 600 s."""

_RESOURCES = {
    "": (
        "pods",
        "services",
        "endpoints",
        "configmaps",
        "secrets",
        "events",
        "persistentvolumeclaims",
        "serviceaccounts",
        "replicationcontrollers",
        "resourcequotas",
        "limitranges",
    ),
    "apps": ("deployments", "statefulsets", "daemonsets", "replicasets", "controllerrevisions"),
    "batch": ("jobs", "cronjobs"),
    "autoscaling": ("horizontalpodautoscalers",),
    "networking.k8s.io": ("networkpolicies", "ingresses"),
    "policy": ("poddisruptionbudgets",),
    "discovery.k8s.io": ("endpointslices",),
    "events.k8s.io": ("events",),
}
_READ = ["get", "list", "watch"]
_SUBRESOURCES = {
    "": ("pods/exec", "pods/attach", "pods/portforward", "pods/eviction", "pods/ephemeralcontainers"),
    "apps": ("deployments/scale", "statefulsets/scale", "replicasets/scale"),
}


def issue_agent(cluster: Cluster, namespace: str) -> str:
    """A kubeconfig (YAML text) that may do in `namespace` what an SRE does there, until its token runs out.

    It may change workloads, pods, services, configuration, policies, jobs and autoscalers, and run commands
    in pods; it can neither see nor touch chaos-mesh.org, rights, or anything outside. Idempotent; `revoke`
    takes the rights back.
    """
    write = [*_READ, "create", "update", "patch", "delete", "deletecollection"]
    rules = [_rule(group, resources, write) for group, resources in _RESOURCES.items()]
    rules += [
        _rule(group, resources, ["get", "create", "update", "patch"]) for group, resources in _SUBRESOURCES.items()
    ]
    return _issue(cluster, namespace, AGENT, rules + _always())


def issue_probe(cluster: Cluster, namespace: str) -> str:
    """A kubeconfig (YAML text) that may read in `namespace` what an agent may, and run commands in pods."""
    rules = [_rule(group, resources, _READ) for group, resources in _RESOURCES.items()]
    return _issue(cluster, namespace, PROBE, [*rules, _rule("", ("pods/exec",), ["get", "create"]), *_always()])


def revoke(cluster: Cluster, namespace: str) -> None:
    """Take back every right in `namespace`: what was issued for it is worth nothing from now on."""
    for name in (AGENT, PROBE):
        cluster.delete(ROLE_BINDINGS, namespace, name)
        cluster.delete(ROLES, namespace, name)


def _always() -> list[Obj]:
    """What everyone may read besides: logs, usage, and the namespace itself (RBAC: it is inside itself)."""
    return [
        _rule("", ("pods/log", "namespaces"), ["get"]),
        _rule("metrics.k8s.io", ("pods",), ["get", "list"]),
    ]


def _rule(group: str, resources: tuple[str, ...], verbs: list[str]) -> Obj:
    return {"apiGroups": [group], "resources": list(resources), "verbs": verbs}


def _issue(cluster: Cluster, namespace: str, name: str, rules: list[Obj]) -> str:
    cluster.apply(_object(NAMESPACES, AGENTS_NAMESPACE, None))
    cluster.apply(_object(SERVICE_ACCOUNTS, name, AGENTS_NAMESPACE, automountServiceAccountToken=False))
    cluster.apply(_object(ROLES, name, namespace, rules=rules))
    cluster.apply(
        _object(
            ROLE_BINDINGS,
            name,
            namespace,
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
            subjects=[{"kind": "ServiceAccount", "name": name, "namespace": AGENTS_NAMESPACE}],
        )
    )
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": TOKEN_S},
    }
    answer = cluster.create_subresource(SERVICE_ACCOUNTS, AGENTS_NAMESPACE, name, "token", request)
    return _kubeconfig(cluster, namespace, name, answer["status"]["token"])


def _object(kind: Kind, name: str, namespace: str | None, **fields: Any) -> Obj:
    meta: Obj = {"name": name, "labels": dict(MANAGED_BY)}
    if namespace:
        meta["namespace"] = namespace
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, **fields}


def _kubeconfig(cluster: Cluster, namespace: str, user: str, token: str) -> str:
    """Server, the authority to trust it by, and the token: nothing else of the harness's own kubeconfig."""
    configuration = cluster.connection.configuration
    server: Obj = {"server": cluster.connection.server}
    if configuration.ssl_ca_cert:
        try:
            authority = Path(configuration.ssl_ca_cert).read_bytes()
        except OSError as error:
            raise ClusterError(f"certificate authority of {cluster.name}: {error}") from None
        server["certificate-authority-data"] = base64.b64encode(authority).decode()
    elif not configuration.verify_ssl:
        server["insecure-skip-tls-verify"] = True
    if configuration.tls_server_name:
        server["tls-server-name"] = configuration.tls_server_name
    name = "cluster"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": server}],
        "users": [{"name": user, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": user, "namespace": namespace}}],
        "current-context": name,
    }
    return str(yaml.safe_dump(document, sort_keys=False))
