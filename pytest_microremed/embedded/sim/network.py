"""Packets between pods: what `ping`, a TCP connection and an HTTP request would see on the simulated
network.

Nothing here waits: each answer says how many simulated seconds it took, and the caller waits if it wants
to. Loss and delay follow the netem settings of both ends, each packet for itself, as `tc netem` without
correlation.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Literal

from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.addresses import DNS_IP, KUBERNETES_IP, Addresses, is_address, is_pod_address
from pytest_microremed.embedded.sim.model import Container, Nodes, PodSandbox
from pytest_microremed.embedded.sim.network_policy import DNS, NetworkPolicies, Peer

ROUND_TRIP_S = 0.0003
LOOPBACK_S = 0.00005
SYN_TIMEOUT_S = 127.0
"""Linux gives a connection up after six retries of the SYN: 1 + 2 + 4 + … + 64 s."""
RETRANSMISSION_S = 0.2
"""Linux' smallest retransmission timeout of an established connection (TCP_RTO_MIN)."""
DNS_RETRY_S = 5.0

FORBIDDEN = json.dumps({"kind": "Status", "status": "Failure", "reason": "Forbidden", "code": 403})
"""What the API server answers who comes without credentials."""

Status = Literal["open", "refused", "timeout", "unresolved"]


@dataclass(frozen=True)
class PingReport:
    """What `ping` saw; `ip` is None if the name did not resolve."""

    host: str
    ip: str | None
    round_trips: tuple[float | None, ...] = ()
    """Seconds for each probe; None = no answer."""

    @property
    def loss(self) -> float:
        """Share of probes without an answer, 0..1."""
        lost = sum(1 for trip in self.round_trips if trip is None)
        return lost / len(self.round_trips) if self.round_trips else 1.0


@dataclass(frozen=True)
class Connection:
    """The outcome of a TCP connection; `latency_s` is the time until that outcome."""

    status: Status
    latency_s: float
    ip: str | None = None
    port: int = 0
    """Port on the target, behind the Service's."""
    target: Container | None = None
    """What accepted it; None for the API server."""


@dataclass(frozen=True)
class Response:
    """The HTTP answer of a program."""

    status: int
    body: str
    latency_s: float
    content_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Failure:
    """Why there was no HTTP answer; `reset` = the port is open but speaks something else."""

    reason: Literal["refused", "timeout", "unresolved", "reset"]
    latency_s: float
    connected: bool = False
    """Whether the TCP connection was there when it failed."""


@dataclass(frozen=True)
class _Route:
    """The way to an address; `target` None with `blocked` False is a host that accepts any connection."""

    ip: str
    port: int
    target: PodSandbox | None = None
    verdict: Literal["deliver", "refuse", "drop"] = "deliver"


