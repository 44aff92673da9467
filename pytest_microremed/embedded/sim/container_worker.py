"""The life of one container: pull, create, run, back off, run again; as a kubelet and its runtime do it."""

from __future__ import annotations

import asyncio
import uuid
from typing import TYPE_CHECKING, Any, Literal

from pytest_microremed.embedded.sim import environment, image_pull
from pytest_microremed.embedded.sim.alarm import Alarm
from pytest_microremed.embedded.sim.back_off import BackOff, go_duration
from pytest_microremed.embedded.sim.container_run import ContainerRun
from pytest_microremed.embedded.sim.container_state import EPOCH, Exit, Running, State, Terminated, Waiting
from pytest_microremed.embedded.sim.images import Image, full_name
from pytest_microremed.embedded.sim.launch import Missing, command_line, plan
from pytest_microremed.embedded.sim.logs import ContainerLog
from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.node_context import NodeContext
from pytest_microremed.embedded.sim.probe_handlers import Result
from pytest_microremed.embedded.sim.probes import Kind
from pytest_microremed.embedded.sim.shell.users import run_as_user
from pytest_microremed.embedded.sim.volumes import mounts

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.pod_worker import PodWorker

CREATE_S = 0.3
CONFIG_RETRY_S = 5.0
FIRST_RESTART_S = 1.0
"""The first restart comes at once, with the kubelet's next look at the pod."""
BACK_OFF_RESET_S = 600.0
"""A container that has run for so long starts with the shortest back-off again."""
REDEFINED = "Container {} definition changed, will be restarted"

Role = Literal["init", "main", "ephemeral"]
_FIELDS = {"init": "initContainers", "main": "containers", "ephemeral": "ephemeralContainers"}


