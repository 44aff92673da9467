"""Which images the registries of the simulated cluster hold: those of the systems, and stock ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pytest_microremed.embedded.sim.profiles import (
    DATABASE,
    GO,
    HEALTH_PROBE,
    MIB,
    MYSQL,
    NGINX,
    NODE,
    PAUSE,
    PYTHON,
    PYTHON_STOCK,
    RABBITMQ,
    REDIS,
    SPRING,
    Profile,
    shell_image,
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
        GO,
        protocol="http",
        cpu_idle=0.02,
        memory=32 * MIB,
        required_env=tuple(_ADDRESSES[service] for service in _SERVICES[:7]),
    ),
    "checkoutservice": replace(
        GO,
        memory=26 * MIB,
        required_env=tuple(
            _ADDRESSES[service] for service in ("SHIPPING", "PRODUCT_CATALOG", "CART", "CURRENCY", "EMAIL", "PAYMENT")
        ),
    ),
    "productcatalogservice": replace(GO, cpu_idle=0.012, default_port=3550),
    "shippingservice": replace(GO, default_port=50051),
    "currencyservice": replace(NODE, cpu_idle=0.02),
    "paymentservice": replace(NODE, entrypoint=("node", "index.js")),
    "emailservice": replace(PYTHON, entrypoint=("python", "email_server.py"), default_port=8080),
    "recommendationservice": replace(
        PYTHON,
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
        tools=HEALTH_PROBE,
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
        tools=HEALTH_PROBE | {"java"},
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
    (_TS + "ts-ui-dashboard", replace(NGINX, ports=(8080,), memory=40 * MIB, cpu_idle=0.005)),
    (_TS + "ts-(voucher|avatar)-service", replace(PYTHON, protocol="http")),
    (_TS + "ts-ticket-office-service", replace(NODE, protocol="http")),
    (_TS + "ts-news-service", replace(GO, protocol="http")),
    (_TS + "ts-[a-z0-9-]+", SPRING),
    (
        r"docker\.io/nacos/nacos-server",
        replace(
            SPRING,
            name="nacos",
            entrypoint=("bin/docker-startup.sh",),
            ports=(8848, 9848, 9849),
            cpu_idle=0.03,
            cpu_start=8.0,
            memory=520 * MIB,
            waits_for_dependencies=False,
        ),
    ),
    (_HUB + "(mysql|mariadb|percona)", MYSQL),
    (r"docker\.io/(mysql/mysql-server|nacos/nacos-mysql)", MYSQL),
    (_HUB + "(redis|valkey)", REDIS),
    (_HUB + "rabbitmq", RABBITMQ),
    (_HUB + "(postgres|postgresql|mongo|mongodb|memcached|zookeeper|consul)", DATABASE),
    (_HUB + "(nginx|httpd|caddy|haproxy)", NGINX),
    (r"docker\.io/(nginxinc/nginx-unprivileged|openresty/openresty)", replace(NGINX, ports=(8080,))),
    (_HUB + "python", PYTHON_STOCK),
    (_HUB + "busybox", shell_image("busybox", "busybox", 2)),
    (_HUB + "alpine", shell_image("alpine", "busybox", 4)),
    (
        _HUB + "(ubuntu|debian|bash|perl|ruby|golang|node|openjdk|eclipse-temurin)",
        shell_image("debian", "debian", 50),
    ),
    (
        r"docker\.io/(curlimages|alpine)/curl",
        replace(shell_image("curl", "busybox", 9, "curl"), entrypoint=("curl",)),
    ),
    (
        r"docker\.io/(nicolaka/netshoot|praqma/network-multitool|wbitt/network-multitool)",
        shell_image("netshoot", "busybox", 180, *_NETWORK_TOOLS),
    ),
    (
        r"docker\.io/(bitnami|bitnamilegacy|rancher|alpine)/(kubectl|k8s)|registry\.k8s\.io/kubectl",
        shell_image("kubectl", "debian", 60, "kubectl"),
    ),
    (
        r"(registry\.k8s\.io|k8s\.gcr\.io|gcr\.io/google[-_]containers|docker\.io/rancher)/(mirrored-)?pause",
        PAUSE,
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
            if profile is SPRING:
                name = repository.rpartition("/")[2]
                return replace(profile, entrypoint=("java", "-Xmx200m", "-jar", f"/app/{name}-1.0.jar"))
            return profile
    return None
