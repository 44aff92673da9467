"""One `kubectl exec`: runs a command in a container, as a process of it, and collects what it writes."""

from __future__ import annotations

import asyncio
import posixpath
import signal
from collections.abc import Sequence
from dataclasses import replace

from pytest_microremed.embedded.api.runtime import ExecResult
from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.shell import builtins, execution, processes
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors
from pytest_microremed.embedded.sim.shell.filesystem import FileSystem
from pytest_microremed.embedded.sim.shell.image_files import SEARCH_PATH
from pytest_microremed.embedded.sim.shell.services import SessionClock, ShellServices
from pytest_microremed.embedded.sim.shell.streams import BytesReader, Collector

LONGEST_S = 3600.0
"""Simulated seconds after which a command is cut off (exit code 137), so that none outlives its client for ever."""
_KILLED = 137


async def run_command(
    container: Container,
    command: Sequence[str],
    stdin: bytes,
    services: ShellServices,
    process: Process | None = None,
) -> ExecResult:
    """Run a command as `kubectl exec` would: not through a shell, with the container's environment and directory.

    A program that the image lacks gives the message and the exit code of a container runtime (OCI). With `process`
    the command runs as that one, which is its caller's: the container's first process, whose script it is.
    """
    builtins.load()
    services = replace(services, clock=SessionClock(services.clock))
    files = FileSystem(container, services)
    cwd = container.spec.get("workingDir") or "/"
    if not command:
        return ExecResult(stderr=b"you must specify at least one command for the container\n", exit_code=1)
    found, problem = execution.locate(command[0], files, cwd)
    if found is None:
        return _refused(command[0], problem)
    out, err = Collector(), Collector()
    streams: Descriptors = {0: BytesReader(stdin), 1: out, 2: err}
    env = {"PATH": SEARCH_PATH, "HOSTNAME": container.pod.name, "HOME": "/root", **container.env}
    runner = process or processes.spawn(container, tuple(command), 0, services)
    work = execution.execute(command, streams, env, posixpath.normpath(cwd), files, runner)
    if process is not None:
        code = await work
        return ExecResult(bytes(out.data), bytes(err.data), code)
    try:
        running = processes.run(container, runner, work)
        code = await asyncio.wait_for(running, LONGEST_S / services.clock.speed)
    except TimeoutError:
        container.kill(runner.pid, signal.SIGKILL)
        code = _KILLED
    return ExecResult(bytes(out.data), bytes(err.data), code)


def _refused(name: str, problem: str) -> ExecResult:
    if problem == "Permission denied":
        reason, code = f'exec: "{name}": permission denied', execution.NOT_EXECUTABLE
    elif "/" in name:
        reason, code = f'exec: "{name}": stat {name}: no such file or directory', execution.NOT_FOUND
    else:
        reason, code = f'exec: "{name}": executable file not found in $PATH', execution.NOT_FOUND
    text = f"OCI runtime exec failed: exec failed: unable to start container process: {reason}: unknown\n"
    return ExecResult(stderr=text.encode(), exit_code=code)
