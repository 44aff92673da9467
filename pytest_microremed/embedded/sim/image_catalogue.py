"""Which images the registries of the simulated cluster hold, with the profile of the program in each.

The figures are of the order that the public systems show at rest (Online Boutique, Train Ticket, stock
images); they need to be right in relation to the limits of the systems' manifests, not to the per cent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from pytest_microremed.embedded.sim.profiles import MIB, Profile

_PROBE = frozenset({"grpc_health_probe"})
_GO = Profile(
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
    tools=_PROBE,
)
_NODE = Profile(
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
    tools=_PROBE | {"node"},
    size=80 * MIB,
)
_PYTHON = Profile(
    "python",
    ("python", "server.py"),
    style="python",
    protocol="grpc",
    cpu_idle=0.015,
    cpu_start=0.6,
    cpu_request=0.002,
    minimum_cpu=0.01,
    memory=48 * MIB,
    tools=_PROBE | {"python", "python3", "pip"},
    size=90 * MIB,
)
_SPRING = Profile(
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
_NGINX = Profile(
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
_MYSQL = Profile(
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
_REDIS = Profile(
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
_RABBITMQ = Profile(
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
_DATABASE = Profile(
    "database",
    ("docker-entrypoint.sh",),
    runs_commands=True,
    protocol="tcp",
    cpu_idle=0.01,
    cpu_start=1.0,
    memory=90 * MIB,
    size=120 * MIB,
)
_PYTHON_STOCK = Profile(
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
_PAUSE = Profile(
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


def _shell(name: str, userland: Literal["busybox", "debian"], size: int, *tools: str) -> Profile:
    """An image made to run commands in; alone, its shell ends for want of a terminal."""
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


_SERVICES = (
    "PRODUCT_CATALOG",
    "CURRENCY",
    "CART",
    "RECOMMENDATION",
    "CHECKOUT",
    "SHIPPING",
    "AD",
    "EMAIL",
    "PAYMENT",
)
_ADDRESSES = {service: f"{service}_SERVICE_ADDR" for service in _SERVICES}

BOUTIQUE: Mapping[str, Profile] = {
    "frontend": replace(
        _GO,
        protocol="http",
        cpu_idle=0.02,
        memory=32 * MIB,
        required_env=tuple(_ADDRESSES[service] for service in _SERVICES[:7]),
    ),
    "checkoutservice": replace(
        _GO,
        memory=26 * MIB,
        required_env=tuple(
            _ADDRESSES[service] for service in ("SHIPPING", "PRODUCT_CATALOG", "CART", "CURRENCY", "EMAIL", "PAYMENT")
        ),
    ),
    "productcatalogservice": replace(_GO, cpu_idle=0.012, default_port=3550),
    "shippingservice": replace(_GO, default_port=50051),
    "currencyservice": replace(_NODE, cpu_idle=0.02),
    "paymentservice": replace(_NODE, entrypoint=("node", "index.js")),
    "emailservice": replace(_PYTHON, entrypoint=("python", "email_server.py"), default_port=8080),
    "recommendationservice": replace(
        _PYTHON,
        entrypoint=("python", "recommendation_server.py"),
        memory=58 * MIB,
        required_env=(_ADDRESSES["PRODUCT_CATALOG"],),
    ),
    "cartservice": Profile(
        "cartservice",
        ("/app/cartservice",),
        style="dotnet",
        protocol="grpc",
        default_port=7070,
        cpu_idle=0.015,
        cpu_start=0.8,
        cpu_request=0.002,
        minimum_cpu=0.01,
        memory=52 * MIB,
        userland="busybox",
        tools=_PROBE,
    ),
    "adservice": Profile(
        "adservice",
        ("java", "-jar", "/app/hipstershop-adservice.jar"),
        style="go",
        protocol="grpc",
        default_port=9555,
        cpu_idle=0.012,
        cpu_start=2.5,
        cpu_request=0.002,
        minimum_cpu=0.02,
        memory=88 * MIB,
        userland="busybox",
        tools=_PROBE | {"java"},
        size=150 * MIB,
    ),
    "loadgenerator": Profile(
        "loadgenerator",
        ("python", "/usr/local/bin/locust", "--headless"),
        role="client",
        style="locust",
        cpu_idle=0.04,
        cpu_start=0.6,
        memory=66 * MIB,
        required_env=("FRONTEND_ADDR",),
        tools=frozenset({"python", "python3"}),
        size=120 * MIB,
    ),
}
_BOUTIQUE_REPOSITORY = re.compile(
    r"(?:gcr\.io|us-central1-docker\.pkg\.dev)/google-samples/microservices-demo/([a-z]+)"
)

_TS = r"docker\.io/codewisdom/"
_HUB = r"docker\.io/(library|bitnami|bitnamilegacy)/"
_NETWORK_TOOLS = (
    *("curl", "dig", "nslookup", "ip", "tc", "ping", "nc", "ss"),
    *("tcpdump", "traceroute", "iperf3", "jq"),
)
STOCK: tuple[tuple[str, Profile], ...] = (
    (_TS + "ts-ui-dashboard", replace(_NGINX, ports=(8080,), memory=40 * MIB, cpu_idle=0.005)),
    (_TS + "ts-(voucher|avatar)-service", replace(_PYTHON, protocol="http")),
    (_TS + "ts-ticket-office-service", replace(_NODE, protocol="http")),
    (_TS + "ts-news-service", replace(_GO, protocol="http")),
    (_TS + "ts-[a-z0-9-]+", _SPRING),
    (
        r"docker\.io/nacos/nacos-server",
        replace(
            _SPRING,
            name="nacos",
            entrypoint=("bin/docker-startup.sh",),
            ports=(8848, 9848, 9849),
            cpu_idle=0.03,
            cpu_start=8.0,
            memory=520 * MIB,
            waits_for_dependencies=False,
        ),
    ),
    (_HUB + "(mysql|mariadb|percona)", _MYSQL),
    (r"docker\.io/(mysql/mysql-server|nacos/nacos-mysql)", _MYSQL),
    (_HUB + "(redis|valkey)", _REDIS),
    (_HUB + "rabbitmq", _RABBITMQ),
    (_HUB + "(postgres|postgresql|mongo|mongodb|memcached|zookeeper|consul)", _DATABASE),
    (_HUB + "(nginx|httpd|caddy|haproxy)", _NGINX),
    (r"docker\.io/(nginxinc/nginx-unprivileged|openresty/openresty)", replace(_NGINX, ports=(8080,))),
    (_HUB + "python", _PYTHON_STOCK),
    (_HUB + "busybox", _shell("busybox", "busybox", 2)),
    (_HUB + "alpine", _shell("alpine", "busybox", 4)),
    (
        _HUB + "(ubuntu|debian|bash|perl|ruby|golang|node|openjdk|eclipse-temurin)",
        _shell("debian", "debian", 50),
    ),
    (
        r"docker\.io/(curlimages|alpine)/curl",
        replace(_shell("curl", "busybox", 9, "curl"), entrypoint=("curl",)),
    ),
    (
        r"docker\.io/(nicolaka/netshoot|praqma/network-multitool|wbitt/network-multitool)",
        _shell("netshoot", "busybox", 180, *_NETWORK_TOOLS),
    ),
    (
        r"docker\.io/(bitnami|bitnamilegacy|rancher|alpine)/(kubectl|k8s)|registry\.k8s\.io/kubectl",
        _shell("kubectl", "debian", 60, "kubectl"),
    ),
    (
        r"(registry\.k8s\.io|k8s\.gcr\.io|gcr\.io/google[-_]containers|docker\.io/rancher)/(mirrored-)?pause",
        _PAUSE,
    ),
)


def find_profile(repository: str, tag: str) -> Profile | None:
    """The program in the image of that full repository name (`docker.io/library/redis`), if there is one."""
    if match := _BOUTIQUE_REPOSITORY.fullmatch(repository):
        profile = BOUTIQUE.get(match[1])
        distroless = profile is not None and profile.name == "go" and not tag.startswith("v0.3.")
        return replace(profile, userland="none", tools=frozenset()) if profile and distroless else profile
    for pattern, profile in STOCK:
        if re.fullmatch(pattern, repository):
            if profile is _SPRING:
                name = repository.rpartition("/")[2]
                return replace(profile, entrypoint=("java", "-Xmx200m", "-jar", f"/app/{name}-1.0.jar"))
            return profile
    return None
