"""What exists on the simulated nodes: pods with their network, volumes, containers and processes.

The kubelet makes and removes these; the shell and Chaos Mesh change them; metrics, probes and logs read
them. Whoever changes one calls `PodSandbox.changed` (spawning, killing and setting `netem` do it
themselves), and the kubelet looks at the pod again. Here is state and arithmetic only: no API objects are
written from this module.
"""

from __future__ import annotations

import itertools
import random
import signal
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.images import Image


@dataclass
class Process:
    """A process in a container. `cpu` is what it would use if nothing held it back."""

    pid: int
    ppid: int
    command: tuple[str, ...]
    cpu: float = 0.0
    """Cores."""
    memory: int = 4 * 2**20
    """Bytes resident."""
    started: datetime | None = None
    ignores_term: bool = False
    dies_with_parent: bool = False
    """As Linux's PR_SET_PDEATHSIG has it."""
    uid: int | None = None
    """User that it runs as; None = the container's."""
    on_exit: Callable[[int], None] | None = None
    """Called with the signal number (or 0) when the process has ended."""


@dataclass(frozen=True)
class FileAttributes:
    """What `stat` tells of a file beside its contents."""

    modified: datetime
    mode: int = 0o644
    size: int | None = None
    """Of a file of which only the beginning is kept; the rest is zeros. None = as long as its contents."""


@dataclass(frozen=True)
class DiskFault:
    """What disturbs one container's operations on a volume, as Chaos Mesh's IOChaos does."""

    container: str
    path: str = "*"
    """fnmatch pattern of paths relative to the volume's root."""
    methods: frozenset[str] = frozenset()
    """File system operations (`read`, `write`, `open`, `fsync`, …) that are disturbed; empty = all."""
    percent: int = 100
    latency_s: float = 0.0
    errno: int = 0
    """Error that an operation fails with; 0 = none."""


@dataclass
class Volume:
    """A pod volume."""

    name: str
    files: dict[str, bytes] = field(default_factory=dict)
    """Contents by path relative to the volume's root; a directory is a path that ends with a slash."""
    faults: dict[str, DiskFault] = field(default_factory=dict)
    """By who put them there."""
    in_memory: bool = False
    """An emptyDir of medium Memory, whose files count as memory of the container that wrote them."""

    def disturbance(self, container: str, path: str, method: str, rng: random.Random) -> tuple[float, int]:
        """Seconds of delay and errno (0 = none) for one operation of a container on a path of the volume."""
        latency, error = 0.0, 0
        for fault in self.faults.values():
            if (
                fault.container == container
                and (not fault.methods or method in fault.methods)
                and fnmatchcase(path, fault.path)
                and rng.random() * 100 < fault.percent
            ):
                latency += fault.latency_s
                error = error or fault.errno
        return latency, error


@dataclass(frozen=True)
class Mount:
    """Where a container sees a volume."""

    path: str
    volume: Volume
    sub_path: str = ""
    read_only: bool = False


@dataclass(frozen=True)
class Answer:
    """What a program replies to a request. `seconds` is the time it takes over it."""

    status: int
    body: str
    seconds: float
    content_type: str = "text/plain; charset=utf-8"


class Program(Protocol):
    """What pid 1 of a running container does, as its peers on the network see it."""

    def listens(self, port: int) -> bool:
        """Whether a TCP connection to the port is accepted now."""

    def answer(self, port: int, path: str) -> Answer | None:
        """The reply to an HTTP GET; None where the port does not speak HTTP."""

    def health(self, port: int) -> Literal["SERVING", "NOT_SERVING", "UNIMPLEMENTED"] | None:
        """The answer of the gRPC health service; None where the port does not speak gRPC."""

    def seconds(self) -> float:
        """How long the program takes over a small request now (grows with CPU contention)."""


@dataclass
class Netem:
    """Impairments of a pod's outgoing packets, as `tc netem` on its eth0 would make them."""

    delay_s: float = 0.0
    jitter_s: float = 0.0
    loss: float = 0.0
    """Probability 0..1."""
    handle: str = "8001:"
    """Of the queueing discipline; `tc` chooses 8001: itself, Chaos Mesh asks for 1:."""

    def __bool__(self) -> bool:
        return bool(self.delay_s or self.loss)

    def __add__(self, other: Netem) -> Netem:
        """One behind the other."""
        return Netem(
            self.delay_s + other.delay_s,
            self.jitter_s + other.jitter_s,
            1 - (1 - self.loss) * (1 - other.loss),
            self.handle,
        )


@dataclass(frozen=True)
class Filter:
    """What happens to a pod's packets of certain addresses only, as `tc` and iptables with an ipset do it."""

    addresses: frozenset[str]
    netem: Netem = field(default_factory=Netem)
    drop: Literal["", "in", "out"] = ""
    """Packets from these addresses (in) or to them (out) are dropped."""


