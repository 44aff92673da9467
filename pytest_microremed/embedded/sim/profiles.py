"""What the programs in known images are and need: entry point, ports, CPU, memory, and the tools beside them.

The figures are of the order that the public systems show at rest (Online Boutique, Train Ticket, small stock images);
they need to be right in relation to the limits of the systems' manifests, not to the per cent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

MIB = 2**20

Style = Literal[
    "plain", "go", "spring", "dotnet", "node", "python", "locust", "redis", "mysql", "rabbitmq", "nginx", "http.server"
]
"""How a program writes its log."""


@dataclass(frozen=True)
class Profile:
    """A program in an image, as run without overriding its command."""

    name: str
    entrypoint: tuple[str, ...]
    role: Literal["server", "client", "shell", "pause"] = "server"
    """server listens; client only calls others; shell ends at once without a terminal; pause does nothing for ever."""
    style: Style = "plain"
    protocol: Literal["http", "grpc", "tcp"] = "http"
    ports: tuple[int, ...] = ()
    """Ports it listens on whatever the environment says; () = the variable PORT, else the container's ports."""
    default_port: int | None = None
    """Where it listens if neither PORT nor a container port is given."""
    cpu_idle: float = 0.005
    """Cores at rest, under the little load that there is."""
    cpu_start: float = 0.05
    """CPU seconds until it listens."""
    cpu_request: float = 0.001
    """CPU seconds for a small request."""
    minimum_cpu: float = 0.004
    """Cores below which its timers and runtime eat all it gets, so that it never comes up."""
    memory: int = 16 * MIB
    """Working set in bytes."""
    required_env: tuple[str, ...] = ()
    """It exits at once if one of them is missing; alternatives are separated by |."""
    waits_for_dependencies: bool = False
    """It does not listen before its dependencies can be addressed (Spring Boot registers with Nacos first)."""
    userland: Literal["none", "busybox", "debian"] = "debian"
    """none = distroless: no shell, no tools."""
    tools: frozenset[str] = frozenset()
    """Programs beyond the userland's own."""
    size: int = 30 * MIB
    """Bytes of the image."""


PROBE = frozenset({"grpc_health_probe"})

_GO = Profile("go", ("/src/server",), style="go", protocol="grpc", cpu_idle=0.008, cpu_start=0.06,
              cpu_request=0.002, minimum_cpu=0.005, memory=22 * MIB, userland="busybox", tools=PROBE)  # fmt: skip
_NODE = Profile("node", ("node", "server.js"), style="node", protocol="grpc", cpu_idle=0.012, cpu_start=0.5,
                cpu_request=0.002, minimum_cpu=0.01, memory=62 * MIB, userland="busybox",
                tools=PROBE | {"node"}, size=80 * MIB)  # fmt: skip
_PYTHON = Profile("python", ("python", "server.py"), style="python", protocol="grpc", cpu_idle=0.015, cpu_start=0.6,
                  cpu_request=0.002, minimum_cpu=0.01, memory=48 * MIB, tools=PROBE | {"python", "python3", "pip"},
                  size=90 * MIB)  # fmt: skip
_SPRING = Profile("java", ("java", "-Xmx200m", "-jar", "/app/app.jar"), style="spring", protocol="http",
                  cpu_idle=0.02, cpu_start=14.0, cpu_request=0.002, minimum_cpu=0.03, memory=380 * MIB,
                  waits_for_dependencies=True, tools=frozenset({"java", "ps"}), size=190 * MIB)  # fmt: skip

CATALOG, CURRENCY, CART, SHIPPING = (
    f"{name}_SERVICE_ADDR" for name in ("PRODUCT_CATALOG", "CURRENCY", "CART", "SHIPPING")
)

