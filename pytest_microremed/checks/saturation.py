"""CPU and memory: what the target's containers use, against the limits that they had before the fault."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pytest_microremed.checks.check import CheckResult
from pytest_microremed.cluster.cluster import Cluster, ContainerUsage
from pytest_microremed.cluster.kinds import Obj
from pytest_microremed.cluster.quantity import format_quantity, parse_quantity
from pytest_microremed.errors import NotPosed, WaitTimeout
from pytest_microremed.faults.target import View, container_of, container_status, name_of
from pytest_microremed.systems.system import Workload

SHARE = 0.5
"""Recovered is less than this share of the limit (MicroRemed, papers.md 3.1)."""
SETTLE_S = 180.0
"""How long a new program may take to come to rest and show in the metrics, in cluster seconds."""

Resource = Literal["cpu", "memory"]


def limit_of(container: Obj | None, resource: Resource) -> float | None:
    """Cores or bytes that a container's spec grants at most; None without a limit."""
    quantity = ((container or {}).get("resources", {}).get("limits") or {}).get(resource)
    return None if quantity is None else parse_quantity(quantity)


@dataclass(frozen=True)
class Reading:
    """A container's usage against its limits, in cores or bytes."""

    what: str
    used: float | None
    """None without a fresh sample."""
    limit: float
    """Before the fault."""
    current: float | None
    """Now."""

    def trouble(self, resource: Resource) -> str | None:
        """What is wrong with it, or None. Usage is held against the old limit, and the limit has to be as
        high as that.

        So it is no way out to raise or remove the limit while something still eats up to the old one, nor
        to lower it.
        """
        if self.current is None:
            return f"{self.what} has no {resource} limit any more"
        if self.current < self.limit:
            lowered, before = _text(self.current, resource), _text(self.limit, resource)
            return f"{self.what}: {resource} limit {lowered}, {before} before the fault"
        if self.used is None:
            return f"{self.what}: no fresh {resource} sample yet"
        if self.used >= SHARE * self.limit:
            return f"{self.what} uses {self}"
        return None

    def __str__(self) -> str:
        return f"{(self.used or 0.0) / self.limit:.0%} of its limit"


class Saturation:
    """Usage of one resource by every container of every pod of the target, out of metrics.k8s.io."""

    def __init__(self, cluster: Cluster, workload: Workload, namespace: str, healthy: View, resource: Resource) -> None:
        """Take the limits of the healthy target, and wait until its usage is known and low.

        Raises NotPosed where it does not come to rest within `SETTLE_S`, or has no limit to saturate.
        """
        self._cluster = cluster
        self._workload = workload
        self._namespace = namespace
        self._resource: Resource = resource
        self._limits = {
            container["name"]: limit
            for container in healthy.pods[0]["spec"]["containers"]
            if (limit := limit_of(container, resource)) is not None
        }
        self._before: dict[str, datetime] = {}
        """The newest sample of each pod that does not count any more."""
        if workload.container not in self._limits:
            raise NotPosed(f"container {workload.container} of {workload.name} has no {resource} limit to saturate")
        last = CheckResult(False, "")

        def settled() -> bool:
            nonlocal last
            last = self.measure(healthy)
            return last.passed

        try:
            cluster.wait_for(f"{workload.name}: {resource} usage at rest", settled, SETTLE_S, interval_s=2.0)
        except WaitTimeout as error:
            raise NotPosed(f"{error} ({last.reason})") from None

    def measure(self, view: View) -> CheckResult:
        samples = {(s.pod, s.container): s for s in self._cluster.usage(self._namespace, self._workload.labels)}
        readings = [
            Reading(
                f"{name_of(pod)}/{name}",
                self._used(pod, name, samples.get((name_of(pod), name))),
                limit,
                limit_of(container_of(pod, name), self._resource),
            )
            for pod in view.pods
            for name, limit in self._limits.items()
        ]
        evidence = {
            "used": {r.what: r.used for r in readings},
            "limit": {r.what: r.current for r in readings},
        }
        for reading in readings:
            trouble = reading.trouble(self._resource)
            if trouble:
                return CheckResult(False, trouble, evidence)
        highest = max(readings, key=lambda reading: (reading.used or 0.0) / reading.limit)
        return CheckResult(True, f"highest {self._resource} usage: {highest.what}, {highest}", evidence)

    def refresh(self) -> None:
        # The newest samples on the cluster mark the time, so the harness's own clock need not agree with it.
        for sample in self._cluster.usage(self._namespace, self._workload.labels):
            self._before[sample.pod] = max(sample.time, self._before.get(sample.pod, sample.time))

    def _used(self, pod: Obj, container: str, sample: ContainerUsage | None) -> float | None:
        """The sample's figure, if it is of this very container and late enough."""
        started = container_status(pod, container).get("state", {}).get("running", {}).get("startedAt")
        if sample is None or started is None or sample.time < datetime.fromisoformat(started):
            return None
        before = self._before.get(sample.pod)
        if before is not None and sample.time <= before:
            return None
        return sample.cpu_cores if self._resource == "cpu" else sample.memory_bytes


def _text(amount: float, resource: Resource) -> str:
    return format_quantity(amount, binary=resource == "memory")
