"""Runs commands that are not built into the shell: a tool of the image, or a script in the container's files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytest_microremed.embedded.sim.model import Process
from pytest_microremed.embedded.sim.shell import image_files, processes, registry
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, open_to_read, reader, writer
from pytest_microremed.embedded.sim.shell.dialect import not_found
from pytest_microremed.embedded.sim.shell.filesystem import FileSystem
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError
from pytest_microremed.embedded.sim.shell.streams import BrokenPipe, BytesReader, Null, Reader, Writer

NOT_FOUND = 127
NOT_EXECUTABLE = 126
BROKEN_PIPE = 128 + 13
_UNFORESEEN = (ValueError, LookupError, ArithmeticError, TypeError, RecursionError)
"""What a command raises over an argument that it did not expect: it fails, and nothing else does."""


async def execute(
    words: Sequence[str],
    streams: Descriptors,
    env: Mapping[str, str],
    cwd: str,
    files: FileSystem,
    process: Process,
    shell: str = "sh",
) -> int:
    """Run a command as the given process, to its end; the exit code. `shell` is who complains if there is none."""
    err = writer(streams, 2) if 2 in streams else Null()
    found, problem = locate(words[0], files, cwd)
    args = list(words)
    if found is not None and found not in registry.tools(files.container):
        args = [_interpreter_of(files.content(found)), found, *words[1:]]
        found, problem = locate(args[0], files, cwd)
    function = registry.find(found, files.container) if found else None
    if function is None:
        _say(err, not_found(files.container, shell, words[0], problem))
        return NOT_EXECUTABLE if problem == "Permission denied" else NOT_FOUND
    try:
        call = _call(args, streams, env, cwd, files, process, err)
        code = await function(call)
        await call.out.drain()
    except CommandError as error:
        if str(error):
            _say(err, f"{found}: {error}")
        return error.code
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _say(err, f"{found}: {where}{error.strerror}")
        return 1
    except BrokenPipe:
        return BROKEN_PIPE
    except _UNFORESEEN:
        _say(err, f"{found}: invalid argument")
        return 1
    return code


def _call(
    args: Sequence[str],
    streams: Descriptors,
    env: Mapping[str, str],
    cwd: str,
    files: FileSystem,
    process: Process,
    err: Writer,
) -> Call:
    async def run(
        words: Sequence[str],
        stdin: Reader | None = None,
        out: Writer | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> int:
        child = processes.spawn(files.container, tuple(words), process.pid, files.services)
        used: Descriptors = {**streams, 0: stdin or BytesReader()}
        if out is not None:
            used[1] = out
        work = execute(words, used, env if environment is None else environment, cwd, files, child)
        return await processes.run(files.container, child, work)

    async def open_path(path: str) -> Reader:
        return await open_to_read(path, files, streams)

    stdin = reader(streams, 0) if 0 in streams else BytesReader()
    out = writer(streams, 1) if 1 in streams else Null()
    return Call(args, stdin, out, err, env, cwd, files, process, files.services, run, open_path)


def _say(err: Writer, text: str) -> None:
    err.write(f"{text}\n".encode("utf-8", "surrogateescape"))


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
    """What a script's first line names; `sh` without one."""
    first = content.split(b"\n", 1)[0].decode("utf-8", "replace")
    words = first[2:].split() if first.startswith("#!") else []
    if not words:
        return "sh"
    name = words[-1] if words[0].endswith("/env") else words[0]
    return name.rsplit("/", 1)[-1]
