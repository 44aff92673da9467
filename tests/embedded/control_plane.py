"""A store with controllers and scheduler on it, in a time of its own that passes when a test says so."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pytest_microremed.embedded.api.resources import (
    DEPLOYMENTS,
    EVENTS,
    NODES,
    PODS,
    REPLICA_SETS,
    SERVICE_ACCOUNTS,
    Resource,
)
from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.api.store import Change, Object, Store
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.controllers import start_controllers
from pytest_microremed.embedded.sim.scheduler import start_scheduler

_STARTED = "2030-01-01T00:00:00Z"
_MOST_ROUNDS = 2000


class _Loop(asyncio.SelectorEventLoop):
    """An event loop whose clock is set by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0
        super().__init__()

    def time(self) -> float:
        return self.seconds


class Kubelet:
    """Starts pods at once; makes them ready and removes them at once too, or when the test says so."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop) -> None:
        self.auto_ready: Callable[[Object], bool] = lambda pod: True
        self.auto_remove = True
        self._store = store
        self._loop = loop
        self._addresses = itertools.count(2)
        store.subscribe(self._observe)

    def _observe(self, change: Change) -> None:
        if change.resource is PODS and change.type != "DELETED" and change.obj["spec"].get("nodeName"):
            self._loop.call_soon(self._sync, change.obj["metadata"]["namespace"], change.obj["metadata"]["name"])

    def _sync(self, namespace: str, name: str) -> None:
        pod = self._store.get(PODS, namespace, name)
        if pod is None:
            return
        if "deletionTimestamp" in pod["metadata"]:
            if self.auto_remove:
                self._store.remove(PODS, pod)
        elif "podIP" not in pod["status"]:
            number = next(self._addresses)
            self.write(pod, ready=self.auto_ready(pod), podIP=f"10.244.{number // 256}.{number % 256}")

    def write(self, pod: Object, *, ready: bool, phase: str = "Running", **status: Any) -> None:
        current = self._store.get(PODS, pod["metadata"]["namespace"], pod["metadata"]["name"])
        assert current is not None
        conditions = [each for each in current["status"].get("conditions", ()) if each["type"] != "Ready"]
        conditions.append({"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": _STARTED})
        self._store.update_status(PODS, current, phase=phase, conditions=conditions, **status)

    def remove(self, pod: Object) -> None:
        self._store.remove(PODS, pod)


class ControlPlane:
    """The system under test. `settle` lets everything happen that needs no time to pass."""

    def __init__(self, *, nodes: int = 1, usage: Callable[[Object], Mapping[str, Usage] | None] | None = None) -> None:
        self.loop = _Loop()
        self.store = Store()
        self.clock = SimClock(self.loop, 1.0)
        self.kubelet = Kubelet(self.store, self.loop)
        self.store.create(SERVICE_ACCOUNTS, {"metadata": {"name": "default", "namespace": "shop"}})
        for number in range(1, nodes + 1):
            self.store.create(NODES, node(f"node-{number}"))
        start_controllers(self.store, self.clock, usage)
        start_scheduler(self.store, self.clock)

    def close(self) -> None:
        self.loop.close()

    def settle(self) -> None:
        """Let the event loop run until nothing changes any more."""
        for _ in range(_MOST_ROUNDS):
            before = self.store.version
            for _ in range(4):
                self.loop.run_until_complete(asyncio.sleep(0))
            if self.store.version == before:
                return
        raise AssertionError(f"the controllers did not come to rest in {_MOST_ROUNDS} rounds")

    def step(self) -> None:
        """One round of the event loop."""
        self.loop.run_until_complete(asyncio.sleep(0))

    def advance(self, seconds: float, step: float = 1) -> None:
        """Let simulated time pass, by default second by second."""
        end = self.loop.seconds + seconds
        while self.loop.seconds < end:
            self.loop.seconds = min(end, self.loop.seconds + step)
            self.settle()

    def create(self, resource: Resource, obj: Object) -> Object:
        created = self.store.create(resource, obj)
        self.settle()
        return created

    def get(self, resource: Resource, name: str, namespace: str = "shop") -> Object:
        obj = self.store.get(resource, namespace, name)
        assert obj is not None, f"no {resource.kind} {name}; there are {self.names(resource)}"
        return obj

    def names(self, resource: Resource) -> list[str]:
        return [obj["metadata"]["name"] for obj in self.store.list(resource, "shop")]

    def change_spec(self, resource: Resource, name: str, **fields: Any) -> Object:
        obj = self.get(resource, name)
        changed = self.store.update(resource, {**obj, "spec": {**obj["spec"], **fields}})
        self.settle()
        return changed

    def annotate(self, resource: Resource, name: str, **annotations: str) -> None:
        obj = self.get(resource, name)
        merged = {**obj["metadata"].get("annotations", {}), **annotations}
        self.store.update(resource, {**obj, "metadata": {**obj["metadata"], "annotations": merged}})
        self.settle()

    def delete(self, resource: Resource, name: str) -> None:
        self.store.delete(resource, self.get(resource, name))
        self.settle()

    def pods(self, **labels: str) -> list[Object]:
        """Pods that are not on their way out and bear the labels, by name."""
        return [
            pod
            for pod in self.store.list(PODS, "shop")
            if "deletionTimestamp" not in pod["metadata"]
            and labels.items() <= pod["metadata"].get("labels", {}).items()
        ]

    def ready(self, *pods: Object) -> None:
        for pod in pods:
            self.kubelet.write(pod, ready=True)
        self.settle()

    def replica_sets(self) -> dict[str, Object]:
        """By revision."""
        found = self.store.list(REPLICA_SETS, "shop")
        return {each["metadata"]["annotations"]["deployment.kubernetes.io/revision"]: each for each in found}

    def condition(self, obj: Object, type_: str) -> Object:
        conditions: list[Object] = obj["status"].get("conditions", [])
        found = [each for each in conditions if each["type"] == type_]
        assert found, f"no condition {type_} among {[each['type'] for each in conditions]}"
        return found[0]

    def messages(self, reason: str) -> list[str]:
        """Of the events with this reason, in order of creation."""
        events = [event for event in self.store.list(EVENTS) if event["reason"] == reason]
        return [event["message"] for event in sorted(events, key=lambda e: int(e["metadata"]["resourceVersion"]))]

    def set_image(self, name: str, image: str, resource: Resource = DEPLOYMENTS) -> None:
        template = self.get(resource, name)["spec"]["template"]
        spec = {**template["spec"], "containers": [{**template["spec"]["containers"][0], "image": image}]}
        self.change_spec(resource, name, template={**template, "spec": spec})


def control_plane() -> Iterator[ControlPlane]:
    """For `pytest.fixture`."""
    plane = ControlPlane()
    yield plane
    plane.close()


def node(name: str, *, cpu: str = "64", memory: str = "256Gi", pods: str = "500", **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": spec,
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": pods}},
    }


def template(app: str, *, image: str = "web:1", requests: Mapping[str, str] | None = None, **spec: Any) -> Object:
    resources = {"requests": dict(requests)} if requests else {}
    container = {
        "name": "main",
        "image": image,
        "resources": resources,
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
    }
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **spec}}


def workload(kind: str, name: str = "web", **spec: Any) -> Object:
    """A Deployment, StatefulSet, DaemonSet or ReplicaSet whose pods bear the label app=<name>."""
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": template(name),
            **({} if kind == "DaemonSet" else {"replicas": 1}),
            **spec,
        },
        "status": {},
    }


def rolling(surge: int | str, unavailable: int | str) -> Object:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def is_ready(pod: Object) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def image_of(pod: Object) -> str:
    return str(pod["spec"]["containers"][0]["image"])
