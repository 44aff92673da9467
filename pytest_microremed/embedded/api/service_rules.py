"""Rules of what routes traffic: services, ingresses, network policies."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence

from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    duplicate,
    forbidden_value,
    invalid_value,
    not_supported,
    one_of,
    required,
)
from pytest_microremed.embedded.api.metadata_rules import label_causes, selector_causes
from pytest_microremed.embedded.api.name_rules import dns_label, dns_subdomain, port_number
from pytest_microremed.embedded.api.probe_rules import port_causes
from pytest_microremed.embedded.api.store import Object

_TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_PROTOCOLS = ("SCTP", "TCP", "UDP")
_AFFINITIES = ("ClientIP", "None")
_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")


def service_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    ports, kind = spec.get("ports") or (), spec.get("type")
    headless = spec.get("clusterIP") == "None"
    if not ports and not headless and kind != "ExternalName":
        yield required("spec.ports")
    if kind in ("NodePort", "LoadBalancer") and headless:
        yield invalid_value("spec.clusterIPs[0]", "None", f"may not be set to 'None' for {kind} services")
    if kind == "ExternalName":
        yield from _external_name_causes(spec)
    yield from _ports_causes(ports)
    yield from label_causes(spec.get("selector"), "spec.selector")
    yield from one_of("spec.sessionAffinity", spec.get("sessionAffinity"), _AFFINITIES)
    yield from one_of("spec.type", kind, _TYPES)
    yield from _same_port_causes(ports)
    if spec.get("externalTrafficPolicy") and kind not in ("NodePort", "LoadBalancer"):
        detail = "may only be set for externally-accessible services"
        yield invalid_value("spec.externalTrafficPolicy", spec["externalTrafficPolicy"], detail)


def service_update_causes(new: Object, old: Object) -> Causes:
    """A cluster IP stays, unless the service becomes, or was, a mere external name."""
    new_spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    if "ExternalName" in (new_spec.get("type"), old_spec.get("type")):
        return
    before = old_spec.get("clusterIP")
    if before and new_spec.get("clusterIP") != before:
        shown = new_spec.get("clusterIPs") or [new_spec.get("clusterIP") or ""]
        yield invalid_value("spec.clusterIPs[0]", shown, "may not change once set")


def ingress_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    rules = spec.get("rules") or ()
    if not rules and "defaultBackend" not in spec:
        yield invalid_value("spec", rules or [], "either `defaultBackend` or `rules` must be specified")
    if "defaultBackend" in spec:
        yield from _backend_causes(spec["defaultBackend"], "spec.defaultBackend")
    for index, rule in enumerate(rules):
        host, here = rule.get("host", ""), f"spec.rules[{index}]"
        if host:
            yield from all_invalid(f"{here}.host", host, dns_subdomain(host.removeprefix("*.")))
        for position, path in enumerate((rule.get("http") or {}).get("paths") or ()):
            yield from _path_causes(path, f"{here}.http.paths[{position}]")


def network_policy_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    yield from selector_causes(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            here = f"spec.{direction}[{index}]"
            for position, port in enumerate(rule.get("ports") or ()):
                yield from _policy_port_causes(port, f"{here}.ports[{position}]")
            for position, peer in enumerate(rule.get(peers) or ()):
                yield from _peer_causes(peer, f"{here}.{peers}[{position}]")
    for index, kind in enumerate(spec.get("policyTypes") or ()):
        if kind not in ("Ingress", "Egress"):
            yield not_supported(f"spec.policyTypes[{index}]", kind, ("Egress", "Ingress"))


def _external_name_causes(spec: Object) -> Causes:
    if spec.get("clusterIPs"):
        yield forbidden_value("spec.clusterIPs", "may not be set for ExternalName services")
    name = spec.get("externalName", "").removesuffix(".")
    if name:
        yield from all_invalid("spec.externalName", name, dns_subdomain(name))
    else:
        yield required("spec.externalName")


def _ports_causes(ports: Sequence[Object]) -> Causes:
    names = set()
    for index, port in enumerate(ports):
        here, name = f"spec.ports[{index}]", port.get("name", "")
        if name:
            yield from all_invalid(f"{here}.name", name, dns_label(name))
            if name in names:
                yield duplicate(f"{here}.name", name)
            names.add(name)
        elif len(ports) > 1:
            yield required(f"{here}.name")
        number = port.get("port", 0)
        yield from all_invalid(f"{here}.port", number, port_number(number))
        yield from one_of(f"{here}.protocol", port.get("protocol"), _PROTOCOLS)
        yield from port_causes(port.get("targetPort"), f"{here}.targetPort")


def _same_port_causes(ports: Sequence[Object]) -> Causes:
    seen, node_ports = set(), set()
    for index, port in enumerate(ports):
        key = port.get("protocol"), port.get("port")
        if key in seen:
            yield duplicate(f"spec.ports[{index}]", {"port": key[1], "protocol": key[0]})
        seen.add(key)
        if node_port := port.get("nodePort"):
            if (key[0], node_port) in node_ports:
                yield duplicate(f"spec.ports[{index}].nodePort", node_port)
            node_ports.add((key[0], node_port))


def _backend_causes(backend: Object, path: str) -> Causes:
    service = backend.get("service")
    if service is None:
        if "resource" not in backend:
            yield required(path, "cannot be empty")
        return
    name, port = service.get("name", ""), service.get("port") or {}
    if name:
        yield from all_invalid(f"{path}.service.name", name, dns_label(name))
    else:
        yield required(f"{path}.service.name")
    if not port.get("name") and not port.get("number"):
        yield required(path, "port name or number is required")
    elif number := port.get("number"):
        yield from all_invalid(f"{path}.service.port.number", number, port_number(number))


def _path_causes(path: Object, here: str) -> Causes:
    kind, text = path.get("pathType"), path.get("path", "")
    if not kind:
        yield required(f"{here}.pathType", "pathType must be specified")
    elif kind not in _PATH_TYPES:
        yield not_supported(f"{here}.pathType", kind, _PATH_TYPES)
    elif kind != "ImplementationSpecific" and not text.startswith("/"):
        yield invalid_value(f"{here}.path", text, "must be an absolute path")
    yield from _backend_causes(path.get("backend") or {}, f"{here}.backend")


def _policy_port_causes(port: Object, path: str) -> Causes:
    if port.get("protocol") not in _PROTOCOLS:
        yield not_supported(f"{path}.protocol", port.get("protocol"), _PROTOCOLS)
    if "port" in port:
        yield from port_causes(port["port"], f"{path}.port")


def _peer_causes(peer: Object, path: str) -> Causes:
    if not peer:
        yield required(path, "must specify a peer")
    if "ipBlock" in peer and len(peer) > 1:
        yield forbidden_value(path, "may not specify both ipBlock and another peer")
    for field in ("podSelector", "namespaceSelector"):
        yield from selector_causes(peer.get(field), f"{path}.{field}")
    if "ipBlock" in peer:
        cidr = peer["ipBlock"].get("cidr", "")
        try:
            ipaddress.ip_network(cidr, strict=False)
        except ValueError:
            detail = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
            yield invalid_value(f"{path}.ipBlock.cidr", cidr, detail)
