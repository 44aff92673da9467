"""Cluster IPs and node ports: allocated when a Service is written (Kubernetes: ClusterIP allocation)."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.errors import Cause, invalid
from pytest_microremed.embedded.api.resources import SERVICES
from pytest_microremed.embedded.api.store import Object, Store

SERVICE_NETWORK = ipaddress.ip_network("10.96.0.0/16")
_FIRST_ADDRESS = 256
"""Those below are for the cluster's own services, as in a real server's static band."""
_NODE_PORTS = range(30000, 32768)
_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")
_TYPE_FIELDS = {
    "externalTrafficPolicy": _WITH_NODE_PORTS,
    "healthCheckNodePort": _WITH_NODE_PORTS,
    "allocateLoadBalancerNodePorts": ("LoadBalancer",),
    "loadBalancerClass": ("LoadBalancer",),
}
"""Fields that only some types of service have."""


def allocate(store: Store, service: Object, old: Object | None) -> Object:
    """The Service with its addresses: kept from `old`, else the lowest free ones. Raises ApiError 422."""
    old_spec = (old or {}).get("spec") or {}
    spec = _without_former_type(service.get("spec") or {}, old_spec)
    if spec.get("type") == "ExternalName":
        released = ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")
        return {**service, "spec": {key: value for key, value in spec.items() if key not in released}}
    others = [
        each["spec"]
        for each in store.list(SERVICES)
        if old is None or each["metadata"]["uid"] != old["metadata"]["uid"]
    ]
    address = spec.get("clusterIP") or old_spec.get("clusterIP")
    taken = {each.get("clusterIP") for each in others}
    if not address:
        address = next(
            ip for number in range(_FIRST_ADDRESS, SERVICE_NETWORK.num_addresses - 1)
            if (ip := str(SERVICE_NETWORK[number])) not in taken
        )  # fmt: skip
    elif address != "None" and address in taken:
        why = f"failed to allocate IP {address}: provided IP is already allocated"
        raise _refused(service, "spec.clusterIPs", f'Invalid value: ["{address}"]: {why}')
    return {
        **service,
        "spec": {
            **spec,
            "clusterIP": address,
            "clusterIPs": [address],
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            **({"ports": _ports(service, spec, old_spec, others)} if spec.get("ports") else {}),
        },
    }


def _without_former_type(spec: dict[str, Any], old_spec: dict[str, Any]) -> dict[str, Any]:
    """Without the fields that only the former type had and the client left as they were."""
    kind, former = spec.get("type"), old_spec.get("type")
    gone = {field for field, types in _TYPE_FIELDS.items() if former in types and kind not in types}
    return {key: value for key, value in spec.items() if key not in gone or value != old_spec.get(key)}


def _ports(
    service: Object, spec: dict[str, Any], old_spec: dict[str, Any], others: Iterable[dict[str, Any]]
) -> list[dict[str, Any]]:
    ports: list[dict[str, Any]] = spec["ports"]
    if spec.get("type") not in _WITH_NODE_PORTS:
        return [{key: value for key, value in port.items() if key != "nodePort"} for port in ports]
    taken = {port["nodePort"] for other in others for port in other.get("ports") or () if port.get("nodePort")}
    kept = {_key(port): port["nodePort"] for port in old_spec.get("ports") or () if port.get("nodePort")}
    result = []
    for index, port in enumerate(ports):
        number = port.get("nodePort") or kept.get(_key(port))
        if number in taken:
            raise _refused(service, f"spec.ports[{index}].nodePort",
                           f"Invalid value: {number}: provided port is already allocated")  # fmt: skip
        if not number:
            number = next(candidate for candidate in _NODE_PORTS if candidate not in taken)
        taken.add(number)
        result.append({**port, "nodePort": number})
    return result


def _key(port: dict[str, Any]) -> tuple[Any, Any]:
    return port.get("port"), port.get("protocol", "TCP")


def _refused(service: Object, field: str, message: str) -> Exception:
    return invalid("", "Service", service["metadata"]["name"], [Cause(field, message)])
