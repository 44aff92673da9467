"""exit, return, break, eval, exec, trap, wait, command and others: what is run, and in which order."""

from __future__ import annotations

import asyncio

from pytest_microremed.embedded.sim.shell import image_files, launch, registry
from pytest_microremed.embedded.sim.shell.builtins.registry import WITHOUT_PROCESS, builtin, find, number, say
from pytest_microremed.embedded.sim.shell.control import Exit, LoopControl, Return
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors
from pytest_microremed.embedded.sim.shell.execution import execute
from pytest_microremed.embedded.sim.shell.expansion import ExpansionError
from pytest_microremed.embedded.sim.shell.parser import parse
from pytest_microremed.embedded.sim.shell.state import ShellState


@builtin(":", "umask", "ulimit", "alias", "unalias", "hash", "times", "fg", "bg", "disown", "shopt")
async def _nothing(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    return 0


@builtin("exit")
async def _exit(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    raise Exit(number(words, shell.status) & 255)


@builtin("return")
async def _return(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    raise Return(number(words, shell.status) & 255)


@builtin("break", "continue")
async def _leave(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    levels = number(words, 1)
    if levels < 1:
        raise ExpansionError(f"{words[0]}: Illegal number: {levels}")
    if shell.loops == 0:
        return 0
    raise LoopControl(levels, again=words[0] == "continue")


@builtin("eval")
async def _eval(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    shell.status = 0
    return await shell.execute(parse(" ".join(words[1:])), descriptors)


@builtin(".", "source")
async def _source(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    if len(words) < 2:
        raise ExpansionError(f"{words[0]}: filename argument required")
    path = shell.files.absolute(words[1], shell.cwd)
    if not shell.files.is_file(path):
        raise ExpansionError(f"{words[0]}: can't open '{words[1]}': No such file or directory")
    text = (await shell.files.read(path)).decode("utf-8", "surrogateescape")
    try:
        return await shell.execute(parse(text), descriptors)
    except Return as request:
        return request.code


@builtin("exec")
async def _exec(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    if len(words) == 1:
        return 0  # the redirections stay: `launch.simple` sees to it
    shell.process.command = tuple(words[1:])
    env = shell.variables.environment()
    raise Exit(await execute(words[1:], descriptors, env, shell.cwd, shell.files, shell.process))


@builtin("trap")
async def _trap(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    if len(words) < 3:
        return 0
    for signal in words[2:]:
        name = "EXIT" if signal in ("0", "EXIT") else signal.removeprefix("SIG")
        if words[1] in ("-", ""):
            shell.traps.pop(name, None)
        else:
            shell.traps[name] = words[1]
    return 0


@builtin("wait")
async def _wait(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    if len(words) == 1:
        await asyncio.gather(*shell.jobs.values(), return_exceptions=True)
        return 0
    status = 0
    for word in words[1:]:
        job = shell.jobs.get(int(word)) if word.isdigit() else None
        status = 127 if job is None else await asyncio.shield(job)
    return status


@builtin("jobs")
async def _jobs(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    running = [pid for pid, job in shell.jobs.items() if not job.done()]
    for position, pid in enumerate(running, 1):
        process = shell.files.container.processes.get(pid)
        if process is not None:
            shown = str(pid) if "-p" in words else f"[{position}]   Running                 {' '.join(process.command)}"
            say(descriptors, shown)
    return 0


@builtin("type", "command")
async def _type(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    if words[0] == "command" and len(words) > 1 and words[1] not in ("-v", "-V"):
        return await launch.run_named(shell, words[1:], descriptors)
    status = 0
    for name in words[1:]:
        if name in ("-v", "-V"):
            continue
        short = words[0] == "command" and "-v" in words
        where = _meaning(shell, name)
        if where is None:
            status = 127
            if not short:
                say(descriptors, f"{name}: not found")
        else:
            say(descriptors, where.split(" is ")[-1].replace("a shell builtin", name) if short else where)
    return status


def _meaning(shell: ShellState, name: str) -> str | None:
    if name in shell.functions:
        return f"{name} is a function"
    if find(name) is not None or (name in WITHOUT_PROCESS and registry.installed(name, shell.files.container)):
        return f"{name} is a shell builtin"
    if registry.installed(name, shell.files.container):
        return f"{name} is {image_files.tool_path(name)}"
    return None
