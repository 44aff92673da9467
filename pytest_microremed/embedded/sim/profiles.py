"""What the programs in images are and need: entry point, ports, CPU, memory, and the tools beside them.

The figures are of the order that the public systems show at rest; they need to be right in relation to the limits
of the systems' manifests, not to the per cent.
"""

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


HEALTH_PROBE = frozenset({"grpc_health_probe"})
GO = Profile(
    "go",
    ("/src/server",),
    style="go",
    protocol="grpc",
    cpu_idle=0.008,
    cpu_start=0.06,
    cpu_request=0.002,
    minimum_cpu=0.005,
    memory=22 * MIB,
    userland="busybox",
    tools=HEALTH_PROBE,
)
NODE = Profile(
    "node",
    ("node", "server.js"),
    style="node",
    protocol="grpc",
    cpu_idle=0.012,
    cpu_start=0.5,
    cpu_request=0.002,
    minimum_cpu=0.01,
    memory=62 * MIB,
    userland="busybox",
    tools=HEALTH_PROBE | {"node"},
    size=80 * MIB,
)
PYTHON = Profile(
    "python",
    ("python", "server.py"),
    style="python",
    protocol="grpc",
    cpu_idle=0.015,
    cpu_start=0.6,
    cpu_request=0.002,
    minimum_cpu=0.01,
    memory=48 * MIB,
    tools=HEALTH_PROBE | {"python", "python3", "pip"},
    size=90 * MIB,
)
SPRING = Profile(
    "java",
    ("java", "-Xmx200m", "-jar", "/app/app.jar"),
    style="spring",
    cpu_idle=0.02,
    cpu_start=14.0,
    cpu_request=0.002,
    minimum_cpu=0.03,
    memory=380 * MIB,
    waits_for_dependencies=True,
    tools=frozenset({"java", "ps"}),
    size=190 * MIB,
)
NGINX = Profile(
    "nginx",
    ("nginx", "-g", "daemon off;"),
    runs_commands=True,
    style="nginx",
    ports=(80,),
    cpu_idle=0.002,
    cpu_start=0.03,
    cpu_request=0.0005,
    memory=9 * MIB,
    tools=frozenset({"nginx", "curl"}),
    size=70 * MIB,
)
MYSQL = Profile(
    "mysql",
    ("mysqld",),
    runs_commands=True,
    style="mysql",
    protocol="tcp",
    ports=(3306,),
    cpu_idle=0.012,
    cpu_start=2.0,
    minimum_cpu=0.02,
    memory=350 * MIB,
    required_env=(
        "MYSQL_ROOT_PASSWORD|MYSQL_ALLOW_EMPTY_PASSWORD|MYSQL_RANDOM_ROOT_PASSWORD|MYSQL_ROOT_PASSWORD_FILE",
    ),
    tools=frozenset({"mysql", "mysqladmin", "mysqld"}),
    size=170 * MIB,
)
REDIS = Profile(
    "redis",
    ("redis-server",),
    runs_commands=True,
    style="redis",
    protocol="tcp",
    ports=(6379,),
    cpu_start=0.05,
    cpu_request=0.0003,
    memory=8 * MIB,
    tools=frozenset({"redis-cli", "redis-server"}),
    size=17 * MIB,
)
RABBITMQ = Profile(
    "rabbitmq",
    ("rabbitmq-server",),
    runs_commands=True,
    style="rabbitmq",
    protocol="tcp",
    ports=(5672, 15672, 25672),
    cpu_idle=0.012,
    cpu_start=3.0,
    minimum_cpu=0.02,
    memory=120 * MIB,
    tools=frozenset({"rabbitmqctl", "rabbitmq-diagnostics"}),
    size=100 * MIB,
)
DATABASE = Profile(
    "database",
    ("docker-entrypoint.sh",),
    runs_commands=True,
    protocol="tcp",
    cpu_idle=0.01,
    cpu_start=1.0,
    memory=90 * MIB,
    size=120 * MIB,
)
PYTHON_STOCK = Profile(
    "python",
    ("python3",),
    runs_commands=True,
    role="shell",
    style="http.server",
    cpu_idle=0.006,
    cpu_start=0.15,
    cpu_request=0.003,
    minimum_cpu=0.005,
    memory=25 * MIB,
    tools=frozenset({"python", "python3", "pip"}),
    size=48 * MIB,
)
PAUSE = Profile(
    "pause",
    ("/pause",),
    role="pause",
    cpu_idle=0.0,
    cpu_start=0.0,
    minimum_cpu=0.0,
    memory=MIB // 2,
    userland="none",
    size=MIB // 3,
)


def shell_image(name: str, userland: Literal["busybox", "debian"], size: int, *tools: str) -> Profile:
    """An image of `size` MiB made to run commands in; alone, its shell ends for want of a terminal."""
    entrypoint = ("sh",) if userland == "busybox" else ("bash",)
    return Profile(
        name,
        entrypoint,
        runs_commands=True,
        role="shell",
        cpu_idle=0.0,
        cpu_start=0.0,
        minimum_cpu=0.0,
        memory=MIB,
        userland=userland,
        tools=frozenset(tools),
        size=size * MIB,
    )
