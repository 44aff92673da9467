"""Open files of a shell: its descriptors, and what redirections make of them."""

from __future__ import annotations

import errno
from typing import TypeAlias, cast

from pytest_microremed.embedded.sim.shell.filesystem import FileSystem, failure
from pytest_microremed.embedded.sim.shell.streams import BytesReader, Null, Reader, Writer

Descriptors: TypeAlias = dict[int, "Reader | Writer"]
"""By number: 0 is read, all others are written unless they were opened with `<`."""


class FileWriter:
    """Writes into a file of the container as it comes."""

    def __init__(self, files: FileSystem, path: str) -> None:
        self._files = files
        self._path = path
        self._unpaid = 0

    def write(self, data: bytes) -> None:
        if data:
            self._files.put(self._path, data, append=True)
            self._unpaid += len(data)

    async def drain(self) -> None:
        if self._unpaid:
            size, self._unpaid = self._unpaid, 0
            await self._files.spend(self._path, "write", size)

    def close(self) -> None:
        pass


class Zeros:
    """`/dev/zero` and its like: as much as one asks for; reading it to its end gives a large piece."""

    PIECE = 16 * 2**20

    async def read(self, limit: int = -1) -> bytes:
        return bytes(self.PIECE if limit < 0 else min(limit, self.PIECE))

    async def readline(self) -> bytes:
        return bytes(self.PIECE)

    def close(self) -> None:
        pass


class Full:
    """`/dev/full`: no space is left on it."""

    def write(self, data: bytes) -> None:
        if data:
            raise failure(errno.ENOSPC, "/dev/full")

    async def drain(self) -> None:
        pass

    def close(self) -> None:
        pass


async def open_to_read(path: str, files: FileSystem, descriptors: Descriptors) -> Reader:
    """Raises OSError."""
    if path in ("/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"):
        return Zeros()
    if path == "/dev/null":
        return Null()
    if path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        return reader(descriptors, 0)
    return BytesReader(await files.read(path))


async def open_to_write(path: str, files: FileSystem, descriptors: Descriptors, *, append: bool) -> Writer:
    """Raises OSError."""
    if path == "/dev/full":
        return Full()
    if path in ("/dev/null", "/dev/zero"):
        return Null()
    if path in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"):
        return writer(descriptors, 1 if path.endswith(("stdout", "1")) else 2)
    if path in (
        "/proc/1/fd/1",
        "/proc/1/fd/2",
    ):  # what is written there goes to the container's log, not to the caller
        return Null()
    await files.spend(path, "open", 0)
    if not (append and files.is_file(path)):
        files.put(path, b"")
    return FileWriter(files, path)


def reader(descriptors: Descriptors, number: int) -> Reader:
    """The descriptor to read from. Raises OSError if it is closed or not open for that."""
    stream = descriptors.get(number)
    if stream is None or not hasattr(stream, "read"):
        raise failure(errno.EBADF, str(number))
    return cast("Reader", stream)


def writer(descriptors: Descriptors, number: int) -> Writer:
    """The descriptor to write to. Raises OSError if it is closed or not open for that."""
    stream = descriptors.get(number)
    if stream is None or not hasattr(stream, "write"):
        raise failure(errno.EBADF, str(number))
    return cast("Writer", stream)