class ContainerWorker:
    """Runs one container of a pod until its restart policy lets it rest."""

    def __init__(self, pod: PodWorker, context: NodeContext, spec: dict[str, Any], role: Role, waiting: str) -> None:
        self.role = role
        self.container = Container(pod.sandbox, spec["name"], spec)
        self.state: State = Waiting(waiting)
        self.last: Terminated | None = None
        """How the run before the present one ended."""
        self.ready = False
        self.started = False
        self.stopping = False
        self.image_id = ""
        self.container_id = ""
        self.came_up = asyncio.Event()
        """It has started, and its startup probe, if any, has passed."""
        self.finished = asyncio.Event()
        """It will not run again."""
        self.alarm = Alarm(context.clock)
        self.log: ContainerLog | None = None
        self.previous_log: ContainerLog | None = None
        self._pod = pod
        self._context = context
        self._run: ContainerRun | None = None
        self._back_off = BackOff()
        self._has_failed = False
        """It has ended before, within the time that the back-off remembers."""
        self._redefined = False

    @property
    def name(self) -> str:
        return self.container.name

    @property
    def is_running(self) -> bool:
        return self._run is not None

    @property
    def is_sidecar(self) -> bool:
        """An init container that goes on beside the main ones."""
        return self.role == "init" and self.container.spec.get("restartPolicy") == "Always"

    @property
    def restart_policy(self) -> str:
        """Always, OnFailure or Never: the pod's, but for init and ephemeral containers."""
        policy = str(self._pod.pod["spec"].get("restartPolicy") or "Always")
        if self.role == "ephemeral":
            return "Never"
        if self.role == "init":
            return "Always" if self.is_sidecar else {"Always": "OnFailure"}.get(policy, policy)
        return policy

    async def live(self) -> None:
        """Run until the container has ended for good."""
        try:
            while not self.stopping:
                image = await image_pull.obtain(self, self._context.images)
                declared = await self._resolve_environment()
                if image is None or declared is None:
                    return
                if full_name(self.container.spec["image"]) != image.reference:
                    continue  # it was changed meanwhile
                ended = await self._run_once(image, declared)
                if self.stopping or not self._is_restarted(ended):
                    return
                await self._wait_before_restart()
                self.container.restart_count += 1
        finally:
            self.finished.set()
            self._pod.publish()

    def redefine(self, spec: dict[str, Any]) -> None:
        """The pod's spec has changed: another image makes a new container."""
        changed = spec.get("image") != self.container.spec.get("image")
        self.container.spec = spec
        if not changed:
            return
        self._redefined = True
        if self._run:
            self._restart(REDEFINED.format(self.name))
        else:
            self.alarm.ring()

    def refresh(self) -> None:
        """The pod, or what its programs depend on, has changed."""
        if self._run:
            self._run.refresh()

    def observe(self, service: str | None) -> None:
        """A Service (None = perhaps any) has gone or come back: let a program that uses it notice."""
        if self._run and (service is None or self._run.depends_on(service)):
            self._run.observe()

    def depends_on(self, service: str) -> bool:
        """Whether the running program was told to use a Service of that name."""
        return self._run is not None and self._run.depends_on(service)

    def read_log(self) -> ContainerLog | None:
        """The log of the present or last run, written up to now; None if it has never run."""
        if self._run:
            self._run.observe()
        if self.log:
            self.log.advance()
        return self.log

    async def stop(self, grace_s: float) -> None:
        """End it, and do not start it again; returns when it has gone."""
        self.stopping = True
        self.alarm.ring()
        if self._run:
            self.event("Normal", "Killing", f"Stopping container {self.name}")
            await self._run.terminate(grace_s)

    def kill(self) -> None:
        """End it at once, and do not start it again."""
        self.stopping = True
        self.alarm.ring()
        if self._run:
            self._run.kill()

    def wait_for(self, reason: str, message: str) -> None:
        """Show why it does not run; what ran before becomes the last state."""
        if isinstance(self.state, Terminated):
            self.last = self.state
        self.state = Waiting(reason, message)
        self._pod.publish()

    def event(self, type_: Literal["Normal", "Warning"], reason: str, message: str) -> None:
        """Tell of this container."""
        self._context.event(self._pod.pod, type_, reason, message, f"spec.{_FIELDS[self.role]}{{{self.name}}}")

    async def _resolve_environment(self) -> dict[str, str] | None:
        """Try as often as it takes; None if the container is to go meanwhile."""
        while not self.stopping:
            try:
                return environment.resolve(
                    self._context.store,
                    self._pod.pod,
                    self.container.spec,
                    self.container.pod.ip,
                    self._context.ip,
                )
            except environment.ConfigError as error:
                self.wait_for("CreateContainerConfigError", str(error))
                self.event("Warning", "Failed", f"Error: {error}")
            await self.alarm.wait(CONFIG_RETRY_S)
        return None

    async def _run_once(self, image: Image, declared: dict[str, str]) -> Exit:
        container, context = self.container, self._context
        container.reset()
        container.image = image
        container.mounts = mounts(container.spec, container.pod.volumes)
        container.env = environment.complete(context.store, self._pod.pod, declared)
        container.user = run_as_user(self._pod.pod["spec"], container.spec)
        argv = tuple(environment.expand(word, container.env) for word in command_line(container))
        planned = plan(container, argv)
        self._redefined = False
        await context.clock.sleep(CREATE_S)
        self.image_id = image.image_id
        self.container_id = f"containerd://{uuid.uuid4().hex}{uuid.uuid4().hex}"
        self.event("Normal", "Created", f"Created container: {self.name}")
        if isinstance(planned, Missing):
            return self._fail_start(planned.binary)
        if isinstance(self.state, Terminated):
            self.last = self.state
        started_s = context.clock.seconds()
        run = ContainerRun(context, container, planned, argv, declared, self._tell_oom_kill)
        self._run, self.previous_log, self.log = run, self.log, run.log
        self.state = Running(run.started_at)
        container.state, container.started = "running", run.started_at
        self.event("Normal", "Started", f"Started container {self.name}")
        run.start()
        self._start_probing(run)
        self._pod.publish()
        if self._redefined:
            self._restart(REDEFINED.format(self.name))
        ended = await run.ended
        self._run = None
        self.ready = self.started = False
        container.state = "terminated"
        self.state = Terminated.of(ended, run.started_at, context.clock.now(), self.container_id)
        if context.clock.seconds() - started_s > BACK_OFF_RESET_S:
            self._back_off.reset()
            self._has_failed = False
        self._pod.publish()
        return ended

    def _fail_start(self, binary: str) -> Exit:
        ended = Exit.without_start(binary)
        self.event("Warning", "Failed", f"Error: {ended.message}")
        self.wait_for("RunContainerError", ended.message)
        self.last = Terminated.of(ended, EPOCH, self._context.clock.now(), self.container_id)
        self.container.state = "terminated"
        return ended

    def _start_probing(self, run: ContainerRun) -> None:
        if self.container.spec.get("startupProbe"):
            self._probe(run, "Startup")
        else:
            self._start_lasting_probes(run)

    def _start_lasting_probes(self, run: ContainerRun) -> None:
        self.started = True
        self.came_up.set()
        self._become_ready(run, not self.container.spec.get("readinessProbe"))
        self._probe(run, "Liveness")
        self._probe(run, "Readiness")

    def _become_ready(self, run: ContainerRun, ready: bool) -> None:
        self.ready = ready
        run.tell_ready(ready)

    def _probe(self, run: ContainerRun, kind: Kind) -> None:
        rng = self._context.random(f"{self._pod.sandbox.name}/{self.name}/{kind}")

        def verdict(kind: Kind, passing: bool) -> None:
            if kind == "Readiness":
                self._become_ready(run, passing)
            elif not passing:
                self._restart(f"Container {self.name} failed {kind.lower()} probe, will be restarted")
            elif kind == "Startup":
                self._start_lasting_probes(run)
            self._pod.publish()

        run.probe(kind, rng, verdict, self._tell_unhealthy)

    def _tell_unhealthy(self, kind: Kind, result: Result) -> None:
        verb = "failed" if result.ok is False else "errored and resulted in unknown state"
        self.event("Warning", "Unhealthy", f"{kind} probe {verb}: {result.message}")

    def _tell_oom_kill(self, victim: Process) -> None:
        program = victim.command[0].rsplit("/", 1)[-1]
        self.event(
            "Warning",
            "OOMKilling",
            f"Memory cgroup out of memory: Killed process {program}, "
            f"anon-rss:{victim.memory // 1024}kB, container {self.name}",
        )

    def _restart(self, message: str) -> None:
        if self._run:
            self.event("Normal", "Killing", message)
            self._pod.spawn_task(self._run.terminate(self._pod.grace_s))

    def _is_restarted(self, ended: Exit) -> bool:
        if self._redefined or self.restart_policy == "Always":
            return True
        return self.restart_policy == "OnFailure" and ended.code != 0

    async def _wait_before_restart(self) -> None:
        if self._redefined:
            return
        if not self._has_failed:
            self._has_failed = True
            await self.alarm.wait(FIRST_RESTART_S)
            return
        wait_s = self._back_off.take()
        pod = self._pod.sandbox
        identity = f"{pod.name}_{pod.namespace}({pod.uid})"
        message = f"back-off {go_duration(wait_s)} restarting failed container={self.name} pod={identity}"
        self.wait_for("CrashLoopBackOff", message)
        told = f"Back-off restarting failed container {self.name} in pod {identity}"
        self.event("Warning", "BackOff", told)
        await self.alarm.wait(wait_s)