class Network:
    """Name resolution and packets between pods. `source` None is the node itself, as for a probe."""

    def __init__(self, store: Store, nodes: Nodes, seed: int = 0) -> None:
        self.nodes = nodes
        self.addresses = Addresses(store)
        self.policies = NetworkPolicies(store)
        self._seed = seed
        self._randoms: dict[str, random.Random] = {}

    def resolve(self, host: str, namespace: str) -> list[str]:
        """IPv4 addresses of a name as a pod of that namespace sees it; [] = no such name (NXDOMAIN)."""
        return self.addresses.resolve(host, namespace)

    def ping(self, source: PodSandbox, host: str, count: int) -> PingReport:
        """ICMP echo requests. Cluster IPs do not answer (kube-proxy forwards ports, not ICMP)."""
        ips, _ = self._resolve(source, host)
        if not ips:
            return PingReport(host, None)
        ip = ips[0]
        if _is_local(source, ip):
            return PingReport(host, ip, tuple(self._loopback(source) for _ in range(count)))
        target = self.nodes.by_ip(ip)
        if target is None:
            answer = self.addresses.is_node(ip)
            trips = (self._trip(source, None, ip) if answer else None for _ in range(count))
            return PingReport(host, ip, tuple(trips))
        if not self.policies.allow(Peer.of(source), Peer.of(target), None):
            return PingReport(host, ip, (None,) * count)
        return PingReport(host, ip, tuple(self._trip(source, target, ip) for _ in range(count)))

    def connect(self, source: PodSandbox | None, host: str, port: int, timeout_s: float = SYN_TIMEOUT_S) -> Connection:
        """A TCP connection; retries lost SYNs after 1 s, 2 s, … while `timeout_s` lasts."""
        ips, spent = self._resolve(source, host)
        if not ips:
            return Connection("unresolved", min(spent, timeout_s))
        ip = self._random(source).choice(ips)
        route = self._route(source, ip, port)
        if route.verdict == "drop":
            return Connection("timeout", timeout_s, route.ip, route.port)
        if source is not None and _is_local(source, ip):
            took: float | None = self._loopback(source)
        else:
            took = self._until_answered(source, route.target, route.ip, 1.0, timeout_s - spent)
        if took is None or spent + took > timeout_s:
            return Connection("timeout", timeout_s, route.ip, route.port)
        if route.verdict == "refuse":
            return Connection("refused", spent + took, route.ip, route.port)
        container = _listener(route.target, route.port) if route.target else None
        if route.target and container is None:
            return Connection("refused", spent + took, route.ip, route.port)
        return Connection("open", spent + took, route.ip, route.port, container)

    def request(
        self,
        source: PodSandbox | None,
        host: str,
        port: int,
        path: str = "/",
        timeout_s: float = SYN_TIMEOUT_S,
    ) -> Response | Failure:
        """An HTTP GET: the program's answer, or why there was none within `timeout_s`."""
        connection = self.connect(source, host, port, timeout_s)
        if connection.status != "open":
            return Failure(connection.status, connection.latency_s)
        container = connection.target
        if container is None:
            return Response(403, FORBIDDEN, connection.latency_s + ROUND_TRIP_S, "application/json")
        answer = container.program.answer(connection.port, path) if container.program else None
        work = answer.seconds if answer else 0.0
        took = self.exchange(source, connection, timeout_s - connection.latency_s, work)
        if took is None:
            return Failure("timeout", timeout_s, connected=True)
        if answer is None:
            return Failure("reset", connection.latency_s + took, connected=True)
        return Response(answer.status, answer.body, connection.latency_s + took, answer.content_type)

    def health(
        self, source: PodSandbox | None, host: str, port: int, timeout_s: float
    ) -> Literal["SERVING", "NOT_SERVING", "UNIMPLEMENTED"] | Failure:
        """The gRPC health check (grpc.health.v1) of the program at that address."""
        connection = self.connect(source, host, port, timeout_s)
        if connection.status != "open":
            return Failure(connection.status, connection.latency_s)
        program = connection.target.program if connection.target else None
        work = program.seconds() if program else 0.0
        took = self.exchange(source, connection, timeout_s - connection.latency_s, work)
        if took is None:
            return Failure("timeout", timeout_s, connected=True)
        answer = program.health(connection.port) if program else None
        return answer or Failure("reset", connection.latency_s + took, connected=True)

    def exchange(
        self, source: PodSandbox | None, connection: Connection, timeout_s: float, work_s: float = 0.0
    ) -> float | None:
        """Seconds for a small question and answer on an open connection, `work_s` of it in the program."""
        target = connection.target.pod if connection.target else None
        if source is not None and connection.ip and _is_local(source, connection.ip):
            took: float | None = self._loopback(source)
        else:
            took = self._until_answered(source, target, connection.ip, RETRANSMISSION_S, timeout_s)
        return None if took is None or took + work_s > timeout_s else took + work_s

    def _resolve(self, source: PodSandbox | None, host: str) -> tuple[list[str], float]:
        """Addresses and the seconds that asking the cluster's DNS took (none for an address)."""
        if source is None or is_address(host) or host == "localhost":
            return self.addresses.resolve(host, source.namespace if source else "default"), 0.0
        if host == source.name:
            return [source.ip], 0.0
        if not self.policies.allow(Peer.of(source), DNS, 53, "UDP"):
            return [], 2 * DNS_RETRY_S
        for attempt in range(2):
            trip = self._trip(source, None, DNS_IP)
            if trip is not None:
                return self.addresses.resolve(host, source.namespace), attempt * DNS_RETRY_S + trip
        return [], 2 * DNS_RETRY_S

    def _route(self, source: PodSandbox | None, ip: str, port: int) -> _Route:
        if source is not None and _is_local(source, ip):
            return _Route(ip, port, source)
        if is_pod_address(ip):
            return self._deliver(source, ip, port)
        if ip == KUBERNETES_IP:
            return _Route(ip, 6443, verdict="deliver" if port == 443 else "drop")
        service = self.addresses.service_by_ip(ip)
        if service is not None:
            entry = next((p for p in service["spec"].get("ports") or () if p["port"] == port), None)
            return self._behind(source, ip, service, entry)
        if self.addresses.is_node(ip):
            found = self.addresses.node_port(port)
            return self._behind(source, ip, *found) if found else _Route(ip, port, verdict="refuse")
        return self._deliver(source, ip, port)

    def _behind(self, source: PodSandbox | None, ip: str, service: Object, entry: Object | None) -> _Route:
        """Where kube-proxy (iptables) sends it: unknown ports get lost, one without endpoints is rejected."""
        if entry is None:
            return _Route(ip, 0, verdict="drop")
        endpoints = self.addresses.ready_endpoints(service, entry)
        if not endpoints:
            return _Route(ip, entry["port"], verdict="refuse")
        chosen = self._random(source).choice(endpoints)
        return self._deliver(source, chosen.ip, chosen.port)

    def _deliver(self, source: PodSandbox | None, ip: str, port: int) -> _Route:
        target = self.nodes.by_ip(ip)
        if target is None:
            return _Route(ip, port, verdict="drop")
        if source is not None and not self.policies.allow(Peer.of(source), Peer.of(target), port):
            return _Route(ip, port, verdict="drop")
        return _Route(ip, port, target)

    def _until_answered(
        self,
        source: PodSandbox | None,
        target: PodSandbox | None,
        address: str | None,
        first_wait_s: float,
        timeout_s: float,
    ) -> float | None:
        """Send a packet until its answer comes, waiting longer each time; None once `timeout_s` is over."""
        elapsed, wait = 0.0, first_wait_s
        while elapsed <= timeout_s:
            trip = self._trip(source, target, address)
            if trip is not None:
                return elapsed + trip if elapsed + trip <= timeout_s else None
            elapsed += wait
            wait *= 2
        return None

    def _trip(self, source: PodSandbox | None, target: PodSandbox | None, address: str | None) -> float | None:
        """Seconds of one packet to an address and its answer; None if either is lost."""
        rng = self._random(source or target)
        there, back = address, source.ip if source else None
        total = ROUND_TRIP_S * rng.uniform(0.8, 1.6)
        for sender, receiver, to, origin in ((source, target, there, back), (target, source, back, there)):
            if (sender and sender.drops("out", to)) or (receiver and receiver.drops("in", origin)):
                return None
            netem = sender.netem_to(to) if sender else None
            if not netem:
                continue
            if rng.random() < netem.loss:
                return None
            total += max(0.0, netem.delay_s + rng.uniform(-1, 1) * netem.jitter_s)
        return total

    def _loopback(self, source: PodSandbox) -> float:
        return LOOPBACK_S * self._random(source).uniform(0.8, 1.6)

    def _random(self, pod: PodSandbox | None) -> random.Random:
        """Its own reproducible sequence for each pod name."""
        name = f"{pod.namespace}/{pod.name}" if pod else ""
        if name not in self._randoms:
            self._randoms[name] = random.Random(f"{self._seed}/{name}")
        return self._randoms[name]


def _is_local(source: PodSandbox, ip: str) -> bool:
    return ip == source.ip or ip.startswith("127.") or ip == "0.0.0.0"  # noqa: S104


def _listener(pod: PodSandbox, port: int) -> Container | None:
    return next((c for c in pod.containers.values() if c.program and c.program.listens(port)), None)
