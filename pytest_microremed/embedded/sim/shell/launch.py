"""Runs simple commands: finds out what a command's name means, and starts it (POSIX 2.9.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pytest_microremed.embedded.sim.shell import processes, registry
from pytest_microremed.embedded.sim.shell.builtins import registry as builtins
from pytest_microremed.embedded.sim.shell.compounds import CompoundCommands
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, FileWriter, writer
from pytest_microremed.embedded.sim.shell.execution import execute
from pytest_microremed.embedded.sim.shell.expansion import expand_text, expand_words
from pytest_microremed.embedded.sim.shell.redirections import diagnose_failure, redirected
from pytest_microremed.embedded.sim.shell.state import ShellState
from pytest_microremed.embedded.sim.shell.syntax import Simple

_NOTHING: Mapping[str, str] = MappingProxyType({})


async def simple(shell: CompoundCommands, command: Simple, descriptors: Descriptors) -> int:
    """Run a simple command in a shell."""
    shell.substituted = 0
    words = await expand_words(command.words, shell.scope(descriptors))
    try:
        streams = await redirected(shell, command.redirections, descriptors)
    except OSError as error:
        return diagnose_failure(shell, error, descriptors)
    extra = {each.name: await expand_text(each.value, shell.scope(descriptors)) for each in command.assignments}
    if not words:
        for name, value in extra.items():
            shell.variables[name] = value
        return shell.substituted
    if words == ["exec"]:  # its redirections are for good
        descriptors.clear()
        descriptors.update(streams)
    if shell.options.xtrace:
        writer(descriptors, 2).write(("+ " + " ".join(words) + "\n").encode("utf-8", "surrogateescape"))
    try:
        function = shell.functions.get(words[0])
        if function is not None:
            return await shell.call_function(function, words, streams)
        if words[0] in builtins.SPECIAL:
            shell.variables.assigned.update(extra)
        return await run_named(shell, words, streams, extra)
    finally:
        for stream in streams.values():
            if isinstance(stream, FileWriter):
                await stream.drain()


async def run_named(
    shell: ShellState, words: Sequence[str], streams: Descriptors, extra: Mapping[str, str] = _NOTHING
) -> int:
    """Run what the first word names, functions aside: a built-in, or a command as a process of its own."""
    name = words[0]
    builtin = builtins.find(name)
    if builtin is not None:
        try:
            return await builtin(shell, list(words), streams)
        except OSError as error:
            shell.diagnose(f"{name}: {error.strerror}", streams)
            return 1
    env = {**shell.variables.environment(), **extra}
    container = shell.files.container
    if name in builtins.WITHOUT_PROCESS and registry.installed(name, container):
        return await execute(words, streams, env, shell.cwd, shell.files, shell.process, shell.arguments[0])
    if shell.in_place:
        shell.process.command = tuple(words)
        await asyncio.sleep(0)  # the other commands of a pipeline start at the same time
        return await execute(words, streams, env, shell.cwd, shell.files, shell.process, shell.arguments[0])
    process = processes.spawn(container, tuple(words), shell.process.pid, shell.services)
    work = execute(words, streams, env, shell.cwd, shell.files, process, shell.arguments[0])
    return await processes.run(container, process, work)
