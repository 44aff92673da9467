"""Addresses of dependencies: whether two texts name the same service and port."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_DEFAULT_PORTS = {"http": 80, "https": 443, "redis": 6379, "mysql": 3306, "amqp": 5672}


@dataclass(frozen=True)
class Address:
    """A host inside the cluster, with all that may be left out of it put in."""

    host: str
    """`name.namespace`, or an IP, or a name outside the cluster."""
    port: int | None


def parse_address(text: str, namespace: str) -> Address:
    """One address as a program takes it: with or without scheme, user, path, search domains and final dot.

    Kubernetes DNS: `service`, `service.namespace`, `….svc` and `….svc.cluster.local` are the same in its
    own namespace.
    """
    text = text.strip()
    scheme = _SCHEME.match(text)
    rest = _SCHEME.sub("", text).split("/")[0].split("?")[0].rsplit("@", 1)[-1]
    host, colon, digits = rest.partition(":")
    port = int(digits) if colon and digits.isdecimal() else None
    if port is None and scheme:
        port = _DEFAULT_PORTS.get(scheme[0][:-3].lower())
    return Address(_full_host(host, namespace), port)


def same_addresses(one: str | None, other: str | None, namespace: str) -> bool:
    """Whether two lists of addresses (commas, spaces or semicolons between them) name the same, in any
    order."""
    if one is None or other is None:
        return one == other
    return _parse_all(one, namespace) == _parse_all(other, namespace)


def _parse_all(text: str, namespace: str) -> set[Address]:
    return {parse_address(part, namespace) for part in re.split(r"[,;\s]+", text) if part}


def _full_host(host: str, namespace: str) -> str:
    labels = host.lower().rstrip(".").split(".")
    if labels[-2:] == ["cluster", "local"]:
        labels = labels[:-2]
    if labels[-1] == "svc":
        labels = labels[:-1]
    if len(labels) == 1:
        labels.append(namespace)
    return ".".join(labels)
