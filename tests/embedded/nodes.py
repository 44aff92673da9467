"""Pods on a simulated node without a cluster around them, for tests of the shell and of Chaos Mesh."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeVar

from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.runtime import ExecResult
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.images import full_name, pull
from pytest_microremed.embedded.sim.model import Answer, Container, Mount, Nodes, PodSandbox, Volume
from pytest_microremed.embedded.sim.network import Network
from pytest_microremed.embedded.sim.shell import ShellServices, run_command

SPEED = 1000.0
LOGS = "/var/log/service"
T = TypeVar("T")


@dataclass
class Site:
    """A program that serves one page on port 80."""

    status: int = 200
    body: str = "hello\n"

    def listens(self, port: int) -> bool:
        return port == 80

    def answer(self, port: int, path: str) -> Answer | None:
        return Answer(self.status, self.body, 0.01)

    def health(self, port: int) -> None:
        return None

    def seconds(self) -> float:
        return 0.01


@dataclass
class World:
    """A store, a clock, a network and pods. Made inside a running event loop."""

    store: Store = field(default_factory=Store)
    nodes: Nodes = field(default_factory=Nodes)

    def __post_init__(self) -> None:
        self.clock = SimClock(asyncio.get_running_loop(), SPEED)
        self.network = Network(self.store, self.nodes)
        self.services = ShellServices(self.network, self.clock)

    def add_pod(
        self,
        name: str,
        *containers: str,
        image: str = "busybox:1.36",
        labels: dict[str, str] | None = None,
        namespace: str = "shop",
        **spec: Any,
    ) -> PodSandbox:
        """A running pod whose containers serve a page and have the same volume at `LOGS`; also in the store."""
        number = len(self.nodes.pods) + 5
        pod = PodSandbox(namespace, name, f"uid-{name}", "node-1", f"10.244.0.{number}", labels or {"app": "web"})
        pod.volumes["logs"] = Volume("logs")
        for container_name in containers or ("web",):
            limits = {"resources": {"limits": {"cpu": "500m", "memory": "256Mi"}}}
            container = Container(pod, container_name, {"name": container_name, "image": image, **limits, **spec})
            container.image, container.state, container.started = pull(full_name(image)), "running", datetime.now(UTC)
            container.mounts = (Mount(LOGS, pod.volumes["logs"]),)
            container.program = Site()
            container.env = {"PORT": "80"}
            container.spawn(("/srv/server",), started=container.started, cpu=0.01, memory=20 * 2**20)
            pod.containers[container_name] = container
        self.nodes.pods[pod.uid] = pod
        self.store.create(PODS, self._object(pod))
        return pod

    def _object(self, pod: PodSandbox) -> Object:
        meta = {"name": pod.name, "namespace": pod.namespace, "labels": pod.labels}
        spec = {"nodeName": pod.node, "containers": [container.spec for container in pod.containers.values()]}
        status = {"phase": "Running", "podIP": pod.ip}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": status}

    @staticmethod
    def bare_container() -> Container:
        """A container without an image, which has every command."""
        return Container(PodSandbox("shop", "bare", "uid-bare", "node-1", "10.244.0.4"), "bare", {})

    async def execute(self, container: Container, command: Sequence[str], stdin: bytes = b"") -> ExecResult:
        return await run_command(container, command, stdin, self.services)

    async def shell(self, container: Container, script: str) -> ExecResult:
        """`sh -c script`."""
        return await self.execute(container, ["sh", "-c", script])


@dataclass(frozen=True)
class Output:
    """What a script printed, as text."""

    out: str
    err: str
    code: int

    @classmethod
    def of(cls, result: ExecResult) -> Output:
        return cls(result.stdout.decode(), result.stderr.decode(), result.exit_code)


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a test's coroutine to its end, at most 20 real seconds."""
    return asyncio.run(asyncio.wait_for(coroutine, 20))


def in_container(*scripts: str, image: str = "busybox:1.36", **spec: Any) -> Output:
    """The output of the last of these scripts, run one after the other in a container that has a peer 10.244.0.6."""

    async def session() -> Output:
        world = World()
        container = world.add_pod("web-1", image=image, **spec).containers["web"]
        world.add_pod("db-1")
        results = [await world.shell(container, script) for script in scripts]
        return Output.of(results[-1])

    return run(session())


async def until(what: str, condition: Callable[[], bool], patience_s: float = 5.0) -> None:
    """Wait until it holds, at most so many real seconds."""
    for _ in range(int(patience_s / 0.002)):
        if condition():
            return
        await asyncio.sleep(0.002)
    raise TimeoutError(f"waited {patience_s} s for {what}")
