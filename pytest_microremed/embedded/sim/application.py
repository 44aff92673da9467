"""A server or client program in a container: its start, what it needs, and what it answers its peers.

It comes up once it has had its CPU seconds; it is cut off from a dependency that cannot be addressed, and
slow when it gets little CPU. It polls nothing: the kubelet calls `refresh` when something that it needs has
changed.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.dependencies import Trouble, find_dependencies, misconfiguration, outage
from pytest_microremed.embedded.sim.launch import Serve
from pytest_microremed.embedded.sim.log_styles import Speaker, explain, missing_variable
from pytest_microremed.embedded.sim.logs import Condition, ContainerLog
from pytest_microremed.embedded.sim.model import Answer, Container, Mount, Process
from pytest_microremed.embedded.sim.network import Network
from pytest_microremed.embedded.sim.usage import fair_share

START_S = 0.3
"""Seconds before a program does anything: loading, linking."""
START_CORES = 1.5
"""Cores that a starting program can use at once."""
FILL_S = 1.5
"""Seconds until a program holds its working set."""
FIRST_PAGES = 0.3
"""Share of the working set that it holds from the start."""
PATIENCE_S = 5.0
"""How long it waits for a dependency's connection."""
HEALTH_WORDS = ("health", "ready", "readiness", "live", "ping")
PROBES = ("readinessProbe", "livenessProbe", "startupProbe")
LOG_FOLDER = "/var/log"


