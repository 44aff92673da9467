"""The simulated cluster behind the API server: controllers, scheduler, kubelet, network and Chaos Mesh."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pytest_microremed.embedded.api.runtime import ExecResult, LogLine, Usage
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.chaos import install_crds, start_chaos
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.controllers import start_controllers
from pytest_microremed.embedded.sim.kubelet import Kubelet
from pytest_microremed.embedded.sim.model import Nodes
from pytest_microremed.embedded.sim.network import Network
from pytest_microremed.embedded.sim.scheduler import start_scheduler


class Simulation:
    """Everything that moves in the cluster. Implements `api.runtime.Runtime`; lives on the event loop."""

    def __init__(self, store: Store, loop: asyncio.AbstractEventLoop, speed: float, seed: int = 0) -> None:
        self.store = store
        self.seed = seed
        self.clock = SimClock(loop, speed)
        self.nodes = Nodes()
        self.network = Network(store, self.nodes, seed)
        self.kubelet = Kubelet(store, self.clock, self.nodes, self.network, seed)

    def start(self) -> None:
        """Register the node and start everything that watches the store."""
        self.kubelet.start()
        start_scheduler(self.store, self.clock)
        start_controllers(self.store, self.clock, self.pod_usage)
        install_crds(self.store)
        start_chaos(self.store, self.clock, self.nodes, self.seed)

    def stop(self) -> None:
        """Stop what runs; the store is left as it is."""
        self.kubelet.stop()

    async def execute(self, pod: Object, container: str, command: Sequence[str], stdin: bytes) -> ExecResult:
        """Run a command in a running container."""
        return await self.kubelet.execute(pod, container, command, stdin)

    def logs(self, pod: Object, container: str, *, previous: bool) -> list[LogLine]:
        """What the container, or the one before it, has written so far."""
        return self.kubelet.logs(pod, container, previous=previous)

    def pod_usage(self, pod: Object) -> dict[str, Usage] | None:
        """Usage by container at this moment; None where there is no sample (pod not running)."""
        return self.kubelet.pod_usage(pod)

    def node_usage(self, node: Object) -> Usage:
        """Usage of a node at this moment."""
        return self.kubelet.node_usage(node)
