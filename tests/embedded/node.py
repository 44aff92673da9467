"""A store with a whole simulation on it, in a time that passes at once: waiting for an hour takes no time."""

from __future__ import annotations

import asyncio
import inspect
import selectors
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeVar

from pytest_microremed.embedded.api.resources import (
    ENDPOINTS,
    EVENTS,
    NAMESPACES,
    PODS,
    SERVICE_ACCOUNTS,
    SERVICES,
    Resource,
)
from pytest_microremed.embedded.api.runtime import ExecResult, LogLine
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.model import Container, PodSandbox
from pytest_microremed.embedded.sim.network import Network
from pytest_microremed.embedded.sim.node import NODE_NAME
from pytest_microremed.embedded.sim.simulation import Simulation

NAMESPACE = "shop"
T = TypeVar("T")


class _ImpatientSelector(selectors.DefaultSelector):
    """Puts the clock forward instead of waiting."""

    passed = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise RuntimeError("nothing will ever happen again")
        self.passed += max(0.0, timeout)
        return super().select(0)


class _ImpatientLoop(asyncio.SelectorEventLoop):
    def __init__(self) -> None:
        self._impatient = _ImpatientSelector()
        super().__init__(self._impatient)

    def time(self) -> float:
        return self._impatient.passed


class Node:
    """The simulation, and what tests ask of it. Seconds are simulated ones."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.store = Store()
        self.simulation = Simulation(self.store, loop, speed=1.0)
        self.store.create(NAMESPACES, _object("v1", "Namespace", NAMESPACE, None))
        self.store.create(SERVICE_ACCOUNTS, _object("v1", "ServiceAccount", "default", NAMESPACE))
        self.simulation.start()

    @property
    def network(self) -> Network:
        return self.simulation.network

    async def pass_time(self, seconds: float) -> None:
        await self.simulation.clock.sleep(seconds)

    async def until(self, what: str, condition: Callable[[], T | None], limit_s: float = 120.0) -> T:
        """The first true result of the condition."""
        end = self.simulation.clock.seconds() + limit_s
        while not (result := condition()):
            assert self.simulation.clock.seconds() < end, f"not within {limit_s:g} s: {what}"
            await self.pass_time(0.1)
        return result

    def create(self, resource: Resource, obj: Object) -> Object:
        return self.store.create(resource, obj)

    def run(self, name: str, *containers: Object, labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
        """A pod, already bound to the node."""
        pod = _object("v1", "Pod", name, NAMESPACE)
        pod["metadata"]["labels"] = dict(labels or {"app": name})
        pod["spec"] = {"nodeName": NODE_NAME, "containers": list(containers), **spec}
        pod["status"] = {"phase": "Pending"}
        return self.create(PODS, pod)

    def service(self, name: str, port: int, target_port: int | None = None, **spec: Any) -> Object:
        """A Service for the pods labelled app=name."""
        service = _object("v1", "Service", name, NAMESPACE)
        number = len(self.store.list(SERVICES)) + 20
        service["spec"] = {
            "clusterIP": f"10.96.0.{number}",
            "selector": {"app": name},
            "ports": [{"port": port, "targetPort": target_port or port, "protocol": "TCP"}],
            **spec,
        }
        return self.create(SERVICES, service)

    def pod(self, name: str) -> Object:
        pod = self.store.get(PODS, NAMESPACE, name)
        assert pod is not None, f"no pod {name}"
        return pod

    def status(self, pod: str, index: int = 0) -> Object:
        """The first container's status."""
        statuses: list[Object] = self.pod(pod).get("status", {}).get("containerStatuses") or []
        return statuses[index] if statuses else {"state": {}, "lastState": {}, "ready": False, "restartCount": 0}

    def init_statuses(self, pod: str) -> list[Object]:
        statuses: list[Object] = self.pod(pod)["status"].get("initContainerStatuses") or []
        return statuses

    def condition(self, pod: str, kind: str) -> str:
        conditions = self.pod(pod).get("status", {}).get("conditions") or []
        return str(next((c["status"] for c in conditions if c["type"] == kind), "Unknown"))

    def is_ready(self, pod: str) -> bool:
        return self.condition(pod, "Ready") == "True"

    async def ready(self, *pods: str, limit_s: float = 120.0) -> None:
        for pod in pods:
            await self.until(f"{pod} ready", lambda pod=pod: self.is_ready(pod), limit_s)  # type: ignore[misc]

    async def waiting(self, pod: str, reason: str, limit_s: float = 120.0) -> Object:
        """The container's waiting state, once it is for that reason."""

        def state() -> Object | None:
            waiting: Object = self.status(pod)["state"].get("waiting") or {}
            return waiting if waiting.get("reason") == reason else None

        return await self.until(f"{pod} waiting for {reason}", state, limit_s)

    def sandbox(self, pod: str) -> PodSandbox:
        sandbox = self.simulation.nodes.find(NAMESPACE, pod)
        assert sandbox is not None, f"no sandbox of {pod}"
        return sandbox

    def container(self, pod: str, name: str = "server") -> Container:
        return self.sandbox(pod).containers[name]

    def events(self, reason: str) -> list[str]:
        """Messages of the events of that reason, the last one told last."""
        found = [event for event in self.store.list(EVENTS, NAMESPACE) if event["reason"] == reason]
        return [e["message"] for e in sorted(found, key=lambda e: int(e["metadata"]["resourceVersion"]))]

    def log(self, pod: str, container: str = "server", *, previous: bool = False) -> str:
        lines: list[LogLine] = self.simulation.logs(self.pod(pod), container, previous=previous)
        return "\n".join(line.text for line in lines)

    async def execute(self, pod: str, *command: str, container: str = "server") -> ExecResult:
        return await self.simulation.execute(self.pod(pod), container, command, b"")

    def endpoints(self, name: str) -> list[str]:
        obj = self.store.get(ENDPOINTS, NAMESPACE, name) or {}
        return [a["ip"] for subset in obj.get("subsets") or () for a in subset.get("addresses") or ()]


def on_a_node(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """Run a coroutine as a test, with a `Node` as its first argument."""

    def run(*args: Any, **kwargs: Any) -> None:
        loop = _ImpatientLoop()
        try:
            loop.run_until_complete(_drive(test, loop, args, kwargs))
        finally:
            loop.close()

    signature = inspect.signature(test)
    run.__name__, run.__doc__ = test.__name__, test.__doc__
    run.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=list(signature.parameters.values())[1:], return_annotation=None
    )
    return run


async def _drive(test: Callable[..., Awaitable[None]], loop: asyncio.AbstractEventLoop, args: Any, kwargs: Any) -> None:
    failures: list[str] = []
    loop.set_exception_handler(lambda _, context: failures.append(str(context)))
    node = Node(loop)
    try:
        await test(node, *args, **kwargs)
    finally:
        node.simulation.stop()
        await asyncio.sleep(0)
    assert not failures, failures


def server(image: str = "redis:7", port: int = 6379, **fields: Any) -> Object:
    """A container of that image with a TCP readiness probe on its port."""
    return {
        "name": "server",
        "image": image,
        "ports": [{"containerPort": port}],
        "readinessProbe": {"tcpSocket": {"port": port}, "periodSeconds": 5},
        **fields,
    }


def limits(cpu: str | None = None, memory: str | None = None) -> Object:
    return {"limits": {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}}


def environment(**values: str) -> list[Object]:
    return [{"name": name, "value": value} for name, value in values.items()]


def _object(api_version: str, kind: str, name: str, namespace: str | None) -> Object:
    metadata: Object = {"name": name}
    if namespace:
        metadata["namespace"] = namespace
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}
