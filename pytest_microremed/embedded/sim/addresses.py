"""Names and addresses: cluster DNS and the ready endpoints of Services, read from the store.

Never asks the real network. Follows the Kubernetes DNS specification: Services as `x`, `x.ns`, `x.ns.svc`
and fully qualified, headless ones by their endpoints, pods of a StatefulSet by `pod.service`, and `a-b-
c-d.ns.pod`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from dataclasses import dataclass

from pytest_microremed.embedded.api.resources import ENDPOINTS, NODES, SERVICES
from pytest_microremed.embedded.api.store import Object, Store

CLUSTER_DOMAIN = "cluster.local"
DNS_IP = "10.96.0.10"
KUBERNETES_IP = "10.96.0.1"
POD_NETWORK = ipaddress.ip_network("10.244.0.0/16")
_POD_PREFIX = "10.244."
SEARCH_DOTS = 5
"""`ndots` of a pod's resolv.conf: names with fewer dots are tried with the search domains first."""


@dataclass(frozen=True)
class Endpoint:
    """A ready backend of a Service port."""

    ip: str
    port: int


def is_address(host: str) -> bool:
    """Whether `host` is an IPv4 address."""
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return True


def is_pod_address(ip: str) -> bool:
    """Whether an IPv4 address is of the network that pods get theirs from."""
    return ip.startswith(_POD_PREFIX)


class Addresses:
    """Looks names and Service addresses up in the store."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def resolve(self, host: str, namespace: str) -> list[str]:
        """IPv4 addresses of a name as a pod of that namespace sees it; [] = no such name (NXDOMAIN)."""
        if is_address(host):
            return [host]
        name = host.rstrip(".").lower()
        if name == "localhost":
            return ["127.0.0.1"]
        candidates = [name]
        if not host.endswith(".") and name.count(".") < SEARCH_DOTS:
            domains = (f"{namespace}.svc.{CLUSTER_DOMAIN}", f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN)
            candidates = [*(f"{name}.{domain}" for domain in domains), name]
        return next((found for name in candidates if (found := self._lookup(name))), [])

    def service_by_name(self, host: str, namespace: str) -> Object | None:
        """The Service that a host name means, also where it names a pod behind a headless Service."""
        match host.rstrip(".").lower().removesuffix(f".{CLUSTER_DOMAIN}").removesuffix(".svc").split("."):
            case [name]:
                return self.store.get(SERVICES, namespace, name)
            case [name, place]:
                return self.store.get(SERVICES, place, name) or self._headless(namespace, place)
            case [_, name, place]:
                return self._headless(place, name)
            case _:
                return None

    def service_by_ip(self, ip: str) -> Object | None:
        """The Service with that cluster IP."""
        return next((s for s in self.store.list(SERVICES) if ip in cluster_ips(s)), None)

    def node_port(self, port: int) -> tuple[Object, Object] | None:
        """The Service, and its port, that answer on this port of every node."""
        for service in self.store.list(SERVICES):
            for entry in service["spec"].get("ports") or ():
                if entry.get("nodePort") == port:
                    return service, entry
        return None

    def is_node(self, ip: str) -> bool:
        """Whether the address is one of a node."""
        nodes = self.store.list(NODES)
        return any(a["address"] == ip for node in nodes for a in node.get("status", {}).get("addresses", ()))

    def ready_endpoints(self, service: Object, port: Object) -> list[Endpoint]:
        """Where connections to a Service port go."""
        meta = service["metadata"]
        endpoints = self.store.get(ENDPOINTS, meta["namespace"], meta["name"]) or {}
        return [
            Endpoint(address["ip"], entry["port"])
            for subset in endpoints.get("subsets") or ()
            for entry in subset.get("ports") or ()
            if entry.get("name", "") == port.get("name", "")
            for address in subset.get("addresses") or ()
        ]

    def _headless(self, namespace: str, name: str) -> Object | None:
        service = self.store.get(SERVICES, namespace, name)
        return service if service and not cluster_ips(service) else None

    def _lookup(self, name: str) -> list[str]:
        labels = name.split(".")
        match labels:
            case ["kubernetes", "default", "svc", "cluster", "local"]:
                service = self.store.get(SERVICES, "default", "kubernetes")
                return list(cluster_ips(service)) if service else [KUBERNETES_IP]
            case [service_name, namespace, "svc", "cluster", "local"]:
                service = self.store.get(SERVICES, namespace, service_name)
                return self._service_addresses(service) if service else []
            case [hostname, service_name, namespace, "svc", "cluster", "local"]:
                service = self._headless(namespace, service_name)
                published = self._published(service) if service else ()
                return [address["ip"] for address in published if hostname in _hostnames(address)]
            case [dashed, _, "pod", "cluster", "local"] if is_address(dashed.replace("-", ".")):
                return [dashed.replace("-", ".")]
            case _:
                return []

    def _service_addresses(self, service: Object) -> list[str]:
        external = service["spec"].get("externalName")
        if external:
            return self.resolve(external + ".", service["metadata"]["namespace"])
        return list(cluster_ips(service)) or [a["ip"] for a in self._published(service)]

    def _published(self, service: Object) -> Iterator[Object]:
        meta = service["metadata"]
        endpoints = self.store.get(ENDPOINTS, meta["namespace"], meta["name"]) or {}
        for subset in endpoints.get("subsets") or ():
            yield from subset.get("addresses") or ()
            if service["spec"].get("publishNotReadyAddresses"):
                yield from subset.get("notReadyAddresses") or ()


def cluster_ips(service: Object) -> tuple[str, ...]:
    """Cluster IPs of a Service; none where it is headless or an external name."""
    ip = service["spec"].get("clusterIP")
    return (ip,) if ip and ip != "None" else ()


def _hostnames(address: Object) -> set[str]:
    """Names that a headless Service publishes for an address: only pods of a StatefulSet have stable ones."""
    return {address.get("hostname", ""), (address.get("targetRef") or {}).get("name", "")} - {""}
