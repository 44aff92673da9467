"""Which pods stand behind a Service, with the ports they listen on.

Source: Kubernetes documentation, "Service" and "EndpointSlices".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.controllers.ownership import labels_of
from pytest_microremed.embedded.sim.controllers.pods import is_finished, is_ready, is_terminating

Ports = tuple[tuple[str, int | None, str, str | None], ...]
"""Name, number, protocol and appProtocol of each."""


@dataclass(frozen=True)
class Backend:
    """A pod that a Service selects."""

    ip: str
    pod: Object
    ready: bool
    """Whether it gets traffic."""
    serving: bool
    """Whether its readiness is good, even while it terminates."""
    terminating: bool
    ports: Ports

    @property
    def target(self) -> Object:
        """The reference to the pod."""
        meta = self.pod["metadata"]
        return {"kind": "Pod", "namespace": meta["namespace"], "name": meta["name"], "uid": meta["uid"]}

    def hostname_in(self, service: Object) -> str | None:
        """The name under which a headless Service publishes this pod in DNS."""
        spec = self.pod["spec"]
        if spec.get("subdomain") != service["metadata"]["name"]:
            return None
        hostname: str | None = spec.get("hostname")
        return hostname


def is_headless(service: Object) -> bool:
    return bool(service["spec"].get("clusterIP") == "None")


def selects(service: Object, pod: Object) -> bool:
    """A Service without a selector selects nothing: its endpoints are somebody else's."""
    selector = service["spec"].get("selector")
    return bool(selector) and selector.items() <= labels_of(pod).items()


class ServiceIndex:
    """The Services with a selector, found by one of the labels that they select."""

    def __init__(self) -> None:
        self._by_label: dict[tuple[str, str, str], dict[str, Object]] = defaultdict(dict)

    def observe(self, change: Change) -> None:
        namespace, name = change.obj["metadata"]["namespace"], change.obj["metadata"]["name"]
        for service in (change.old, change.obj):
            for key, value in ((service or {}).get("spec", {}).get("selector") or {}).items():
                services = self._by_label[namespace, key, value]
                services.pop(name, None)
                if service is change.obj and change.type != "DELETED":
                    services[name] = service

    def touched_by(self, change: Change) -> set[tuple[str, str]]:
        """Namespace and name of the Services whose endpoints a change of a pod may alter."""
        pods = [pod for pod in (change.obj, change.old) if pod and pod.get("status", {}).get("podIP")]
        if not pods or (change.type == "MODIFIED" and len(pods) == 2 and _shown(pods[0]) == _shown(pods[1])):
            return set()
        namespace = change.obj["metadata"]["namespace"]
        return {
            (namespace, name)
            for pod in pods
            for key, value in labels_of(pod).items()
            for name, service in self._by_label.get((namespace, key, value), {}).items()
            if selects(service, pod)
        }


def backends(service: Object, pods: Iterable[Object]) -> list[Backend]:
    """The Service's pods that have an address and have not finished, ordered by address."""
    publish_all = bool(service["spec"].get("publishNotReadyAddresses"))
    found = []
    for pod in pods:
        ip = pod.get("status", {}).get("podIP")
        if not ip or is_finished(pod) or not selects(service, pod):
            continue
        serving, terminating = is_ready(pod), is_terminating(pod)
        ready = publish_all or (serving and not terminating)
        found.append(Backend(ip, pod, ready, serving, terminating, _ports(service, pod)))
    return sorted(found, key=lambda backend: tuple(map(int, backend.ip.split("."))))


def _shown(pod: Object) -> tuple[Any, ...]:
    """All of a pod that its Services' endpoints depend on."""
    return (
        pod["status"].get("podIP"),
        is_finished(pod),
        is_ready(pod),
        is_terminating(pod),
        labels_of(pod),
        pod["spec"].get("nodeName"),
    )


def _ports(service: Object, pod: Object) -> Ports:
    ports = []
    for port in service["spec"].get("ports") or ():
        protocol = port.get("protocol", "TCP")
        number = _number(port, protocol, pod)
        if number is not None:
            ports.append((port.get("name", ""), number, protocol, port.get("appProtocol")))
    return tuple(ports)


def _number(port: Object, protocol: str, pod: Object) -> int | None:
    """The port on the pod, for a named one as its containers declare it; None if they do not."""
    target = port.get("targetPort") or port["port"]
    if isinstance(target, int):
        return target
    for container in pod["spec"]["containers"]:
        for each in container.get("ports") or ():
            if each.get("name") == target and each.get("protocol", "TCP") == protocol:
                return int(each["containerPort"])
    return None