@dataclass
class Container:
    """A container on a node. `state` follows the kubelet; processes exist only while it runs."""

    pod: PodSandbox = field(repr=False)
    name: str
    spec: dict[str, Any]
    state: Literal["waiting", "running", "terminated"] = "waiting"
    restart_count: int = 0
    started: datetime | None = None
    processes: dict[int, Process] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    """Files of the root file system that differ from the image, by absolute path; a directory ends with a slash, and
    `.wh.name` tells that `name` has been removed (as in an OCI image layer)."""
    attributes: dict[str, FileAttributes] = field(default_factory=dict)
    """Of files that commands have touched, by absolute path in the container, volumes included."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment as the kubelet resolved it (env, envFrom, service variables)."""
    image: Image | None = None
    """The image it runs: which tools it has, and what it does; None before the first pull."""
    program: Program | None = None
    """What it does while it runs."""
    mounts: tuple[Mount, ...] = ()
    user: int = 0
    """User id of its processes (securityContext of the container, or of the pod)."""
    _pids: itertools.count[int] = field(default_factory=lambda: itertools.count(1), repr=False)

    def spawn(
        self, command: tuple[str, ...], *, ppid: int = 0, started: datetime | None = None, **attrs: Any
    ) -> Process:
        """Start a process; the first one of a container gets pid 1."""
        process = Process(next(self._pids), ppid, command, started=started, **attrs)
        self.processes[process.pid] = process
        self.pod.changed()
        return process

    def kill(self, pid: int, signum: int = signal.SIGTERM) -> bool:
        """Send a signal that ends processes; False if there is no such process.

        With pid 1 all end. Children of another process become those of pid 1, unless they die with their parent.
        """
        process = self.processes.get(pid)
        if process is None:
            return False
        if signum == 0 or (signum == signal.SIGTERM and process.ignores_term):
            return True
        del self.processes[pid]
        for child in list(self.processes.values()):
            if pid == 1 or (child.ppid == pid and child.dies_with_parent):
                self.kill(child.pid, signal.SIGKILL)
            elif child.ppid == pid:
                child.ppid = 1
        if process.on_exit:
            process.on_exit(signum)
        self.pod.changed()
        return True

    def files_in_memory(self) -> int:
        """Bytes of its files in /dev/shm and in memory-backed volumes."""
        shared = [path for path in self.files if path.startswith("/dev/shm/")]  # noqa: S108 the container's
        sizes = {path: kept.size for path, kept in self.attributes.items() if kept.size is not None}
        in_memory = [mount.volume for mount in self.mounts if mount.volume.in_memory]
        return sum(sizes.get(path, len(self.files[path])) for path in shared) + sum(
            len(data) for volume in in_memory for data in volume.files.values()
        )

    def reset(self) -> None:
        """Forget what a run leaves behind, before the next one; the processes must have ended."""
        self.files = {}
        self.attributes = {}
        for volume in self.pod.volumes.values():  # a disturbed mount goes with the container's mount namespace
            volume.faults = {name: fault for name, fault in volume.faults.items() if fault.container != self.name}
        self._pids = itertools.count(1)


@dataclass
class PodSandbox:
    """A pod on a node: its network namespace, volumes and containers."""

    namespace: str
    name: str
    uid: str
    node: str
    ip: str
    labels: dict[str, str] = field(default_factory=dict)
    volumes: dict[str, Volume] = field(default_factory=dict)
    containers: dict[str, Container] = field(default_factory=dict)
    on_change: Callable[[], None] | None = field(default=None, repr=False)
    """Called by `changed`; the kubelet listens here."""
    filters: dict[str, Filter] = field(default_factory=dict)
    """By who put them there."""
    _netem: Netem = field(default_factory=Netem, repr=False)

    @property
    def netem(self) -> Netem:
        """Impairments of eth0; assign a new one, so that the kubelet is told."""
        return self._netem

    @netem.setter
    def netem(self, netem: Netem) -> None:
        self._netem = netem
        self.changed()

    def netem_to(self, address: str | None) -> Netem:
        """Impairments of packets to an address: those of eth0 and of the filters that know it."""
        found = (f.netem for f in self.filters.values() if f.netem and address in f.addresses)
        return sum(found, self._netem)

    def drops(self, direction: Literal["in", "out"], address: str | None) -> bool:
        """Whether a filter drops packets from (in) or to (out) an address."""
        return any(f.drop == direction and address in f.addresses for f in self.filters.values())

    def changed(self) -> None:
        """Something that probes, metrics or logs can see has changed: a process, a file, the network."""
        if self.on_change:
            self.on_change()


class Nodes:
    """All pods on all nodes, by uid; the kubelet owns the entries."""

    def __init__(self) -> None:
        self.pods: dict[str, PodSandbox] = {}

    def find(self, namespace: str, name: str) -> PodSandbox | None:
        return next((p for p in self.pods.values() if p.namespace == namespace and p.name == name), None)

    def by_ip(self, ip: str) -> PodSandbox | None:
        return next((p for p in self.pods.values() if p.ip == ip), None)