class Application:
    """The program of one run of a container. Implements `model.Program`."""

    def __init__(
        self,
        container: Container,
        plan: Serve,
        declared_env: Mapping[str, str],
        clock: SimClock,
        network: Network,
        rng: random.Random,
    ) -> None:
        self.container = container
        self.profile = plan.profile
        self.ports = plan.ports
        self.up = False
        self.is_reachable = True
        """Whether peers send requests: its container is ready."""
        self.misconfigured: tuple[Trouble, ...] = ()
        self.dependencies = find_dependencies(declared_env)
        speaker = Speaker(_service_name(container), container.pod.name, plan.ports[0] if plan.ports else 0)
        self.log = ContainerLog(clock, plan.profile.style, speaker, rng)
        self._clock = clock
        self._network = network
        self._random = rng
        self._process: Process | None = None
        self._exit: Callable[[int], None] | None = None
        self._work_left = plan.profile.cpu_start
        self._rate = 0.0
        self._counted = clock.seconds()
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def start(self, argv: Sequence[str], exited: Callable[[int], None]) -> Process:
        """Begin as pid 1; `exited` is called with the exit code if the program gives up by itself."""
        self._exit = exited
        self._counted = self._clock.seconds() + START_S
        self._process = self.container.spawn(
            tuple(argv),
            started=self._clock.now(),
            cpu=min(START_CORES, self.profile.cpu_start),
            memory=int(self.profile.memory * FIRST_PAGES),
        )
        self._later("memory", FILL_S, self._fill_memory)
        missing = self._missing_variable()
        if missing:
            self._later("exit", START_S, lambda: self._give_up(missing))
            return self._process
        self.log.starting()
        self._write_log_file()
        self.refresh()
        return self._process

    def stop(self) -> None:
        """Forget everything that was planned; the process has ended."""
        self.up = False
        for timer in self._timers.values():
            timer.cancel()
        self.log.become(Condition())

    def refresh(self) -> None:
        """Take in what has changed: CPU share, names and Services, network, disk."""
        if self._process is None or "exit" in self._timers:
            return
        self._progress()
        troubles = (misconfiguration(d, self._network, self.container.pod) for d in self.dependencies)
        self.misconfigured = tuple(trouble for trouble in troubles if trouble)
        self.log.become(self._condition())
        if self.misconfigured and self.profile.role == "client":
            self._later("exit", PATIENCE_S, lambda: self._quit(1))

    def listens(self, port: int) -> bool:
        """Whether a TCP connection to the port is accepted now."""
        return self.up and port in self.ports and not self._is_blocked()

    def answer(self, port: int, path: str) -> Answer | None:
        """The reply to an HTTP GET; None where the port does not speak HTTP."""
        if self.profile.protocol != "http":
            return None
        troubles, seconds = self.misconfigured, self.seconds()
        if not troubles and not self._is_health_path(path):
            troubles = self._outages()
            seconds += self._call_delay()
        reply = {"service": self.log.speaker.service, "status": "ok"}
        if troubles:
            reply |= {"status": "error", "error": explain(self.profile.style, troubles[0])}
        return Answer(500 if troubles else 200, json.dumps(reply) + "\n", seconds, "application/json")

    def health(self, port: int) -> Literal["SERVING", "NOT_SERVING", "UNIMPLEMENTED"] | None:
        """The answer of the gRPC health service; None where the port does not speak gRPC."""
        if self.profile.protocol != "grpc":
            return None
        return "NOT_SERVING" if self.misconfigured else "SERVING"

    def seconds(self) -> float:
        """How long it takes over a small request now (grows with CPU contention)."""
        if self._process is None:
            return 0.0
        return self.profile.cpu_request / fair_share(self.container, self._process)

    def observe(self) -> None:
        """Bring the log up to date with the dependencies, as a reader would find it."""
        if self.up:
            self.log.become(self._condition(self._outages()))

    def _condition(self, outages: tuple[Trouble, ...] | None = None) -> Condition:
        pod = self.container.pod
        if outages is None:
            outages = tuple(t for t in self.log.condition.troubles if t.kind in ("refused", "timeout"))
        blocked = self._is_blocked()
        return Condition(
            is_asked=self.up and self.is_reachable and not blocked,
            seconds=self.seconds(),
            call_delay_s=self._call_delay(),
            call_loss=pod.netem.loss if self.dependencies else 0.0,
            disk_s=max(
                (
                    fault.latency_s * fault.percent / 100
                    for mount in self._log_mounts()
                    for fault in mount.volume.faults.values()
                    if fault.container == self.container.name
                ),
                default=0.0,
            ),
            troubles=(*self.misconfigured, *outages) if self.up or blocked else (),
        )

    def _is_health_path(self, path: str) -> bool:
        """Whether the program answers there for itself only, without asking its dependencies."""
        probes = (self.container.spec.get(kind) or {} for kind in PROBES)
        probed = {(probe.get("httpGet") or {}).get("path") for probe in probes}
        return path in probed or any(word in path.lower() for word in HEALTH_WORDS)

    def _is_blocked(self) -> bool:
        """Whether it does not begin its work because a dependency cannot be addressed."""
        waits = self.profile.waits_for_dependencies or self.profile.role == "client"
        return waits and bool(self.misconfigured)

    def _call_delay(self) -> float:
        """What the pod's network adds to a request that asks every dependency in turn."""
        return self.container.pod.netem.delay_s * len(self.dependencies)

    def _outages(self) -> tuple[Trouble, ...]:
        found = (outage(d, self._network, self.container.pod, PATIENCE_S) for d in self.dependencies)
        return tuple(trouble for trouble in found if trouble)

    def _progress(self) -> None:
        """Count the CPU that the start has had, and plan its end at the present share."""
        if self.up or self._process is None:
            return
        now = self._clock.seconds()
        self._work_left -= self._rate * max(0.0, now - self._counted)
        self._counted = max(now, self._counted)
        if self._work_left <= 1e-9:
            self._come_up()
            return
        share = min(START_CORES, fair_share(self.container, self._process))
        self._rate = share if share >= self.profile.minimum_cpu else 0.0
        if self._rate:
            self._later("start", self._counted - now + self._work_left / self._rate, self.refresh)

    def _come_up(self) -> None:
        assert self._process is not None
        self.up = True
        self._process.cpu = self.profile.cpu_idle * self._random.uniform(0.85, 1.15)
        self.log.started()
        self.container.pod.changed()

    def _fill_memory(self) -> None:
        assert self._process is not None
        self._process.memory = int(self.profile.memory * self._random.uniform(0.97, 1.05))
        self.container.pod.changed()

    def _missing_variable(self) -> str | None:
        env = self.container.env
        for alternatives in self.profile.required_env:
            if not any(env.get(name) for name in alternatives.split("|")):
                return alternatives
        return None

    def _give_up(self, variable: str) -> None:
        lines, code = missing_variable(self.profile.style, variable)
        for text in lines:
            self.log.write(text)
        self._quit(code)

    def _quit(self, code: int) -> None:
        if self._exit:
            self._exit(code)

    def _write_log_file(self) -> None:
        """The program also keeps a file on its log volume, so that an I/O fault there meets something."""
        for mount in self._log_mounts():
            name = f"{mount.sub_path.strip('/')}/{self.container.name}.log".lstrip("/")
            mount.volume.files[name] = "".join(f"{entry.text}\n" for entry in self.log.lines).encode()

    def _log_mounts(self) -> list[Mount]:
        return [m for m in self.container.mounts if m.path.startswith(LOG_FOLDER) and not m.read_only]

    def _later(self, name: str, seconds: float, function: Callable[[], None]) -> None:
        if name in self._timers:
            self._timers[name].cancel()
        self._timers[name] = self._clock.call_later(seconds, function)


def _service_name(container: Container) -> str:
    """What the program calls itself: its workload, as far as the pod tells."""
    labels = container.pod.labels
    return labels.get("app") or labels.get("app.kubernetes.io/name") or container.pod.name
