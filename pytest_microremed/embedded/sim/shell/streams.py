"""Where the bytes of a command go: pipes with back-pressure, collected output, files and devices."""

from __future__ import annotations

import asyncio
from typing import Protocol

CAPACITY = 64 * 1024
"""Bytes a pipe holds before its writer waits: Linux's default."""


class BrokenPipe(Exception):
    """Written to a pipe that nobody reads: SIGPIPE ends the writer."""


class Reader(Protocol):
    """A standard input."""

    async def read(self, limit: int = -1) -> bytes:
        """At most `limit` bytes, all up to the end of file for -1; empty at the end of file."""

    async def readline(self) -> bytes:
        """A line with its newline; what is left at the end of file; empty behind it."""

    def close(self) -> None:
        """Nobody will read any more."""


class Writer(Protocol):
    """A standard output or error."""

    def write(self, data: bytes) -> None:
        """Take all of `data`. Raises `BrokenPipe`."""

    async def drain(self) -> None:
        """Wait until there is room, or give others their turn. Raises `BrokenPipe`."""

    def close(self) -> None:
        """Nothing will be written any more."""


class BytesReader:
    """Input that is known from the start."""

    def __init__(self, data: bytes = b"") -> None:
        self._data = data
        self._position = 0

    async def read(self, limit: int = -1) -> bytes:
        end = len(self._data) if limit < 0 else self._position + limit
        chunk = self._data[self._position : end]
        self._position += len(chunk)
        return chunk

    async def readline(self) -> bytes:
        newline = self._data.find(b"\n", self._position)
        return await self.read(-1 if newline < 0 else newline + 1 - self._position)

    def close(self) -> None:
        pass


class Collector:
    """Output that is kept in memory, up to a limit: what comes behind it is dropped, as a client would cut it."""

    LIMIT = 16 * 2**20

    def __init__(self) -> None:
        self.data = bytearray()

    def write(self, data: bytes) -> None:
        self.data += data[: max(0, self.LIMIT - len(self.data))]

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        pass


class Null:
    """`/dev/null`, both ways."""

    async def read(self, limit: int = -1) -> bytes:
        return b""

    async def readline(self) -> bytes:
        return b""

    def write(self, data: bytes) -> None:
        pass

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def close(self) -> None:
        pass


class _Channel:
    """What both ends of a pipe share."""

    def __init__(self) -> None:
        self.buffer = bytearray()
        self.ended = False
        self.abandoned = False
        self._changed = asyncio.Event()

    def notify(self) -> None:
        self._changed.set()

    async def wait(self) -> None:
        self._changed.clear()
        await self._changed.wait()


class PipeReader:
    """The end of a pipe that is read."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel
        self._ahead = bytearray()
        """Taken from the channel already, so that a long line or a read of everything never blocks the writer."""

    async def read(self, limit: int = -1) -> bytes:
        while (limit < 0 or not self._ahead) and await self._fetch():
            if len(self._ahead) > Collector.LIMIT:
                break
        return self._take(len(self._ahead) if limit < 0 else limit)

    async def readline(self) -> bytes:
        while (newline := self._ahead.find(b"\n")) < 0 and await self._fetch():
            pass
        return self._take(len(self._ahead) if newline < 0 else newline + 1)

    def close(self) -> None:
        self._channel.abandoned = True
        self._channel.notify()

    async def _fetch(self) -> bool:
        """Take what is in the channel, waiting for it; False at the end of file."""
        channel = self._channel
        while not channel.buffer and not channel.ended:
            await channel.wait()
        self._ahead += channel.buffer
        found = bool(channel.buffer)
        channel.buffer.clear()
        channel.notify()
        return found

    def _take(self, count: int) -> bytes:
        chunk = bytes(self._ahead[:count])
        del self._ahead[:count]
        return chunk


class PipeWriter:
    """The end of a pipe that is written."""

    def __init__(self, channel: _Channel) -> None:
        self._channel = channel

    def write(self, data: bytes) -> None:
        if self._channel.abandoned:
            raise BrokenPipe
        self._channel.buffer += data
        self._channel.notify()

    async def drain(self) -> None:
        await asyncio.sleep(0)
        while len(self._channel.buffer) > CAPACITY and not self._channel.abandoned:
            await self._channel.wait()
        if self._channel.abandoned:
            raise BrokenPipe

    def close(self) -> None:
        self._channel.ended = True
        self._channel.notify()


def pipe() -> tuple[PipeReader, PipeWriter]:
    channel = _Channel()
    return PipeReader(channel), PipeWriter(channel)
