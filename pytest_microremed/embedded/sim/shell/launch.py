"""Runs simple commands: finds out what a command's name means, and starts it (POSIX 2.9.1)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.shell import builtins, image_files, processes, registry
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, open_to_read, reader, writer
from pytest_microremed.embedded.sim.shell.expansion import expand_text, expand_words
from pytest_microremed.embedded.sim.shell.filesystem import FileSystem
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError
from pytest_microremed.embedded.sim.shell.services import ShellServices
from pytest_microremed.embedded.sim.shell.streams import BrokenPipe, BytesReader, Null, Reader, Writer
from pytest_microremed.embedded.sim.shell.syntax import Simple

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.shell.interpreter import Shell

NOT_FOUND = 127
NOT_EXECUTABLE = 126
SIGPIPE = 13


def shell_prefix(container: Container, name: str) -> str:
    """How the shell of that image begins its own messages: bash, dash and busybox each in their way."""
    if name.rsplit("/", 1)[-1] == "bash":
        return f"{name}: line 1: "
    return f"{name}: 1: " if speaks_dash(container) else f"{name}: "


def speaks_dash(container: Container) -> bool:
    """Whether /bin/sh is dash (Debian) rather than busybox."""
    return container.image is not None and container.image.profile.userland == "debian"


async def simple(shell: Shell, command: Simple, descriptors: Descriptors) -> int:
    """Run a simple command in a shell."""
    shell.substituted = 0
    words = await expand_words(command.words, shell.scope(descriptors))
    try:
        streams = await shell.redirected(command.redirections, descriptors)
    except OSError as error:
        shell.diagnose_open(error, descriptors)
        return 2 if not words or words[0] not in registry.tools(shell.files.container) else 1
    if not words:
        for assignment in command.assignments:
            shell.variables[assignment.name] = await expand_text(assignment.value, shell.scope(descriptors))
        return shell.substituted
    extra = {a.name: await expand_text(a.value, shell.scope(descriptors)) for a in command.assignments}
    if words == ["exec"]:
        descriptors.clear()
        descriptors.update(streams)
    if shell.options.xtrace:
        writer(descriptors, 2).write(("+ " + " ".join(words) + "\n").encode("utf-8", "surrogateescape"))
    try:
        return await _run(shell, words, streams, extra)
    finally:
        await _settle(streams)


async def _settle(streams: Descriptors) -> None:
    """Let files that were written take their time."""
    for number, stream in streams.items():
        if number and hasattr(stream, "_unpaid"):
            await stream.drain()  # type: ignore[union-attr]


async def _run(shell: Shell, words: Sequence[str], streams: Descriptors, extra: Mapping[str, str]) -> int:
    name = words[0]
    function = shell.functions.get(name)
    if function is not None:
        return await shell.call_function(function, words, streams)
    if name in builtins.SPECIAL:
        shell.variables.values.update(extra)
    return await run_named(shell, words, streams, extra)


async def run_named(
    shell: Shell, words: Sequence[str], streams: Descriptors, extra: Mapping[str, str] = MappingProxyType({})
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
        return await execute(words, streams, env, shell.cwd, shell.files, shell.process)
    if shell.in_place:
        shell.process.command = tuple(words)
        await asyncio.sleep(0)  # the other commands of a pipeline start at the same time
        return await execute(words, streams, env, shell.cwd, shell.files, shell.process)
    process = processes.spawn(container, tuple(words), shell.process.pid, shell.services)
    work = execute(words, streams, env, shell.cwd, shell.files, process)
    return await processes.run(container, process, work)


async def execute(
    words: Sequence[str],
    streams: Descriptors,
    env: Mapping[str, str],
    cwd: str,
    files: FileSystem,
    process: Process,
) -> int:
    """Run a command that is not built in, as the given process; the exit code."""
    services = files.services
    err = streams.get(2)
    error_stream: Writer = err if err is not None and hasattr(err, "write") else Null()
    container = files.container
    name = words[0]
    found, problem = locate(name, files, cwd)
    if found is None:
        prefix = shell_prefix(container, "sh")
        error_stream.write(f"{prefix}{name}: {problem}\n".encode("utf-8", "surrogateescape"))
        return NOT_EXECUTABLE if problem == "Permission denied" else NOT_FOUND
    args = list(words)
    if found not in registry.tools(container):  # a script
        args = [_interpreter_of(files.content(found)), found, *words[1:]]
        found = args[0]
    function = registry.find(found, container)
    if function is None:
        error_stream.write(f"{name}: not found\n".encode("utf-8", "surrogateescape"))
        return NOT_FOUND

    async def run_another(command: Sequence[str], stdin: Reader | None, out: Writer | None) -> int:
        child = processes.spawn(container, tuple(command), process.pid, services)
        used = {**streams, 0: stdin if stdin is not None else BytesReader()}
        if out is not None:
            used[1] = out
        return await processes.run(container, child, execute(command, used, env, cwd, files, child))

    call: Call | None = None
    try:
        call = Call(
            args, _reader(streams), writer(streams, 1) if 1 in streams else Null(), error_stream, env, cwd, files,
            process, services, run_another,
        )  # fmt: skip
        code = await function(call)
        await call.out.drain()
        return code
    except CommandError as error:
        if str(error):
            error_stream.write(f"{found}: {error}\n".encode("utf-8", "surrogateescape"))
        return error.code
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        error_stream.write(f"{found}: {where}{error.strerror}\n".encode("utf-8", "surrogateescape"))
        return 1
    except BrokenPipe:
        return 128 + SIGPIPE


def _reader(streams: Descriptors) -> Reader:
    return reader(streams, 0) if 0 in streams else BytesReader()


def locate(name: str, files: FileSystem, cwd: str) -> tuple[str | None, str]:
    """A tool's name, or a script's path; or None and what is wrong."""
    container = files.container
    if "/" not in name:
        return (name, "") if registry.installed(name, container) else (None, "not found")
    path = files.absolute(name, cwd)
    tool = image_files.tool_at(path, container)
    if tool is not None and files.exists(path):
        return tool, ""
    if files.is_directory(path):
        return None, "Permission denied"
    if not files.is_file(path):
        return None, "not found"
    return (path, "") if files.attributes(path).mode & 0o111 else (None, "Permission denied")


def _interpreter_of(content: bytes) -> str:
    first = content.split(b"\n", 1)[0].decode("utf-8", "replace")
    words = first[2:].split() if first.startswith("#!") else ["sh"]
    name = words[-1] if words and words[0].endswith("/env") else (words[0] if words else "sh")
    return name.rsplit("/", 1)[-1]


async def reading(call: Call, name: str) -> Reader:
    """The file argument of a command as a stream; devices give what they give. Raises OSError."""
    streams: Descriptors = {0: call.stdin}
    return await open_to_read(call.path(name), call.files, streams)
