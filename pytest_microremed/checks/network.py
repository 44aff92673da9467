"""Packet loss and round-trip time between the target's pods and a peer in the same system.

From the target's side: the injected fault is on what the target sends. Never to the Internet, which a test
cluster need not have.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import comb

from pytest_microremed.checks.check import CheckResult
from pytest_microremed.checks.exec import run_in
from pytest_microremed.checks.peer import find_peer
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.errors import NotPosed
from pytest_microremed.faults.target import View, name_of
from pytest_microremed.systems.system import PROBE_CONTAINER, System, Workload

PINGS = 20
LOST_AT_MOST = 1
INTERVAL_S = 0.1
"""Root may ping this often; the probe sidecar is root with NET_RAW."""
SLOWER_AT_MOST = 5.0
FLOOR_MS = 100.0
"""A tenth of the injected delay; below it, nothing but noise makes five times a baseline of a fraction of a
millisecond."""

_SENT = re.compile(r"(\d+) packets transmitted, (\d+) (?:packets )?received")
_ROUND_TRIP = re.compile(r"(?:round-trip|rtt) min/avg/max\S* = [\d.]+/([\d.]+)/")


def chance_of_passing(loss: float, pings: int = PINGS, lost_at_most: int = LOST_AT_MOST) -> float:
    """Probability that a network which loses this share of packets passes one look at packet loss.

    The sum over k lost packets, k = 0 … `lost_at_most`, of C(n, k) pᵏ (1 − p)ⁿ⁻ᵏ. For the injected p = 0.5
    and n = 20 with one lost at most: (1 + 20) / 2²⁰ = 2.0e-5, below the 1e-4 that the design allows. The
    public code's three pings pass with 0.125. A recovery has to pass two such looks, the hold time apart.
    """
    return sum(comb(pings, k) * loss**k * (1 - loss) ** (pings - k) for k in range(lost_at_most + 1))


@dataclass(frozen=True)
class Pings:
    """What `ping` summed up."""

    sent: int
    received: int
    average_ms: float | None
    """None where nothing came back."""

    @property
    def lost(self) -> int:
        return self.sent - self.received


def parse_ping(output: str) -> Pings | None:
    """The summary of busybox' or iputils' ping; None if there is none."""
    sent, average = _SENT.search(output), _ROUND_TRIP.search(output)
    if sent is None:
        return None
    return Pings(int(sent[1]), int(sent[2]), float(average[1]) if average else None)


class _Network:
    """Pings a peer from every pod of the target."""

    def __init__(self, cluster: Cluster, system: System, workload: Workload, namespace: str) -> None:
        self._cluster = cluster
        self._system = system
        self._workload = workload
        self._namespace = namespace

    def refresh(self) -> None:
        """Every look measures anew."""

    def _ping(self, view: View, count: int) -> dict[str, Pings | str]:
        """The pings by pod, or why there are none."""
        peer = find_peer(self._cluster, self._system, self._workload, self._namespace)
        if isinstance(peer, str):
            return {name_of(pod): peer for pod in view.pods}
        command = ["ping", "-c", str(count), "-i", str(INTERVAL_S), "-W", "2", "-q", peer.address]
        results: dict[str, Pings | str] = {}
        for pod in view.pods:
            answer = run_in(self._cluster, pod, PROBE_CONTAINER, command)
            if isinstance(answer, str):
                results[name_of(pod)] = answer
            else:
                output = answer.stdout + answer.stderr
                results[name_of(pod)] = parse_ping(output) or f"ping said: {output.strip()[-200:]}"
        return results


class PacketLoss(_Network):
    """Of `PINGS` packets from each pod, at most `LOST_AT_MOST` is lost."""

    def measure(self, view: View) -> CheckResult:
        results = self._ping(view, PINGS)
        evidence = {pod: vars(result) if isinstance(result, Pings) else result for pod, result in results.items()}
        for pod, result in results.items():
            if isinstance(result, str):
                return CheckResult(False, f"{pod}: {result}", evidence)
            if result.lost > LOST_AT_MOST or result.sent < PINGS:
                return CheckResult(False, f"{pod}: {result.lost} of {result.sent} packets lost", evidence)
        worst = max((r.lost for r in results.values() if isinstance(r, Pings)), default=0)
        return CheckResult(True, f"{worst} of {PINGS} packets lost at most", evidence)


class RoundTrip(_Network):
    """The average round trip from each pod is at most `SLOWER_AT_MOST` times that of the healthy target, or
    `FLOOR_MS`."""

    PINGS = 10

    def __init__(self, cluster: Cluster, system: System, workload: Workload, namespace: str, healthy: View) -> None:
        """Measure the healthy target; NotPosed if its network does not answer."""
        super().__init__(cluster, system, workload, namespace)
        averages = []
        for pod, result in self._ping(healthy, self.PINGS).items():
            if isinstance(result, str) or result.average_ms is None:
                raise NotPosed(f"{pod}: no round trip to measure: {result}")
            averages.append(result.average_ms)
        self.threshold_ms = max(SLOWER_AT_MOST * max(averages), FLOOR_MS)

    def measure(self, view: View) -> CheckResult:
        results = self._ping(view, self.PINGS)
        evidence = {pod: vars(result) if isinstance(result, Pings) else result for pod, result in results.items()}
        for pod, result in results.items():
            if isinstance(result, str):
                return CheckResult(False, f"{pod}: {result}", evidence)
            # Half of the answers at least: a pod that drops the slow packets is not quick.
            if result.average_ms is None or 2 * result.received < result.sent:
                return CheckResult(False, f"{pod}: {result.received} of {result.sent} pings answered", evidence)
            if result.average_ms >= self.threshold_ms:
                reason = f"{pod}: round trip {result.average_ms:.0f} ms, allowed are {self.threshold_ms:.0f} ms"
                return CheckResult(False, reason, evidence)
        slowest = max((r.average_ms or 0.0 for r in results.values() if isinstance(r, Pings)), default=0.0)
        return CheckResult(True, f"round trip {slowest:.1f} ms at most", evidence)
