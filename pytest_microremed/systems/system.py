"""A system under test and its workloads, as `fixtures/systems/<name>/system.yaml` describes them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from pytest_microremed.cluster.kinds import DEPLOYMENTS, STATEFUL_SETS, Kind
from pytest_microremed.data import fixtures_dir
from pytest_microremed.datafile import build, read_yaml
from pytest_microremed.errors import UsageError

LOG_VOLUME = "logs"
LOG_PATH = "/var/log/service"
PROBE_CONTAINER = "probe"
"""Sidecar of every workload (busybox): looks at network and disk from inside; services lack the tools."""


@dataclass(frozen=True)
class Resources:
    """CPU and memory as Kubernetes quantities."""

    cpu: str
    memory: str


@dataclass(frozen=True)
class Readiness:
    """When the main container may take requests (Kubernetes: readinessProbe). Seconds are the cluster's."""

    check: Literal["http", "grpc", "tcp", "exec"]
    """`http`, `grpc` and `tcp` ask the workload's port."""
    path: str = "/"
    """For `http`."""
    command: tuple[str, ...] = ()
    """For `exec`."""
    initial_delay_s: int = 0
    period_s: int = 10
    timeout_s: int = 1


@dataclass(frozen=True)
class Service:
    """A Service in front of a workload's pods."""

    name: str
    port: int
    target_port: int | None = None
    """None is the workload's port."""
    type: Literal["ClusterIP", "NodePort", "LoadBalancer", "headless"] = "ClusterIP"
    pod: int | None = None
    """Ordinal of the one pod of a StatefulSet behind it; None is all pods."""


@dataclass(frozen=True)
class Dependency:
    """A service that a workload is told about by an environment variable."""

    variable: str
    service: str
    port: int
    host_only: bool = False
    """Whether the variable holds `service` only and not `service:port`."""
    source: str | None = None
    """`configMap/NAME` or `secret/NAME` that sets it for the container; None: the workload's own `env`."""

    @property
    def value(self) -> str:
        """The variable's value while all is well."""
        return self.service if self.host_only else f"{self.service}:{self.port}"


@dataclass(frozen=True)
class Workload:
    """A Deployment or StatefulSet of a system, with its Services."""

    image: str
    requests: Resources
    limits: Resources
    readiness: Readiness
    name: str = ""
    kind: Literal["Deployment", "StatefulSet"] = "Deployment"
    container: str = ""
    """Name of the main container, the first of the pod; the workload's name if empty."""
    command: tuple[str, ...] = ()
    """Entry point; the image's own if empty."""
    args: tuple[str, ...] = ()
    replicas: int = 1
    port: int | None = None
    """What the main container listens on; None for one that only calls others."""
    extra_ports: tuple[int, ...] = ()
    protocol: Literal["http", "grpc", "tcp"] = "tcp"
    http_path: str = "/"
    """What a caller asks for; an answer shows that it does its work."""
    services: tuple[Service, ...] = ()
    """The first one fronts the workload."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables with plain values; `env` has those of the dependencies as well."""
    dependencies: tuple[Dependency, ...] = ()
    calls: tuple[str, ...] = ()
    """Workloads that it finds by service discovery, without a variable of their own."""
    data_path: str | None = None
    """Where the main container keeps its data, in a volume as long-lived as the pod."""

    @property
    def labels(self) -> dict[str, str]:
        """The pod selector."""
        return {"app": self.name}

    @property
    def service(self) -> str | None:
        """The Service that fronts it."""
        return self.services[0].name if self.services else None

    @property
    def service_port(self) -> int | None:
        """The port of `service`."""
        return self.services[0].port if self.services else None

    @property
    def env(self) -> dict[str, str]:
        """What the container's own `env` sets: plain values and dependencies without a `source`."""
        own = {d.variable: d.value for d in self.dependencies if d.source is None}
        return {**self.environment, **own}

    @property
    def sources(self) -> tuple[str, ...]:
        """The ConfigMaps and Secrets whose entries become variables, each once."""
        return tuple(dict.fromkeys(d.source for d in self.dependencies if d.source))

    @property
    def cpu_limit(self) -> str:
        return self.limits.cpu

    @property
    def memory_limit(self) -> str:
        return self.limits.memory

    @property
    def object_kind(self) -> Kind:
        """`kind` as the cluster's verbs take it."""
        return DEPLOYMENTS if self.kind == "Deployment" else STATEFUL_SETS


@dataclass(frozen=True)
class System:
    """A system under test."""

    namespace: str
    workloads: Mapping[str, Workload]
    name: str = ""
    folder: Path = Path()
    """Where its system.yaml and templates are."""

    def workload(self, name: str) -> Workload:
        """The workload of that name; UsageError lists the known ones."""
        try:
            return self.workloads[name]
        except KeyError:
            raise UsageError(
                f"system {self.name} has no workload {name!r}; known: {', '.join(sorted(self.workloads))}"
            ) from None


@dataclass(frozen=True)
class _File:
    """The form of system.yaml."""

    namespace: str
    workloads: Mapping[str, Any]
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """What the workloads have in common, key by key; a workload's own keys come first."""
    shared: Any = None
    """A place for YAML anchors."""


def known_systems() -> list[str]:
    """The names that `load_system` takes."""
    return sorted(path.parent.name for path in _folder().glob("*/system.yaml"))


@functools.cache
def load_system(name: str) -> System:
    """The system of that name; UsageError for an unknown name or a malformed file."""
    if name not in known_systems():
        raise UsageError(f"no system {name!r}; known: {', '.join(known_systems())}")
    return read_system(_folder() / name / "system.yaml")


def read_system(path: Path) -> System:
    """The system that a file describes; its folder's name is the system's name. UsageError if malformed."""
    content = build(_File, read_yaml(path), path)
    workloads = {}
    for name, data in content.workloads.items():
        where = f"workloads.{name}"
        merged = {**content.defaults, **data} if isinstance(data, Mapping) else data
        workload = build(Workload, merged, path, where)
        if workload.name:
            raise UsageError(f"{path}: {where}.name: the key above is the name")
        workloads[name] = replace(workload, name=name, container=workload.container or name)
    _check_references(path, workloads)
    return System(content.namespace, workloads, name=path.parent.name, folder=path.parent)


def _check_references(path: Path, workloads: Mapping[str, Workload]) -> None:
    ports = {(s.name, s.port) for w in workloads.values() for s in w.services}
    for workload in workloads.values():
        where = f"{path}: workloads.{workload.name}"
        for dependency in workload.dependencies:
            if (dependency.service, dependency.port) not in ports:
                address = f"{dependency.service}:{dependency.port}"
                raise UsageError(f"{where}.dependencies: no workload has a service {address}")
        for name in workload.calls:
            if name not in workloads:
                raise UsageError(f"{where}.calls: no workload {name}; known: {', '.join(sorted(workloads))}")


def _folder() -> Path:
    return fixtures_dir() / "systems"
