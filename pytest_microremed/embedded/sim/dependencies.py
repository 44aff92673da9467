"""The services that a program's environment names, and whether they can be addressed and reached.

Variables named …_ADDR, …_ADDRS, …_HOST (with …_PORT), …_URL, …_URI and …_ENDPOINT count, as the manifests
of the systems use them. Those of Kubernetes' service links do not: the caller passes only what the pod's
author wrote.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_microremed.embedded.sim.addresses import is_address
from pytest_microremed.embedded.sim.model import PodSandbox
from pytest_microremed.embedded.sim.network import Network

_NAMES = re.compile(r".+_(ADDR|ADDRS|ADDRESS|HOST|HOSTS|URL|URI|ENDPOINT)", re.IGNORECASE)
_TARGET = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/\s]*@)?([a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(?::(\d{1,5}))?(?:/\S*)?",
    re.IGNORECASE,
)
_CLUSTER_SUFFIXES = (".svc", ".cluster.local")


@dataclass(frozen=True)
class Target:
    """A host and, if known, a port."""

    host: str
    port: int | None

    def __str__(self) -> str:
        return f"{self.host}:{self.port}" if self.port else self.host


@dataclass(frozen=True)
class Dependency:
    """What one variable points to; several targets are alternatives."""

    variable: str
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Trouble:
    """Why a dependency does not answer; unroutable = the Service does not expose that port."""

    variable: str
    target: Target
    kind: Literal["unresolved", "unroutable", "refused", "timeout"]
    ip: str = ""


def find_dependencies(env: Mapping[str, str]) -> tuple[Dependency, ...]:
    """The in-cluster services that an environment names."""
    found = []
    for name, value in env.items():
        if not _NAMES.fullmatch(name):
            continue
        targets = tuple(
            target
            for part in re.split(r"[,;\s]+", value.strip())
            if (target := _parse(part, _companion_port(name, env)))
        )
        if targets:
            found.append(Dependency(name, targets))
    return tuple(found)


def misconfiguration(dependency: Dependency, network: Network, pod: PodSandbox) -> Trouble | None:
    """Why none of the targets can be an address of a service; None if one of them can."""
    first: Trouble | None = None
    for target in dependency.targets:
        trouble = _address_trouble(dependency.variable, target, network, pod)
        if trouble is None:
            return None
        first = first or trouble
    return first


def outage(dependency: Dependency, network: Network, pod: PodSandbox, patience_s: float) -> Trouble | None:
    """Why none of the targets takes a connection within `patience_s`; None if one does."""
    first: Trouble | None = None
    for target in dependency.targets:
        if target.port is None:
            return None
        connection = network.connect(pod, target.host, target.port, patience_s)
        if connection.status == "open":
            return None
        first = first or Trouble(dependency.variable, target, _OUTAGES[connection.status], connection.ip or "")
    return first


_OUTAGES: Mapping[str, Literal["unresolved", "refused", "timeout"]] = {
    "unresolved": "unresolved",
    "refused": "refused",
    "timeout": "timeout",
}


def _address_trouble(variable: str, target: Target, network: Network, pod: PodSandbox) -> Trouble | None:
    addresses = network.addresses
    ips = network.resolve(target.host, pod.namespace)
    ip = ips[0] if ips else ""
    service = addresses.service_by_name(target.host, pod.namespace) or addresses.service_by_ip(ip)
    if service is not None:
        ports = [entry["port"] for entry in service["spec"].get("ports") or ()]
        known = target.port is None or not ports or target.port in ports
    elif not ips:
        return Trouble(variable, target, "unresolved")
    else:
        known = network.nodes.by_ip(ip) is not None or addresses.is_node(ip) or ip.startswith("127.")
    return None if known else Trouble(variable, target, "unroutable", ip)


def _companion_port(name: str, env: Mapping[str, str]) -> int | None:
    """`X_PORT` beside `X_HOST`."""
    stem = name.rpartition("_")[0]
    value = env.get(f"{stem}_PORT") or env.get(f"{stem}_port") or ""
    return int(value) if value.isdigit() else None


def _parse(text: str, companion_port: int | None) -> Target | None:
    match = _TARGET.fullmatch(text)
    if match is None or match[1] in ("0.0.0.0", "localhost") or match[1].isdigit():  # noqa: S104
        return None
    host, port = match[1], int(match[2]) if match[2] else companion_port
    external = "." in host and not is_address(host) and not host.endswith(_CLUSTER_SUFFIXES) and "://" in text
    return None if external else Target(host, port)