BOUTIQUE: dict[str, Profile] = {
    "frontend": replace(_GO, protocol="http", cpu_idle=0.02, memory=32 * MIB, required_env=(
        CATALOG, CURRENCY, CART, "RECOMMENDATION_SERVICE_ADDR", "CHECKOUT_SERVICE_ADDR", SHIPPING, "AD_SERVICE_ADDR",
    )),
    "checkoutservice": replace(_GO, memory=26 * MIB, required_env=(
        SHIPPING, CATALOG, CART, CURRENCY, "EMAIL_SERVICE_ADDR", "PAYMENT_SERVICE_ADDR",
    )),
    "productcatalogservice": replace(_GO, cpu_idle=0.012, default_port=3550),
    "shippingservice": replace(_GO, default_port=50051),
    "currencyservice": replace(_NODE, cpu_idle=0.02),
    "paymentservice": replace(_NODE, entrypoint=("node", "index.js")),
    "emailservice": replace(_PYTHON, entrypoint=("python", "email_server.py"), default_port=8080),
    "recommendationservice": replace(
        _PYTHON, entrypoint=("python", "recommendation_server.py"), memory=58 * MIB, required_env=(CATALOG,)
    ),
    "cartservice": Profile(
        "cartservice", ("/app/cartservice",), style="dotnet", protocol="grpc", default_port=7070, cpu_idle=0.015,
        cpu_start=0.8, cpu_request=0.002, minimum_cpu=0.01, memory=52 * MIB, userland="busybox", tools=PROBE,
    ),
    "adservice": Profile(
        "adservice", ("java", "-jar", "/app/hipstershop-adservice.jar"), style="go", protocol="grpc",
        default_port=9555, cpu_idle=0.012, cpu_start=2.5, cpu_request=0.002, minimum_cpu=0.02, memory=88 * MIB,
        userland="busybox", tools=PROBE | {"java"}, size=150 * MIB,
    ),
    "loadgenerator": Profile(
        "loadgenerator", ("python", "/usr/local/bin/locust", "--headless"), role="client", style="locust",
        cpu_idle=0.04, cpu_start=0.6, memory=66 * MIB, required_env=("FRONTEND_ADDR",),
        tools=frozenset({"python", "python3"}), size=120 * MIB,
    ),
}  # fmt: skip

_PYTHON_STOCK = Profile("python", ("python3",), role="shell", style="http.server", cpu_idle=0.006, cpu_start=0.15,
                        minimum_cpu=0.005, memory=25 * MIB, tools=frozenset({"python", "python3", "pip"}),
                        size=48 * MIB)  # fmt: skip
_NGINX = Profile("nginx", ("nginx", "-g", "daemon off;"), style="nginx", ports=(80,), cpu_idle=0.002,
                 cpu_start=0.03, cpu_request=0.0005, memory=9 * MIB, tools=frozenset({"nginx", "curl"}),
                 size=70 * MIB)  # fmt: skip
_MYSQL = Profile("mysql", ("mysqld",), style="mysql", protocol="tcp", ports=(3306,), cpu_idle=0.012, cpu_start=2.0,
                 minimum_cpu=0.02, memory=350 * MIB, required_env=(
                     "MYSQL_ROOT_PASSWORD|MYSQL_ALLOW_EMPTY_PASSWORD|MYSQL_RANDOM_ROOT_PASSWORD|MYSQL_ROOT_PASSWORD_FILE",
                 ), tools=frozenset({"mysql", "mysqladmin", "mysqld"}), size=170 * MIB)  # fmt: skip
