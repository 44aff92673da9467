"""Redirections of commands (POSIX 2.7), and what shells say when one fails."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence

from pytest_microremed.embedded.sim.shell.descriptors import (
    Descriptors,
    open_to_read,
    open_to_write,
    reader,
    writer,
)
from pytest_microremed.embedded.sim.shell.dialect import is_bash, speaks_dash
from pytest_microremed.embedded.sim.shell.expansion import expand_text
from pytest_microremed.embedded.sim.shell.filesystem import failure
from pytest_microremed.embedded.sim.shell.state import ShellState
from pytest_microremed.embedded.sim.shell.streams import BytesReader, Null
from pytest_microremed.embedded.sim.shell.syntax import HereDocument, Redirection


async def redirected(shell: ShellState, redirections: Sequence[Redirection], descriptors: Descriptors) -> Descriptors:
    """The descriptors after these redirections. Raises OSError."""
    if not redirections:
        return descriptors
    streams = dict(descriptors)
    for redirection in redirections:
        number, target = redirection.descriptor, redirection.target
        if isinstance(target, HereDocument):
            body = await expand_text(target.body, shell.scope(streams))
            streams[number] = BytesReader(body.encode("utf-8", "surrogateescape"))
            continue
        name = await expand_text(target, shell.scope(streams))
        if redirection.operator in ("<&", ">&"):
            if name == "-":
                streams.pop(number, None)
            elif name.isdigit():
                get = reader if redirection.operator == "<&" and int(name) == 0 else writer
                streams[number] = get(streams, int(name))
            else:
                raise OSError(errno.EBADF, redirection.operator, name)
            continue
        path = shell.files.absolute(name, shell.cwd)
        try:
            if path.startswith("/dev/tcp/") and is_bash(shell.arguments[0]):
                streams[number] = await _connect(shell, path)
            elif redirection.operator in ("<", "<>"):
                streams[number] = await open_to_read(path, shell.files, streams)
            else:
                append = redirection.operator == ">>"
                streams[number] = await open_to_write(path, shell.files, streams, append=append)
        except OSError as error:
            raise OSError(error.errno, redirection.operator, name) from None
    return streams


async def _connect(shell: ShellState, path: str) -> Null:
    """Bash's `/dev/tcp/host/port`: a connection that was there, with nothing to read. Raises OSError."""
    host, _, port = path.removeprefix("/dev/tcp/").partition("/")
    network, pod = shell.services.network, shell.files.container.pod
    connection = network.connect(pod, host, int(port) if port.isdigit() else 0)
    await shell.services.clock.sleep(connection.latency_s)
    codes = {"refused": errno.ECONNREFUSED, "timeout": errno.ETIMEDOUT, "unresolved": errno.EINVAL}
    if connection.status != "open":
        raise failure(codes[connection.status], path)
    return Null()


def diagnose_failure(shell: ShellState, error: OSError, descriptors: Descriptors) -> int:
    """Say that a redirection failed, in the words of the image's shell; the exit code."""
    reading = error.strerror in ("<", "<>")
    dash = speaks_dash(shell.files.container)
    name = error.filename
    if is_bash(shell.arguments[0]):
        shell.diagnose(f"{name}: {os.strerror(error.errno or 0)}", descriptors)
        return 1
    words = os.strerror(error.errno or 0)
    if error.errno == errno.EBADF:
        shell.diagnose(f"{name}: {words}", descriptors)
        return 2 if dash else 1
    if error.errno == errno.ENOENT and dash:
        words = "No such file" if reading else "Directory nonexistent"
    elif error.errno == errno.ENOENT:
        words = "no such file" if reading else "nonexistent directory"
    verb, refusal = "open" if reading else "create", "cannot" if dash else "can't"
    shell.diagnose(f"{refusal} {verb} {name}: {words}", descriptors)
    return 2 if dash else 1
