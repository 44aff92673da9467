"""What the parts of a kubelet share: the store, time, network, images and volumes of its node."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim import events
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.image_store import ImageStore
from pytest_microremed.embedded.sim.network import Network
from pytest_microremed.embedded.sim.node import NODE_IP, NODE_NAME
from pytest_microremed.embedded.sim.probe_handlers import ProbeHandlers
from pytest_microremed.embedded.sim.shell import ShellServices
from pytest_microremed.embedded.sim.volumes import Volumes


@dataclass(frozen=True)
class NodeContext:
    store: Store
    clock: SimClock
    network: Network
    images: ImageStore
    volumes: Volumes
    probes: ProbeHandlers
    shell: ShellServices
    seed: int
    name: str = NODE_NAME
    ip: str = NODE_IP

    def random(self, name: str) -> random.Random:
        """A reproducible sequence of its own for that name."""
        return random.Random(f"{self.seed}/{name}")

    def event(
        self,
        obj: Object,
        type_: Literal["Normal", "Warning"],
        reason: str,
        message: str,
        field_path: str = "",
    ) -> None:
        """Tell of a pod, or one of its containers (`spec.containers{web}`), as the kubelet."""
        events.record(
            self.store,
            self.clock,
            obj,
            type_,
            reason,
            message,
            "kubelet",
            host=self.name,
            field_path=field_path,
        )