_PAUSE = Profile("pause", ("/pause",), role="pause", cpu_idle=0.0, cpu_start=0.0, minimum_cpu=0.0, memory=MIB // 2,
                 userland="none", size=MIB // 3)  # fmt: skip


def _shell(name: str, userland: Literal["busybox", "debian"], size: int, *tools: str) -> Profile:
    """An image made to run commands in; alone, its shell ends for want of a terminal."""
    return Profile(name, ("sh",) if userland == "busybox" else ("bash",), role="shell", cpu_idle=0.0, cpu_start=0.0,
                   minimum_cpu=0.0, memory=MIB, userland=userland, tools=frozenset(tools), size=size)  # fmt: skip


NETWORK_TOOLS = ("curl", "dig", "nslookup", "ip", "tc", "ping", "nc", "ss", "tcpdump", "traceroute", "iperf3", "jq")

STOCK: tuple[tuple[str, Profile], ...] = (
    (r"docker\.io/codewisdom/ts-ui-dashboard", replace(_NGINX, name="ts-ui-dashboard", ports=(8080,), memory=40 * MIB,
                                                      cpu_idle=0.005)),
    (r"docker\.io/codewisdom/ts-(voucher|avatar)-service", replace(_PYTHON, protocol="http")),
    (r"docker\.io/codewisdom/ts-ticket-office-service", replace(_NODE, protocol="http")),
    (r"docker\.io/codewisdom/ts-news-service", replace(_GO, protocol="http")),
    (r"docker\.io/codewisdom/ts-[a-z0-9-]+", _SPRING),
    (r"docker\.io/(nacos/nacos-server|codewisdom/nacos.*)", replace(
        _SPRING, name="nacos", entrypoint=("bin/docker-startup.sh",), ports=(8848, 9848, 9849), cpu_idle=0.03,
        memory=520 * MIB, cpu_start=8.0, waits_for_dependencies=False)),
    (r"docker\.io/(library|bitnami|bitnamilegacy|percona)/(mysql|mariadb|percona)(-server)?", _MYSQL),
    (r"docker\.io/(mysql/mysql-server|nacos/nacos-mysql)", _MYSQL),
    (r"docker\.io/(library|bitnami|bitnamilegacy)/(redis|valkey)", Profile(
        "redis", ("redis-server",), style="redis", protocol="tcp", ports=(6379,), cpu_idle=0.005, cpu_start=0.05,
        cpu_request=0.0003, memory=8 * MIB, tools=frozenset({"redis-cli", "redis-server"}), size=17 * MIB)),
    (r"docker\.io/(library|bitnami|bitnamilegacy)/rabbitmq", Profile(
        "rabbitmq", ("rabbitmq-server",), style="rabbitmq", protocol="tcp", ports=(5672, 15672, 25672),
        cpu_idle=0.012, cpu_start=3.0, minimum_cpu=0.02, memory=120 * MIB,
        tools=frozenset({"rabbitmqctl", "rabbitmq-diagnostics"}), size=100 * MIB)),
    (r"docker\.io/library/python", _PYTHON_STOCK),
    (r"docker\.io/(library/nginx|nginxinc/nginx-unprivileged|openresty/openresty)", _NGINX),
    (r"docker\.io/library/(httpd|caddy|haproxy|traefik)", replace(_NGINX, name="httpd")),
    (r"docker\.io/library/(postgres|mongo|memcached|zookeeper|consul|elasticsearch)", Profile(
        "database", ("docker-entrypoint.sh",), protocol="tcp", cpu_idle=0.01, cpu_start=1.0, memory=90 * MIB,
        size=120 * MIB)),
    (r"docker\.io/library/busybox", _shell("busybox", "busybox", 2 * MIB)),
    (r"docker\.io/library/alpine", _shell("alpine", "busybox", 4 * MIB)),
    (r"docker\.io/library/(ubuntu|debian|bash|buildpack-deps|perl|ruby|golang|node|openjdk|eclipse-temurin)",
     _shell("debian", "debian", 50 * MIB)),
    (r"docker\.io/(curlimages/curl|alpine/curl|yauritux/busybox-curl)", _shell("curl", "busybox", 9 * MIB, "curl")),
    (r"docker\.io/(nicolaka/netshoot|praqma/network-multitool|wbitt/network-multitool|gophernet/netshoot)",
     _shell("netshoot", "busybox", 180 * MIB, *NETWORK_TOOLS)),
    (r"docker\.io/(bitnami|bitnamilegacy|rancher|alpine)/(kubectl|k8s)|registry\.k8s\.io/kubectl",
     _shell("kubectl", "debian", 60 * MIB, "kubectl")),
    (r"(registry\.k8s\.io|k8s\.gcr\.io|gcr\.io/google[-_]containers|docker\.io/rancher(/mirrored)?|"
     r"docker\.io/kubernetes)(/mirrored-pause|/pause(-amd64)?|-pause)", _PAUSE),
)  # fmt: skip

BOUTIQUE_REGISTRIES = re.compile(
    r"(?:gcr\.io/google-samples|us-central1-docker\.pkg\.dev/google-samples)/microservices-demo/([a-z]+)"
)


def find_profile(repository: str, tag: str) -> Profile | None:
    """The program in an image of that full repository name (`docker.io/library/redis`); None = there is none."""
    if match := BOUTIQUE_REGISTRIES.fullmatch(repository):
        profile = BOUTIQUE.get(match[1])
        if profile and profile.style == "go" and profile.entrypoint[0] != "java" and not tag.startswith("v0.3."):
            return replace(profile, userland="none", tools=frozenset())  # distroless since v0.4
        return profile
    for pattern, profile in STOCK:
        if re.fullmatch(pattern, repository):
            if profile is _SPRING:
                name = repository.rsplit("/", 1)[-1]
                return replace(profile, entrypoint=("java", "-Xmx200m", "-jar", f"/app/{name}-1.0.jar"))
            return profile
    return None
