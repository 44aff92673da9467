"""What the programs in images are and need: entry point, ports, CPU, memory, and the tools beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MIB = 2**20

Style = Literal[
    "plain",
    "go",
    "spring",
    "dotnet",
    "node",
    "python",
    "locust",
    "redis",
    "mysql",
    "rabbitmq",
    "nginx",
    "http.server",
]
"""How a program writes its log."""


@dataclass(frozen=True)
class Profile:
    """A program in an image, as run without overriding its command."""

    name: str
    entrypoint: tuple[str, ...]
    runs_commands: bool = False
    """Arguments that name a program of the image run it instead (CMD, or an entry script like Docker's own)."""
    role: Literal["server", "client", "shell", "pause"] = "server"
    """server listens; client calls others; shell ends without a terminal; pause does nothing for ever."""
    style: Style = "plain"
    protocol: Literal["http", "grpc", "tcp"] = "http"
    ports: tuple[int, ...] = ()
    """Where it listens whatever the environment says; () = the variable PORT, else the container's ports."""
    default_port: int | None = None
    """Where it listens if neither PORT nor a container port is given."""
    cpu_idle: float = 0.005
    """Cores at rest, under the little load that there is."""
    cpu_start: float = 0.05
    """CPU seconds until it listens."""
    cpu_request: float = 0.001
    """CPU seconds for a small request."""
    minimum_cpu: float = 0.004
    """Cores below which its timers and runtime eat all that it gets, so that it never comes up."""
    memory: int = 16 * MIB
    """Working set in bytes."""
    required_env: tuple[str, ...] = ()
    """It exits at once if one of them is missing; alternatives are separated by |."""
    waits_for_dependencies: bool = False
    """It does not listen before its dependencies can be addressed (Spring Boot finds Nacos first)."""
    userland: Literal["none", "busybox", "debian"] = "debian"
    """none = distroless: no shell, no tools."""
    tools: frozenset[str] = frozenset()
    """Programs beyond the userland's own."""
    size: int = 30 * MIB
    """Bytes of the image."""
