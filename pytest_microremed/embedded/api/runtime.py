"""What the API server asks of the nodes: the calls that a real one passes on to a kubelet or the metrics server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pytest_microremed.embedded.api.store import Object


@dataclass(frozen=True)
class ExecResult:
    """What a command in a container wrote, and how it ended."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_code: int = 0


@dataclass(frozen=True)
class LogLine:
    time: datetime
    text: str


@dataclass(frozen=True)
class Usage:
    """A sample of what a container or node uses."""

    cpu_cores: float
    memory_bytes: int


class RuntimeRefused(Exception):
    """The kubelet cannot do it (container not running, no such container, no previous one): HTTP status and message."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        super().__init__(message)


class Runtime(Protocol):
    """The nodes, as the API server sees them. Raises `RuntimeRefused`."""

    async def execute(self, pod: Object, container: str, command: Sequence[str], stdin: bytes) -> ExecResult:
        """Run a command in a running container."""

    def logs(self, pod: Object, container: str, *, previous: bool) -> list[LogLine]:
        """What the container, or the one before it, has written so far."""

    def pod_usage(self, pod: Object) -> dict[str, Usage] | None:
        """Usage by container at this moment; None where there is no sample (pod not running)."""

    def node_usage(self, node: Object) -> Usage:
        """Usage of a node at this moment."""
