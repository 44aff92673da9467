"""Endpoints and EndpointSlices of the Services that have a selector.

Source: core/v1 Endpoints, discovery.k8s.io/v1 EndpointSlice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.resources import ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES
from pytest_microremed.embedded.api.store import Change, Object, timestamp
from pytest_microremed.embedded.sim.controllers.backends import (
    Backend,
    ServiceIndex,
    backends,
    is_headless,
)
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
from pytest_microremed.embedded.sim.controllers.ownership import labels_of, owned, owner_reference
from pytest_microremed.embedded.sim.controllers.templates import random_suffix

_MANAGED_BY = "endpoints.kubernetes.io/managed-by"
_HEADLESS = "service.kubernetes.io/headless"
_SERVICE_NAME = "kubernetes.io/service-name"


class EndpointsController(Controller):
    component = "endpoint-controller"
    watches = (SERVICES, PODS, ENDPOINTS, ENDPOINT_SLICES)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._services = ServiceIndex()

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is PODS:
            return self._services.touched_by(change)
        if change.resource is ENDPOINT_SLICES:
            service = labels_of(change.obj).get(_SERVICE_NAME)
            return [(change.obj["metadata"]["namespace"], service)] if service else []
        if change.resource is SERVICES:
            self._services.observe(change)
        return [key_of(change.obj)]

    def reconcile(self, namespace: str, name: str) -> None:
        service = self.store.get(SERVICES, namespace, name)
        if service is None:
            # Its slices went with it, as it owned them; Endpoints are tied to it by their name only.
            current = self.store.get(ENDPOINTS, namespace, name)
            if current is not None and _MANAGED_BY in labels_of(current):
                self.store.delete(ENDPOINTS, current)
        elif service["spec"].get("selector"):
            found = backends(service, self.pods.in_namespace(namespace))
            self._write_endpoints(service, _subsets(service, found))
            self._write_slices(service, _slices(service, found))

    def _write_endpoints(self, service: Object, subsets: list[Object]) -> None:
        namespace, name = key_of(service)
        labels = {**self._labels(service), _MANAGED_BY: self.component}
        current = self.store.get(ENDPOINTS, namespace, name)
        if current and current.get("subsets", []) == subsets and labels_of(current) == labels:
            return
        identity = current["metadata"] if current else {"name": name, "namespace": namespace}
        endpoints = {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": {**identity, "labels": labels, "annotations": self._trigger()},
            **({"subsets": subsets} if subsets else {}),
        }
        if current:
            self.store.update(ENDPOINTS, endpoints)
        else:
            self.store.create(ENDPOINTS, endpoints)

    def _write_slices(self, service: Object, wanted: list[Object]) -> None:
        namespace, name = key_of(service)
        labels = {
            **self._labels(service),
            _SERVICE_NAME: name,
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        }
        existing = owned(self.store, ENDPOINT_SLICES, service)
        for content, current in zip(wanted, existing, strict=False):
            if any(current.get(key) != value for key, value in content.items()) or labels_of(current) != labels:
                meta = {**current["metadata"], "labels": labels, "annotations": self._trigger()}
                self.store.update(ENDPOINT_SLICES, {**current, **content, "metadata": meta})
        for content in wanted[len(existing) :]:
            meta = {
                "name": f"{name}-{random_suffix()}",
                "generateName": f"{name}-",
                "namespace": namespace,
                "labels": labels,
                "annotations": self._trigger(),
                "ownerReferences": [owner_reference(service)],
            }
            header = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": meta}
            self.store.create(ENDPOINT_SLICES, {**header, "addressType": "IPv4", **content})
        for surplus in existing[len(wanted) :]:
            self.store.delete(ENDPOINT_SLICES, surplus)

    def _labels(self, service: Object) -> dict[str, str]:
        return {**labels_of(service), **({_HEADLESS: ""} if is_headless(service) else {})}

    def _trigger(self) -> dict[str, str]:
        """From this time clients measure how long a change takes to reach them."""
        return {"endpoints.kubernetes.io/last-change-trigger-time": timestamp(self.clock.now())}


def _subsets(service: Object, found: list[Backend]) -> list[Object]:
    """Addresses grouped by the ports that they share; terminating pods are not among them."""
    published = [
        backend for backend in found if not backend.terminating or service["spec"].get("publishNotReadyAddresses")
    ]
    subsets = []
    for ports, group in _by_ports(published):
        if not ports and not is_headless(service):
            continue
        ready = [_address(service, backend) for backend in group if backend.ready]
        not_ready = [_address(service, backend) for backend in group if not backend.ready]
        subsets.append(
            {
                **({"addresses": ready} if ready else {}),
                **({"notReadyAddresses": not_ready} if not_ready else {}),
                **({"ports": [_port(*port) for port in ports]} if ports else {}),
            }
        )
    return subsets


def _slices(service: Object, found: list[Backend]) -> list[Object]:
    """One slice for each set of ports; a Service without pods has one that is empty."""
    slices = [
        {
            "endpoints": [_endpoint(service, backend) for backend in group],
            "ports": [{"name": name, **_port("", *port)} for name, *port in ports],
        }
        for ports, group in _by_ports(found)
    ]
    return slices or [{"endpoints": [], "ports": []}]


def _by_ports(found: list[Backend]) -> list[tuple[Any, list[Backend]]]:
    groups: dict[Any, list[Backend]] = defaultdict(list)
    for backend in found:
        groups[backend.ports].append(backend)
    return list(groups.items())


def _address(service: Object, backend: Backend) -> Object:
    hostname = backend.hostname_in(service)
    return {
        "ip": backend.ip,
        **({"hostname": hostname} if hostname else {}),
        **_node(backend),
        "targetRef": backend.target,
    }


def _endpoint(service: Object, backend: Backend) -> Object:
    hostname = backend.hostname_in(service)
    return {
        "addresses": [backend.ip],
        "conditions": {
            "ready": backend.ready,
            "serving": backend.serving,
            "terminating": backend.terminating,
        },
        **({"hostname": hostname} if hostname else {}),
        **_node(backend),
        "targetRef": backend.target,
    }


def _node(backend: Backend) -> Object:
    node = backend.pod["spec"].get("nodeName")
    return {"nodeName": node} if node else {}


def _port(name: str, number: int | None, protocol: str, app_protocol: str | None) -> Object:
    return {
        **({"name": name} if name else {}),
        "port": number,
        "protocol": protocol,
        **({"appProtocol": app_protocol} if app_protocol else {}),
    }
