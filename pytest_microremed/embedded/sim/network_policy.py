"""Which connections NetworkPolicy objects allow (networking.k8s.io/v1), for pods of the simulated network."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pytest_microremed.embedded.api.resources import NAMESPACES, NETWORK_POLICIES
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.model import PodSandbox


@dataclass(frozen=True)
class Peer:
    """An end of a connection, as policies select it; a pod has a namespace, others only an address."""

    ip: str
    namespace: str | None = None
    labels: Mapping[str, str] | None = None
    named_ports: Mapping[str, int] | None = None

    @classmethod
    def of(cls, pod: PodSandbox) -> Peer:
        ports = {
            port["name"]: port["containerPort"]
            for container in pod.containers.values()
            for port in container.spec.get("ports") or ()
            if "name" in port
        }
        return cls(pod.ip, pod.namespace, pod.labels, ports)


DNS = Peer("10.96.0.10", "kube-system", {"k8s-app": "kube-dns"})


class NetworkPolicies:
    """Evaluates the policies of the store; a pod that no policy selects allows everything."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def allow(self, source: Peer, target: Peer, port: int | None, protocol: str = "TCP") -> bool:
        """Whether packets pass: the source's egress and the target's ingress. `port` None = ICMP."""
        return self._allows(source, "Egress", target, target, port, protocol) and self._allows(
            target, "Ingress", source, target, port, protocol
        )

    def _allows(self, pod: Peer, direction: str, other: Peer, target: Peer, port: int | None, protocol: str) -> bool:
        if pod.namespace is None:
            return True
        selecting = [
            policy["spec"]
            for policy in self.store.list(NETWORK_POLICIES, pod.namespace)
            if direction in _types(policy["spec"]) and selects(policy["spec"].get("podSelector"), pod.labels or {})
        ]
        key, peers = ("egress", "to") if direction == "Egress" else ("ingress", "from")
        return not selecting or any(
            self._peers_match(rule.get(peers), other, pod.namespace)
            and _ports_match(rule.get("ports"), target, port, protocol)
            for spec in selecting
            for rule in spec.get(key) or ()
        )

    def _peers_match(self, entries: Iterable[Object] | None, other: Peer, namespace: str) -> bool:
        return not entries or any(self._peer_matches(entry, other, namespace) for entry in entries)

    def _peer_matches(self, entry: Object, other: Peer, namespace: str) -> bool:
        if block := entry.get("ipBlock"):
            address = ipaddress.ip_address(other.ip)
            excluded = any(address in ipaddress.ip_network(net) for net in block.get("except") or ())
            return address in ipaddress.ip_network(block["cidr"]) and not excluded
        if other.namespace is None:
            return False
        if "namespaceSelector" in entry:
            found = self.store.get(NAMESPACES, None, other.namespace) or {"metadata": {}}
            labels = {
                "kubernetes.io/metadata.name": other.namespace,
                **(found["metadata"].get("labels") or {}),
            }
            if not selects(entry["namespaceSelector"], labels):
                return False
        elif other.namespace != namespace:
            return False
        return selects(entry.get("podSelector"), other.labels or {})


def selects(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Whether a metav1.LabelSelector matches; an empty one matches all."""
    selector = selector or {}
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_expression_holds(expression, labels) for expression in selector.get("matchExpressions") or ())


def _expression_holds(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = expression["key"], expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels


def _types(spec: Object) -> Iterable[str]:
    default = ("Ingress", "Egress") if spec.get("egress") else ("Ingress",)
    return spec.get("policyTypes") or default


def _ports_match(entries: Iterable[Object] | None, target: Peer, port: int | None, protocol: str) -> bool:
    if not entries:
        return True
    if port is None:
        return False
    return any(entry.get("protocol", "TCP") == protocol and _port_matches(entry, target, port) for entry in entries)


def _port_matches(entry: Object, target: Peer, port: int) -> bool:
    wanted = entry.get("port")
    if wanted is None:
        return True
    if isinstance(wanted, str):
        return (target.named_ports or {}).get(wanted) == port
    return bool(wanted <= port <= (entry.get("endPort") or wanted))
