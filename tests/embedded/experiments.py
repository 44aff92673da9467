"""A world with Chaos Mesh in it, for tests of its experiments."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.resources import EVENTS, PODS, Resource
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.chaos import start_chaos
from pytest_microremed.embedded.sim.model import PodSandbox
from tests.embedded.nodes import World, until

NAMESPACE = "shop"
WEB = {"mode": "one", "selector": {"namespaces": [NAMESPACE], "labelSelectors": {"app": "web"}}}


class ChaosWorld(World):
    """Two pods of an application `web`, each with the containers `web` and `side`, and a pod `db-1`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        start_chaos(self.store, self.clock, self.nodes)
        self.web = [self.add_pod(name, "web", "side") for name in ("web-1", "web-2")]
        self.db = self.add_pod("db-1", labels={"app": "db"})

    def create(self, resource: Resource, spec: dict[str, Any], name: str = "test", **meta: Any) -> Object:
        """Store an experiment on one pod of `web`, unless the spec says otherwise."""
        head = {"apiVersion": resource.api_version, "kind": resource.kind}
        metadata = {"name": name, "namespace": NAMESPACE, **meta}
        return self.store.create(resource, {**head, "metadata": metadata, "spec": {**WEB, **spec}})

    def get(self, resource: Resource, name: str = "test") -> Object | None:
        return self.store.get(resource, NAMESPACE, name)

    def status(self, resource: Resource, name: str = "test") -> Object:
        chaos = self.get(resource, name)
        assert chaos is not None
        status: Object = chaos.get("status", {})
        return status

    def records(self, resource: Resource, name: str = "test") -> list[Object]:
        return list(self.status(resource, name).get("experiment", {}).get("containerRecords") or ())

    def conditions(self, resource: Resource, name: str = "test") -> dict[str, str]:
        return {each["type"]: each["status"] for each in self.status(resource, name).get("conditions", ())}

    async def injected(self, resource: Resource, name: str = "test") -> PodSandbox:
        """Wait until it is injected everywhere; the pod of the first record."""
        await until("injection", lambda: self.conditions(resource, name).get("AllInjected") == "True")
        pod = self.nodes.find(*self.records(resource, name)[0]["id"].split("/")[:2])
        assert pod is not None
        return pod

    async def recovered(self, resource: Resource, name: str = "test") -> None:
        await until("recovery", lambda: self.conditions(resource, name).get("AllRecovered") == "True")

    async def delete(self, resource: Resource, name: str = "test") -> None:
        """Delete it and wait until it has gone."""
        chaos = self.get(resource, name)
        assert chaos is not None
        self.store.delete(resource, chaos)
        await until("deletion", lambda: self.get(resource, name) is None)

    def annotate(self, resource: Resource, annotations: dict[str, str], name: str = "test") -> None:
        chaos = self.get(resource, name)
        assert chaos is not None
        self.store.update(resource, {**chaos, "metadata": {**chaos["metadata"], "annotations": annotations}})

    def remove_pod(self, pod: PodSandbox) -> None:
        """As the kubelet does when a pod has ended."""
        stored = self.store.get(PODS, pod.namespace, pod.name)
        assert stored is not None
        self.store.remove(PODS, stored)
        del self.nodes.pods[pod.uid]

    def events(self, name: str = "test") -> list[tuple[str, str]]:
        """Reason and message of the events about an experiment."""
        events = [event for event in self.store.list(EVENTS, NAMESPACE) if event["involvedObject"]["name"] == name]
        return [(event["reason"], event["message"]) for event in events]
