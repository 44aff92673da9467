"""What the simulated shell needs of the world around the container."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.node import KERNEL, NODE_NAME
from pytest_microremed.embedded.sim.usage import NODE_CORES, NODE_MEMORY

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.network import Network


@dataclass(frozen=True)
class NodeFacts:
    """What a container can see of its node."""

    name: str = NODE_NAME
    cores: int = NODE_CORES
    memory_bytes: int = NODE_MEMORY
    kernel: str = KERNEL
    load: float = 0.4
    """Load average of what runs beside the pods."""


class SessionClock(SimClock):
    """The cluster's clock, which also knows how long the commands of one session have waited."""

    def __init__(self, clock: SimClock) -> None:
        super().__init__(clock.loop, clock.speed)
        self._clock = clock
        self.waited = 0.0
        """Simulated seconds."""

    async def sleep(self, seconds: float) -> None:
        """Wait for so many simulated seconds."""
        self.waited += max(seconds, 1e-9)
        await self._clock.sleep(seconds)

    def session_now(self) -> datetime:
        """The time of day as the session's commands see it: what they waited has passed in full."""
        return self.now() + timedelta(seconds=self.waited * (1 - 1 / self.speed))


@dataclass(frozen=True)
class ShellServices:
    """The network, the time and the node."""

    network: Network
    clock: SimClock
    node: NodeFacts = field(default_factory=NodeFacts)

    def now(self) -> datetime:
        """The time of day, for commands that print it or take it twice."""
        return self.clock.session_now() if isinstance(self.clock, SessionClock) else self.clock.now()

    @property
    def waited(self) -> float:
        """Simulated seconds that this session's commands have waited."""
        return self.clock.waited if isinstance(self.clock, SessionClock) else 0.0
