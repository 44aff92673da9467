"""Defaults of services, storage, policy and access: the kinds that run no pods."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.store import Object

_RBAC_GROUP = "rbac.authorization.k8s.io"
_AFFINITY_S = 10800
_EXPOSED = ("NodePort", "LoadBalancer")


def default_service(obj: Object) -> Object:
    """Addresses and node ports are no defaults: they are allocated when the service is stored."""
    spec = {"sessionAffinity": "None", "type": "ClusterIP", **(obj.get("spec") or {})}
    if spec["sessionAffinity"] == "ClientIP":
        config = spec.get("sessionAffinityConfig") or {}
        client = {"timeoutSeconds": _AFFINITY_S, **(config.get("clientIP") or {})}
        spec["sessionAffinityConfig"] = {**config, "clientIP": client}
    if "ports" in spec:
        spec["ports"] = [_service_port(port) for port in spec["ports"]]
    if spec["type"] in _EXPOSED:
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if spec["type"] != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if spec["type"] == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
    return {**obj, "spec": spec, "status": {"loadBalancer": {}, **(obj.get("status") or {})}}


def default_endpoints(obj: Object) -> Object:
    subsets = [
        {
            **subset,
            **({"ports": [_protocol(port) for port in subset["ports"]]} if subset.get("ports") else {}),
        }
        for subset in obj.get("subsets") or ()
    ]
    return {**obj, "subsets": subsets} if subsets else obj


def default_endpoint_slice(obj: Object) -> Object:
    if not obj.get("ports"):
        return obj
    return {**obj, "ports": [{"name": "", "protocol": "TCP", **port} for port in obj["ports"]]}


def default_namespace(obj: Object) -> Object:
    meta = obj.get("metadata") or {}
    labels = {**(meta.get("labels") or {}), "kubernetes.io/metadata.name": meta.get("name")}
    return {**obj, "metadata": {**meta, "labels": labels}} if meta.get("name") else obj


def default_node(obj: Object) -> Object:
    status = obj.get("status") or {}
    if "capacity" in status and "allocatable" not in status:
        return {**obj, "status": {**status, "allocatable": status["capacity"]}}
    return obj


def default_secret(obj: Object) -> Object:
    return {"type": "Opaque", **obj}


def default_claim(obj: Object) -> Object:
    spec = {"volumeMode": "Filesystem", **(obj.get("spec") or {})}
    return {**obj, "spec": spec, "status": {"phase": "Pending", **(obj.get("status") or {})}}


def default_volume(obj: Object) -> Object:
    reclaim = {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"}
    spec = {**reclaim, **(obj.get("spec") or {})}
    if "hostPath" in spec:
        spec["hostPath"] = {"type": "", **spec["hostPath"]}
    return {**obj, "spec": spec, "status": {"phase": "Pending", **(obj.get("status") or {})}}


def default_limit_range(obj: Object) -> Object:
    spec = obj.get("spec") or {}
    return {**obj, "spec": {**spec, "limits": [_limit(limit) for limit in spec.get("limits") or ()]}}


def default_network_policy(obj: Object) -> Object:
    spec: dict[str, Any] = {"podSelector": {}, **(obj.get("spec") or {})}
    for direction in ("ingress", "egress"):
        if direction in spec:
            spec[direction] = [_policy_rule(rule) for rule in spec[direction] or ()]
    spec.setdefault("policyTypes", ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"])
    return {**obj, "spec": spec}


def default_binding(obj: Object) -> Object:
    subjects = [_subject(subject) for subject in obj.get("subjects") or ()]
    bound = {**obj, "roleRef": {"apiGroup": _RBAC_GROUP, **(obj.get("roleRef") or {})}}
    return {**bound, "subjects": subjects} if subjects else bound


def default_storage_class(obj: Object) -> Object:
    return {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate", **obj}


def default_priority_class(obj: Object) -> Object:
    return {"preemptionPolicy": "PreemptLowerPriority", **obj}


def _service_port(port: Object) -> Object:
    port = _protocol(port)
    if port.get("targetPort") in (None, "", 0):
        port["targetPort"] = port.get("port")
    return port


def _protocol(port: Object) -> Object:
    return {"protocol": "TCP", **port}


def _limit(limit: Object) -> Object:
    """A container's limits default to the maximum, its requests to those, or else to the minimum."""
    if limit.get("type") != "Container":
        return limit
    highest, lowest = limit.get("max") or {}, limit.get("min") or {}
    default = {**highest, **(limit.get("default") or {})}
    request = {**lowest, **default, **(limit.get("defaultRequest") or {})}
    filled = {"default": default, "defaultRequest": request}
    return {**limit, **{key: value for key, value in filled.items() if value}}


def _policy_rule(rule: Object) -> Object:
    return {**rule, "ports": [_protocol(port) for port in rule["ports"]]} if rule.get("ports") else rule


def _subject(subject: Object) -> Object:
    group = "" if subject.get("kind") == "ServiceAccount" else _RBAC_GROUP
    return {**subject, **({"apiGroup": group} if group and not subject.get("apiGroup") else {})}
