"""One run of a container, from the start of pid 1 to its end: program, probes, memory limit and log."""

from __future__ import annotations

import asyncio
import random
import signal
from collections.abc import Callable, Coroutine, Mapping, Sequence

from pytest_microremed.embedded.sim.addresses import is_address
from pytest_microremed.embedded.sim.application import Application
from pytest_microremed.embedded.sim.container_state import Exit
from pytest_microremed.embedded.sim.launch import Plan, Script, Serve, Sleep, termination_code
from pytest_microremed.embedded.sim.log_styles import Speaker
from pytest_microremed.embedded.sim.logs import ContainerLog
from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.node_context import NodeContext
from pytest_microremed.embedded.sim.probe_handlers import Result
from pytest_microremed.embedded.sim.probes import Kind, Prober
from pytest_microremed.embedded.sim.shell import run_command
from pytest_microremed.embedded.sim.usage import largest_process, memory_bytes, memory_limit

TERMINATE_S = 1.0
"""How long a program takes to end on SIGTERM."""
OOM_S = 0.2
"""Time the kernel takes to notice and kill."""
SHELL_MEMORY = 5 * 2**18


class ContainerRun:
    """Starts on construction; `ended` is done when pid 1 has gone, and with it all processes."""

    def __init__(
        self,
        context: NodeContext,
        container: Container,
        plan: Plan,
        argv: Sequence[str],
        declared_env: Mapping[str, str],
        oom_killed: Callable[[Process], None],
    ) -> None:
        self.ended: asyncio.Future[Exit] = context.clock.loop.create_future()
        self.started_at = context.clock.now()
        self._context = context
        self._container = container
        self._plan = plan
        self._argv = tuple(argv)
        self._oom_killed = oom_killed
        self._application: Application | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._probers: list[Prober] = []
        self._checking_memory = False
        rng = context.random(f"{container.pod.name}/{container.name}")
        if isinstance(plan, Serve):
            self._application = Application(container, plan, declared_env, context.clock, context.network, rng)
            self.log = self._application.log
        else:
            speaker = Speaker(container.name, container.pod.name, 0)
            self.log = ContainerLog(context.clock, "plain", speaker, rng)
        container.program = self._application

    def start(self) -> None:
        """Start pid 1."""
        if self._application:
            process = self._application.start(self._argv, lambda code: self._end(Exit(code)))
        else:
            ignores_term = termination_code(self._plan, self._argv) is None
            process = self._container.spawn(
                self._argv, started=self.started_at, memory=SHELL_MEMORY, ignores_term=ignores_term
            )
        process.on_exit = self._killed
        if isinstance(self._plan, Sleep) and self._plan.seconds is not None:
            self._spawn_task(self._sleep(self._plan.seconds))
        if isinstance(self._plan, Script):
            self._spawn_task(self._run_script(process))

    def probe(
        self,
        kind: Kind,
        rng: random.Random,
        verdict: Callable[[Kind, bool], None],
        unhealthy: Callable[[Kind, Result], None],
    ) -> None:
        """Start probing, if the container has a probe of that kind."""
        if self._container.spec.get(f"{kind.lower()}Probe"):
            context = self._context
            prober = Prober(kind, self._container, context.probes, context.clock, rng, verdict, unhealthy)
            self._probers.append(prober)
            self._spawn_task(prober.run())

    def refresh(self) -> None:
        """Something that this run depends on has changed."""
        if self.ended.done():
            return
        limit = memory_limit(self._container)
        if limit is not None and memory_bytes(self._container) > limit and not self._checking_memory:
            self._checking_memory = True
            self._context.clock.call_later(OOM_S, self._relieve_memory)
        if self._application:
            self._application.refresh()
        for prober in self._probers:
            prober.poke()

    def tell_ready(self, ready: bool) -> None:
        """The container is ready, so that requests come; or it is not."""
        if self._application:
            self._application.is_reachable = ready
            self._application.refresh()

    def observe(self) -> None:
        """Let the program notice whether its dependencies answer."""
        if self._application and not self.ended.done():
            self._application.observe()

    def depends_on(self, service: str) -> bool:
        """Whether the program was told to use a Service of that name, or perhaps is, by an address."""
        return self._application is not None and any(
            service in target.host.split(".")[:2] or is_address(target.host)
            for dependency in self._application.dependencies
            for target in dependency.targets
        )

    async def terminate(self, grace_s: float) -> None:
        """SIGTERM, and SIGKILL when the grace period is over."""
        code = termination_code(self._plan, self._argv)
        if code is None or grace_s <= 0:
            await self._context.clock.sleep(grace_s)
            self.kill()
        else:
            await self._context.clock.sleep(min(TERMINATE_S, grace_s))
            self._end(Exit(code))

    def kill(self) -> None:
        """SIGKILL at once."""
        self._end(Exit(128 + signal.SIGKILL))

    def _spawn_task(self, coroutine: Coroutine[None, None, None]) -> None:
        self._tasks.append(self._context.clock.loop.create_task(coroutine))

    async def _sleep(self, seconds: float) -> None:
        await self._context.clock.sleep(seconds)
        self._end(Exit(0))

    async def _run_script(self, process: Process) -> None:
        result = await run_command(self._container, self._argv, b"", self._context.shell, process)
        for text in (result.stdout + result.stderr).decode(errors="replace").splitlines():
            self.log.write(text)
        self._end(Exit(result.exit_code))

    def _relieve_memory(self) -> None:
        """What the kernel does when the cgroup is over its limit: kill the largest process."""
        self._checking_memory = False
        limit = memory_limit(self._container)
        if self.ended.done() or limit is None or memory_bytes(self._container) <= limit:
            return
        victim = largest_process(self._container)
        self._oom_killed(victim)
        if victim.pid == 1:
            self._end(Exit(128 + signal.SIGKILL, "OOMKilled"))
        else:
            self._container.kill(victim.pid, signal.SIGKILL)

    def _killed(self, signum: int) -> None:
        self._end(Exit(128 + signum if signum else 0))

    def _end(self, ended: Exit) -> None:
        if self.ended.done():
            return
        self.ended.set_result(ended)
        if self._application:
            self._application.stop()
        for task in self._tasks:
            if task is not asyncio.current_task(self._context.clock.loop):
                task.cancel()
        self._container.program = None
        for pid in list(self._container.processes):
            self._container.kill(pid, signal.SIGKILL)
