"""How programs word their logs: one line format and a few sentences for each style of program."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pytest_microremed.embedded.sim.addresses import DNS_IP
from pytest_microremed.embedded.sim.dependencies import Trouble
from pytest_microremed.embedded.sim.profiles import Style

Level = Literal["info", "warn", "error"]


_METHODS: Mapping[str, tuple[str, ...]] = {
    "adservice": ("AdService/GetAds",),
    "cartservice": ("CartService/GetCart", "CartService/AddItem", "CartService/EmptyCart"),
    "checkoutservice": ("CheckoutService/PlaceOrder",),
    "currencyservice": ("CurrencyService/Convert", "CurrencyService/GetSupportedCurrencies"),
    "emailservice": ("EmailService/SendOrderConfirmation",),
    "paymentservice": ("PaymentService/Charge",),
    "productcatalogservice": ("ProductCatalogService/GetProduct", "ProductCatalogService/ListProducts"),
    "recommendationservice": ("RecommendationService/ListRecommendations",),
    "shippingservice": ("ShippingService/GetQuote", "ShippingService/ShipOrder"),
}
"""What the services of Online Boutique are asked (package hipstershop)."""
_SHOP_PAGES = ("/", "/product/OLJCESPC7Z", "/product/66VCHSJNUP", "/cart", "/setCurrency")


@dataclass(frozen=True)
class Speaker:
    """Who writes: the service, its pod, and where it listens."""

    service: str
    pod: str
    port: int

    @property
    def paths(self) -> tuple[str, ...]:
        """What requests to such a service ask for."""
        if self.service in _METHODS:
            return tuple(f"/hipstershop.{method}" for method in _METHODS[self.service])
        if self.service in ("frontend", "loadgenerator"):
            return _SHOP_PAGES
        if self.service.startswith("ts-") and self.service.endswith("-service"):
            name = self.service.removeprefix("ts-").removesuffix("-service").replace("-", "")
            return (f"/api/v1/{name}service/welcome", f"/api/v1/{name}service/{name}s")
        return ("/", "/healthz")


@dataclass(frozen=True)
class Story:
    """What a program says. Braces are filled from `Speaker`, and `took_ms`, `path`, `client` in requests."""

    starting: tuple[str, ...]
    started: tuple[str, ...]
    request: tuple[str, ...] = ()
    failure: str = "request failed: {error}"
    slow: str = "request took {took_ms} ms"


_SERVICE = Story(
    ("starting {service}",),
    ("{service} listening on port {port}",),
    ("request complete path={path} status=200 took_ms={took_ms}",),
    "request error: {error}",
    "slow request path={path} took_ms={took_ms}",
)
STORIES: Mapping[Style, Story] = {
    "plain": _SERVICE,
    "go": Story(
        ("tracing and profiling disabled", "initialising {service}"),
        ("{service} server listening on :{port}",),
        ("request complete, path {path}, status 200, took {took_ms} ms",),
        "request error: {error}",
        "request complete, path {path}, status 200, took {took_ms} ms (slow)",
    ),
    "spring": Story(
        (
            "Starting {service} v1.0 on {pod} with PID 1",
            "No active profile set, falling back to default profiles: default",
            "Tomcat initialized with port(s): {port} (http)",
        ),
        ("Tomcat started on port(s): {port} (http) with context path ''", "Started {service}"),
        ("[{service}] handled {path} in {took_ms} ms",),
        "Request processing failed; nested exception is {error}",
        "[{service}] handled {path} in {took_ms} ms, longer than expected",
    ),
    "dotnet": Story(
        ("Creating the cart store",),
        ("Now listening on: http://[::]:{port}", "Application started. Press Ctrl+C to shut down."),
        ("Request finished HTTP/2 POST {path} - 200 application/grpc {took_ms}ms",),
        "An unhandled exception has occurred while executing the request. {error}",
        "Request finished HTTP/2 POST {path} - 200 application/grpc {took_ms}ms",
    ),
    "node": Story(
        ("Profiler and tracing disabled",),
        ("{service} gRPC server started on port {port}",),
        ("{path} served in {took_ms} ms",),
        "request failed: {error}",
        "{path} served in {took_ms} ms (event loop delayed)",
    ),
    "python": Story(
        ("initializing {service}",),
        ("listening on port: {port}",),
        ("{path} served in {took_ms} ms",),
        "exception calling application: {error}",
        "{path} served in {took_ms} ms (slow)",
    ),
    "locust": Story(
        ("Starting Locust",),
        ("All users spawned",),
        ("GET {path} 200 {took_ms} ms",),
        "GET {path} failed: {error}",
        "GET {path} 200 {took_ms} ms",
    ),
    "redis": Story(
        ("Redis is starting", "Running mode=standalone, port={port}."),
        ("Server initialized", "Ready to accept connections tcp"),
        ("Background saving terminated with success",),
        slow="Slow command: {took_ms} ms",
    ),
    "mysql": Story(
        ("starting as process 1", "InnoDB initialization has started.", "InnoDB initialization has ended."),
        ("ready for connections. socket: '/var/run/mysqld/mysqld.sock'  port: {port}",),
        slow="Query took {took_ms} ms",
    ),
    "rabbitmq": Story(
        ("Starting RabbitMQ",),
        ("started TCP listener on [::]:{port}", "Server startup complete"),
        ("accepting AMQP connection from {client}",),
        slow="heartbeat handled late, after {took_ms} ms",
    ),
    "nginx": Story((), ("start worker processes",), ('"GET {path} HTTP/1.1" 200 612',), "{error}"),
    "http.server": Story(
        ("starting {service}",),
        ("serving on port {port}",),
        ('"GET {path} HTTP/1.1" 200 -',),
        "request failed: {error}",
        "request for {path} took {took_ms} ms",
    ),
}


def line(style: Style, speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    """One log line as that kind of program formats it."""
    return _FORMATS.get(style, _plain)(speaker, moment, level, message)


def explain(style: Style, trouble: Trouble) -> str:
    """What a program of that kind calls a failed connection."""
    target, host = trouble.target, trouble.target.host
    address = f"{trouble.ip or host}:{target.port or ''}".rstrip(":")
    kind = "timeout" if trouble.kind == "unroutable" else trouble.kind
    match style:
        case "go" | "nginx":
            reason = {
                "unresolved": f"lookup {host} on {DNS_IP}:53: no such host",
                "refused": f"{address}: connect: connection refused",
                "timeout": f"{address}: i/o timeout",
            }[kind]
            dial = f"dial tcp: {reason}" if kind == "unresolved" else f"dial tcp {reason}"
            error = f'connection error: desc = "transport: Error while dialing: {dial}"'
            return f"rpc error: code = Unavailable desc = {error} (target {target})"
        case "spring":
            return {
                "unresolved": f"java.net.UnknownHostException: {host}: Name or service not known",
                "refused": f"java.net.ConnectException: {target}: Connection refused",
                "timeout": f"java.net.SocketTimeoutException: {target}: connect timed out",
            }[kind]
        case "dotnet":
            reason = {
                "unresolved": f"Name or service not known ({target})",
                "refused": f"Connection refused ({target})",
                "timeout": f"Connection timed out ({target})",
            }[kind]
            return f"StackExchange.Redis.RedisConnectionException: UnableToConnect on {target}: {reason}"
        case "node":
            return {
                "unresolved": f"14 UNAVAILABLE: getaddrinfo ENOTFOUND {host} ({target})",
                "refused": f"14 UNAVAILABLE: connect ECONNREFUSED {address} ({target})",
                "timeout": f"4 DEADLINE_EXCEEDED: connect ETIMEDOUT {address} ({target})",
            }[kind]
        case _:
            return {
                "unresolved": f"[Errno -2] Name or service not known: '{host}' ({trouble.variable}={target})",
                "refused": f"[Errno 111] Connection refused: {target} ({trouble.variable})",
                "timeout": f"[Errno 110] Connection timed out: {target} ({trouble.variable})",
            }[kind]


def missing_variable(style: Style, variable: str) -> tuple[tuple[str, ...], int]:
    """What a program says before it exits for want of a variable, and its exit code."""
    match style:
        case "go":
            panic = f'panic: environment variable "{variable}" not set'
            return (panic, "", "goroutine 1 [running]:", "main.main()"), 2
        case "mysql":
            options = ", ".join(variable.split("|")[:3])
            return (f"[ERROR] [Entrypoint]: uninitialized database and no password: set one of {options}",), 1
        case "python":
            error = f"Exception: {variable} environment variable not set"
            return ("Traceback (most recent call last):", error), 1
        case _:
            return (f"error: environment variable {variable} is not set",), 1


def _plain(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z {level.upper():5} {message}"


def _go(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    severity = {"info": "info", "warn": "warning", "error": "error"}[level]
    stamp = f"{moment:%Y-%m-%dT%H:%M:%S.%f}000Z"
    return json.dumps({"message": message, "severity": severity, "timestamp": stamp})


def _spring(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    thread = "main" if level == "info" else "nio-exec-1"
    stamp = f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}"
    return f"{stamp} {level.upper():>5} 1 --- [{thread:>15}] {speaker.service:<40} : {message}"


def _dotnet(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    short = {"info": "info", "warn": "warn", "error": "fail"}[level]
    return f"{short}: {speaker.service}[0] {message}"


def _node(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    record = {
        "severity": level, "time": int(moment.timestamp() * 1000), "pid": 1, "hostname": speaker.pod,
        "name": f"{speaker.service}-server", "message": message,
    }  # fmt: skip
    return json.dumps(record, separators=(",", ":"))


def _python(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    severity = {"info": "INFO", "warn": "WARNING", "error": "ERROR"}[level]
    return json.dumps({"timestamp": round(moment.timestamp(), 6), "severity": severity,
                       "name": f"{speaker.service}-server", "message": message})  # fmt: skip


def _locust(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    stamp = f"{moment:%Y-%m-%d %H:%M:%S},{moment.microsecond // 1000:03d}"
    return f"[{stamp}] {speaker.pod}/{level.upper()}/locust.main: {message}"


def _redis(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    mark = {"info": "*", "warn": "#", "error": "#"}[level]
    return f"1:M {moment:%d %b %Y %H:%M:%S}.{moment.microsecond // 1000:03d} {mark} {message}"


def _mysql(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    name = {"info": "System", "warn": "Warning", "error": "ERROR"}[level]
    return f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z 0 [{name}] [Server] /usr/sbin/mysqld: {message}"


def _rabbitmq(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S.%f}+00:00 [{level.replace('warn', 'warning')}] <0.230.0> {message}"


def _nginx(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    if message.startswith('"'):
        return f'10.244.0.1 - - [{moment:%d/%b/%Y:%H:%M:%S} +0000] {message} "-" "-" "-"'
    return f"{moment:%Y/%m/%d %H:%M:%S} [{level.replace('info', 'notice')}] 1#1: {message}"


def _http_server(speaker: Speaker, moment: datetime, level: Level, message: str) -> str:
    if message.startswith('"'):
        return f"10.244.0.1 - - [{moment:%d/%b/%Y %H:%M:%S}] {message}"
    return _plain(speaker, moment, level, message)


_FORMATS: Mapping[str, Callable[[Speaker, datetime, Level, str], str]] = {
    "go": _go, "spring": _spring, "dotnet": _dotnet, "node": _node, "python": _python, "locust": _locust,
    "redis": _redis, "mysql": _mysql, "rabbitmq": _rabbitmq, "nginx": _nginx, "http.server": _http_server,
}  # fmt: skip
