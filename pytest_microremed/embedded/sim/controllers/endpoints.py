"""Endpoints and EndpointSlices of the Services that have a selector.

Source: core/v1 Endpoints, discovery.k8s.io/v1 EndpointSlice.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from pytest_microremed.embedded.api.resources import ENDPOINT_SLICES, ENDPOINTS, PODS, SERVICES, Resource
from pytest_microremed.embedded.api.store import Change, Object, timestamp
from pytest_microremed.embedded.sim.controllers.backends import (
    Backend,
    backends,
    is_headless,
    selects,
    shows_in_endpoints,
)
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
from pytest_microremed.embedded.sim.controllers.ownership import labels_of, owned, owner_reference
from pytest_microremed.embedded.sim.controllers.templates import random_suffix

_TRIGGER = "endpoints.kubernetes.io/last-change-trigger-time"
_HEADLESS = "service.kubernetes.io/headless"
_SERVICE_NAME = "kubernetes.io/service-name"


class _ServiceController(Controller):
    """Knows the Services by namespace, and which of them a change of a pod touches."""

    written: Resource

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._services: dict[str, dict[str, Object]] = defaultdict(dict)

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is SERVICES:
            namespace, name = key_of(change.obj)
            if change.type == "DELETED":
                self._services[namespace].pop(name, None)
            else:
                self._services[namespace][name] = change.obj
            return [(namespace, name)]
        if change.resource is PODS:
            return list(self._services_of(change))
        return self.owners(change.obj)

    def owners(self, written: Object) -> list[Key]:
        """Of which Services what this controller writes is."""
        return [key_of(written)]

    def _services_of(self, change: Change) -> Iterator[Key]:
        pods = [pod for pod in (change.obj, change.old) if pod]
        if change.type == "MODIFIED" and len({repr(shows_in_endpoints(pod)) for pod in pods}) == 1:
            return
        namespace = change.obj["metadata"]["namespace"]
        for name, service in self._services[namespace].items():
            if any(selects(service, pod) for pod in pods):
                yield namespace, name

    def changed_now(self) -> str:
        """Clients measure from this how long a change takes to be programmed."""
        return timestamp(self.clock.now())


class EndpointsController(_ServiceController):
    component = "endpoint-controller"
    watches = (SERVICES, PODS, ENDPOINTS)

    def reconcile(self, namespace: str, name: str) -> None:
        service = self.store.get(SERVICES, namespace, name)
        current = self.store.get(ENDPOINTS, namespace, name)
        if service is None:
            if current is not None and _is_managed(current):
                self.store.delete(ENDPOINTS, current)
            return
        if not service["spec"].get("selector"):
            return
        subsets = _subsets(service, self.pods.in_namespace(namespace))
        labels = {**labels_of(service), "endpoints.kubernetes.io/managed-by": self.component}
        if is_headless(service):
            labels[_HEADLESS] = ""
        if current and current.get("subsets", []) == subsets and labels_of(current) == labels:
            return
        meta = {
            "name": name,
            "namespace": namespace,
            **(current["metadata"] if current else {}),
            "labels": labels,
            "annotations": {_TRIGGER: self.changed_now()},
        }
        endpoints = {
            "apiVersion": "v1",
            "kind": "Endpoints",
            "metadata": meta,
            **({"subsets": subsets} if subsets else {}),
        }
        if current:
            self.store.update(ENDPOINTS, endpoints)
        else:
            self.store.create(ENDPOINTS, endpoints)


class EndpointSliceController(_ServiceController):
    component = "endpoint-slice-controller"
    watches = (SERVICES, PODS, ENDPOINT_SLICES)

    def owners(self, written: Object) -> list[Key]:
        service = labels_of(written).get(_SERVICE_NAME)
        return [(written["metadata"]["namespace"], service)] if service else []

    def reconcile(self, namespace: str, name: str) -> None:
        service = self.store.get(SERVICES, namespace, name)
        if service is None or not service["spec"].get("selector"):
            return  # the slices of a Service that has gone went with it, as it owned them
        labels = {
            **labels_of(service),
            _SERVICE_NAME: name,
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
        }
        if is_headless(service):
            labels[_HEADLESS] = ""
        wanted = _slices(service, self.pods.in_namespace(namespace))
        existing = owned(self.store, ENDPOINT_SLICES, service)
        for content, current in zip(wanted, existing, strict=False):
            if (
                any(current.get(key) != value for key, value in content.items())
                or labels_of(current) != labels
            ):
                meta = {
                    **current["metadata"],
                    "labels": labels,
                    "annotations": {_TRIGGER: self.changed_now()},
                }
                self.store.update(ENDPOINT_SLICES, {**current, **content, "metadata": meta})
        for content in wanted[len(existing) :]:
            meta = {
                "name": f"{name}-{random_suffix()}",
                "generateName": f"{name}-",
                "namespace": namespace,
                "labels": labels,
                "annotations": {_TRIGGER: self.changed_now()},
                "ownerReferences": [owner_reference(service)],
            }
            header = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "metadata": meta}
            self.store.create(ENDPOINT_SLICES, {**header, "addressType": "IPv4", **content})
        for surplus in existing[len(wanted) :]:
            self.store.delete(ENDPOINT_SLICES, surplus)


def _is_managed(endpoints: Object) -> bool:
    """Whether this controller made it, rather than somebody by hand for a Service without a selector."""
    return "endpoints.kubernetes.io/managed-by" in labels_of(endpoints)


def _subsets(service: Object, pods: Iterable[Object]) -> list[Object]:
    """Addresses grouped by the ports that they share; terminating pods are not among them."""
    published = [
        backend
        for backend in backends(service, pods)
        if not backend.terminating or service["spec"].get("publishNotReadyAddresses")
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


def _slices(service: Object, pods: Iterable[Object]) -> list[Object]:
    """One slice for each set of ports; a Service without pods has one that is empty."""
    slices = [
        {
            "endpoints": [_endpoint(service, backend) for backend in group],
            "ports": [{"name": name, **_port("", *port)} for name, *port in ports],
        }
        for ports, group in _by_ports(backends(service, pods))
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
