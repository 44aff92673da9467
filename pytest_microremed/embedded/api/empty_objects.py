"""What a new object of a kind is before anything is in it, as Go's zero value of its type is written.

Structs that are no pointers are there from the start, so that a create adds their fields but not them:
that decides where `managedFields` has a `.` for a whole struct. Source: the Go types in `k8s.io/api`.
"""

from __future__ import annotations

import copy
from typing import Any

from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object

_TEMPLATE: Object = {"metadata": {}, "spec": {"containers": None}}
_WORKLOAD: Object = {"spec": {"selector": None, "template": _TEMPLATE}, "status": {}}
_CONTENT: dict[str, Object] = {
    "Deployment": {"spec": {"selector": None, "template": _TEMPLATE, "strategy": {}}, "status": {}},
    "ReplicaSet": _WORKLOAD,
    "StatefulSet": {"spec": {"selector": None, "template": _TEMPLATE, "updateStrategy": {}}, "status": {}},
    "DaemonSet": {"spec": {"selector": None, "template": _TEMPLATE, "updateStrategy": {}}, "status": {}},
    "Job": {"spec": {"template": _TEMPLATE}, "status": {}},
    "CronJob": {"spec": {"jobTemplate": {"metadata": {}, "spec": {"template": _TEMPLATE}}}, "status": {}},
    "Pod": {"spec": {"containers": None}, "status": {}},
    "Service": {"spec": {}, "status": {"loadBalancer": {}}},
    "PersistentVolumeClaim": {"spec": {"resources": {}}, "status": {}},
    "PersistentVolume": {"spec": {}, "status": {}},
    "HorizontalPodAutoscaler": {"spec": {"scaleTargetRef": {}}, "status": {}},
    "NetworkPolicy": {"spec": {"podSelector": {}}},
    "Ingress": {"spec": {}, "status": {"loadBalancer": {}}},
    "PodDisruptionBudget": {"spec": {}, "status": {}},
    "Namespace": {"spec": {}, "status": {}},
    "Node": {"spec": {}, "status": {}},
    "ResourceQuota": {"spec": {}, "status": {}},
    "LimitRange": {"spec": {"limits": None}},
    "RoleBinding": {"roleRef": {}},
    "ClusterRoleBinding": {"roleRef": {}},
    "Role": {"rules": None},
    "ClusterRole": {"rules": None},
    "Event": {"involvedObject": {}, "source": {}},
    "EndpointSlice": {"endpoints": None, "ports": None},
    "CustomResourceDefinition": {"spec": {"names": {}, "versions": None}, "status": {}},
}


def empty_object(resource: Resource) -> Object:
    """The object that a create starts from. Custom resources have no type, and so nothing in them."""
    common: dict[str, Any] = {"apiVersion": resource.api_version, "kind": resource.kind}
    if resource.custom:
        return common
    return {**common, "metadata": {}, **copy.deepcopy(_CONTENT.get(resource.kind, {}))}


def with_structs(resource: Resource, obj: Object) -> Object:
    """The object with the structs that are always there, as Go has it in memory."""
    return obj if resource.custom else _filled(obj, _CONTENT.get(resource.kind, {}))


def _filled(value: Object, structs: Object) -> Object:
    filled = dict(value)
    for name, inner in structs.items():
        if isinstance(inner, dict) and isinstance(filled.get(name, {}), dict):
            filled[name] = _filled(filled.get(name, {}), inner)
    return filled
