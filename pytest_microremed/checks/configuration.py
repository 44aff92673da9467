"""Configuration: the fields that the fault made wrong are right again in every pod of the target."""

from __future__ import annotations

import ipaddress
from typing import Protocol

from pytest_microremed.checks.address import parse_address, same_addresses
from pytest_microremed.checks.check import CheckResult
from pytest_microremed.checks.environment import effective_value
from pytest_microremed.checks.saturation import Resource, limit_of
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import SERVICES, Obj
from pytest_microremed.cluster.quantity import format_quantity, parse_quantity
from pytest_microremed.faults.mutation import Mutation
from pytest_microremed.faults.target import View, container_of, name_of
from pytest_microremed.systems.system import Workload

HEADROOM = 2.0
"""A limit has to leave the program this many times what it used before the fault."""
_RESOURCES: tuple[Resource, ...] = ("cpu", "memory")


class Setting(Protocol):
    """What the fault made wrong, and what is right."""

    def trouble(self, container: Obj) -> str | None:
        """What is still wrong in this container's spec, or None. Raises ClusterError."""


class Configuration:
    """The workload is rolled out, and the setting is right in its pods: those that run count, not the
    template."""

    def __init__(self, workload: Workload, setting: Setting) -> None:
        self._workload = workload
        self._setting = setting

    def measure(self, view: View) -> CheckResult:
        evidence = {"pods": [name_of(pod) for pod in view.pods]}
        for pod in view.pods:
            container = container_of(pod, self._workload.container)
            trouble = self._setting.trouble(container or {})
            if trouble:
                return CheckResult(False, f"{name_of(pod)}/{self._workload.container}: {trouble}", evidence)
        unfinished = find_unfinished(view.workload or {})
        if unfinished:
            return CheckResult(False, f"{self._workload.kind} {self._workload.name}: {unfinished}", evidence)
        return CheckResult(True, f"the configuration of {len(view.pods)} pods is right", evidence)

    def refresh(self) -> None:
        """Every look reads anew."""


def find_unfinished(workload: Obj) -> str | None:
    """Why the rollout of a Deployment or StatefulSet is not complete, or None (as `kubectl rollout status`
    sees it)."""
    spec, status = workload.get("spec", {}), workload.get("status", {})
    if status.get("observedGeneration", 0) < workload.get("metadata", {}).get("generation", 0):
        return "the last change has not been taken up yet"
    wanted = spec.get("replicas", 1)
    for field, state in (("updatedReplicas", "up to date"), ("replicas", "left"), ("readyReplicas", "ready")):
        if status.get(field, 0) != wanted:
            return f"{status.get(field, 0)} of {wanted} pods {state}"
    return None


class ResourceLimits:
    """Limits are there, and are no less than was requested and `HEADROOM` times what was used before the
    fault."""

    def __init__(self, cluster: Cluster, workload: Workload, namespace: str) -> None:
        samples = [s for s in cluster.usage(namespace, workload.labels) if s.container == workload.container]
        cpu = max((s.cpu_cores for s in samples), default=0.0)
        memory = float(max((s.memory_bytes for s in samples), default=0))
        self._least: dict[Resource, float] = {
            "cpu": max(parse_quantity(workload.requests.cpu), HEADROOM * cpu),
            "memory": max(parse_quantity(workload.requests.memory), HEADROOM * memory),
        }

    def trouble(self, container: Obj) -> str | None:
        for resource in _RESOURCES:
            limit, least = limit_of(container, resource), self._least[resource]
            if limit is None:
                return f"no {resource} limit"
            if limit < least:
                binary = resource == "memory"
                needed = format_quantity(least, binary=binary)
                return f"{resource} limit {format_quantity(limit, binary=binary)}, it needs {needed}"
        return None


class Variable:
    """An environment variable has the value that it had before the fault."""

    def __init__(self, cluster: Cluster, namespace: str, variable: str, healthy: Obj) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self.variable = variable
        self._right = effective_value(cluster, namespace, healthy, variable)

    def trouble(self, container: Obj) -> str | None:
        value = effective_value(self._cluster, self._namespace, container, self.variable)
        return None if self.same(value, self._right) else f"{self.variable} is {value!r}"

    def same(self, value: str | None, right: str | None) -> bool:
        """Space around a value makes no difference to any program here, nor do zeros before a number."""
        if value is None or right is None:
            return value == right
        value, right = value.strip(), right.strip()
        return value == right or (value.isdecimal() and right.isdecimal() and int(value) == int(right))


class DependencyAddress(Variable):
    """An environment variable names the same Service and port as before the fault, in whatever form."""

    def same(self, value: str | None, right: str | None) -> bool:
        if same_addresses(value, right, self._namespace):
            return True
        if value is None or right is None:
            return False
        named, meant = parse_address(value, self._namespace), parse_address(right, self._namespace)
        return named.port == meant.port and _is_ip(named.host) and self._cluster_ip(meant.host) == named.host

    def _cluster_ip(self, host: str) -> str | None:
        name, _, namespace = host.partition(".")
        service = self._cluster.get(SERVICES, namespace, name) or {}
        ip: str | None = service.get("spec", {}).get("clusterIP")
        return ip


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def setting_for(cluster: Cluster, workload: Workload, namespace: str, healthy: View, mutation: Mutation) -> Setting:
    """What the mutation makes wrong, read off the healthy target."""
    if mutation.variable is None:
        return ResourceLimits(cluster, workload, namespace)
    container = container_of(healthy.pods[0], workload.container) or {}
    kind = DependencyAddress if mutation.dependency else Variable
    return kind(cluster, namespace, mutation.variable, container)
