"""Runs commands as processes of the container, so that `ps` shows them and `kill` ends them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine

from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.shell.services import ShellServices

Work = Callable[[Process], Coroutine[None, None, int]]


def spawn(container: Container, command: tuple[str, ...], parent: int, services: ShellServices) -> Process:
    return container.spawn(command, ppid=parent, started=services.clock.now(), memory=2**20)


async def run(container: Container, process: Process, work: Coroutine[None, None, int]) -> int:
    """Do the work as that process, and give its exit code: 128 + signal if the process is killed meanwhile.

    If the caller is cancelled, the process lives on, as one does whose parent or client has gone.
    """
    killed = 0

    async def live() -> int:
        try:
            return await work
        finally:
            leave(container, process)

    def end(signum: int) -> None:
        nonlocal killed
        killed = signum or 1
        task.cancel()

    task = asyncio.ensure_future(live())
    keep(task)
    process.on_exit = end
    await asyncio.wait({task})
    return 128 + killed if task.cancelled() else task.result()


def leave(container: Container, process: Process) -> None:
    """The process has ended by itself; what it started lives on as a child of the container's first process."""
    if container.processes.pop(process.pid, None) is None:
        return
    for child in container.processes.values():
        if child.ppid == process.pid:
            child.ppid = 1
    container.pod.changed()


_kept: set[asyncio.Task[int]] = set()


def keep(task: asyncio.Task[int]) -> None:
    """Hold a background job's task until it has ended: the event loop itself holds tasks only weakly."""
    _kept.add(task)
    task.add_done_callback(_forget)


def _forget(task: asyncio.Task[int]) -> None:
    _kept.discard(task)
    if not task.cancelled():
        task.exception()


async def spin(container: Container, process: Process, cores: float = 1.0) -> None:
    """Use CPU and do nothing else until killed."""
    process.cpu = cores
    container.pod.changed()
    await asyncio.Event().wait()
