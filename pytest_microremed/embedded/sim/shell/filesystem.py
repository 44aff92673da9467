"""The files that a container sees: its image, what has changed since, its volumes, and the kernel's own."""

from __future__ import annotations

import errno
import os
import posixpath
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from functools import cached_property

from pytest_microremed.embedded.sim.model import Container, FileAttributes, Mount
from pytest_microremed.embedded.sim.shell import image_files, procfs
from pytest_microremed.embedded.sim.shell.services import ShellServices

BYTES_PER_S = 400e6
"""Throughput of a node's disk."""
TRANSFER_BYTES = 2**20
"""What one operation moves, unless a command chooses a block size."""
OPERATION_S = 60e-6
"""Time of one operation on a node's disk."""
KEPT_BYTES = 32 * 2**20
"""Of a longer file only so much is kept in memory; its size is remembered."""
DEVICES = (
    "null",
    "zero",
    "full",
    "random",
    "urandom",
    "stdin",
    "stdout",
    "stderr",
    "tty",
    "fd",
    "pts",
    "shm",
    "mqueue",
)
SHARED_MEMORY = "/dev/shm"  # noqa: S108 the container's
_TEMPORARY = "/tmp"  # noqa: S108 the container's
_WHITEOUT = ".wh."


def failure(code: int, path: str) -> OSError:
    """An error as the kernel gives it, with the C library's words."""
    return OSError(code, os.strerror(code), path)


class FileSystem:
    """Paths are absolute here; `absolute` makes them so. Raises OSError with the kernel's errno and words."""

    def __init__(self, container: Container, services: ShellServices) -> None:
        self.container = container
        self.services = services
        self._mounts = sorted(container.mounts, key=lambda mount: len(mount.path), reverse=True)

    @cached_property
    def _random(self) -> random.Random:
        """Reproducible, but another sequence for each command: its process is the youngest when it is first used."""
        container = self.container
        return random.Random(f"{container.pod.name}/{container.name}/{max(container.processes, default=0)}")

    @staticmethod
    def absolute(path: str, cwd: str) -> str:
        joined = posixpath.normpath(posixpath.join(cwd, path))
        return "/" + joined.lstrip("/")

    def mount_of(self, path: str) -> Mount | None:
        """The volume mount that holds the path."""
        return next((m for m in self._mounts if path == m.path or path.startswith(m.path.rstrip("/") + "/")), None)

    def is_directory(self, path: str) -> bool:
        if path in ("/", "/dev", "/proc", "/sys", SHARED_MEMORY, "/dev/fd", "/dev/pts", "/dev/mqueue"):
            return True
        prefix = path + "/"
        return any(known.startswith(prefix) for known in self._all())

    def is_file(self, path: str) -> bool:
        if path.startswith("/dev/") and path[5:] in DEVICES and not self.is_directory(path):
            return True
        return self._find(path) is not None

    def exists(self, path: str) -> bool:
        return self.is_file(path) or self.is_directory(path)

    def is_device(self, path: str) -> bool:
        return path.startswith("/dev/") and path.count("/") == 2 and self.is_file(path)

    def entries(self, directory: str) -> list[str]:
        """Names in a directory, sorted."""
        if not self.is_directory(directory):
            raise failure(errno.ENOTDIR if self.is_file(directory) else errno.ENOENT, directory)
        prefix = directory.rstrip("/") + "/"
        names = {path[len(prefix) :].split("/")[0] for path in self._all() if path.startswith(prefix)}
        if directory == "/dev":
            names.update(DEVICES)
        return sorted(name for name in names if name)

    def walk(self, path: str) -> list[str]:
        """The path and all below it, parents first."""
        prefix = path.rstrip("/") + "/"
        found = {path}
        for known in [*self._all(), *(f"/dev/{name}" for name in DEVICES)] if self.is_directory(path) else ():
            step = known.rstrip("/") if known.startswith(prefix) else path
            while step not in found:
                found.add(step)
                step = posixpath.dirname(step)
        return sorted(found, key=lambda each: each.split("/"))

    def content(self, path: str) -> bytes:
        """The contents, at once and without the time that reading takes."""
        if self.is_directory(path):
            raise failure(errno.EISDIR, path)
        found = self._find(path)
        if found is None:
            raise self._missing(path)
        return found

    def size(self, path: str) -> int:
        if self.is_directory(path):
            return 4096
        attributes = self.container.attributes.get(path)
        if attributes is not None and attributes.size is not None:
            return attributes.size
        return 0 if procfs.serves(path) or self.is_device(path) else len(self.content(path))

    def attributes(self, path: str) -> FileAttributes:
        known = self.container.attributes.get(path)
        if known is not None:
            return known
        started = self.container.started or self.services.clock.now()
        if self.is_directory(path):
            return FileAttributes(started, 0o1777 if path in (_TEMPORARY, SHARED_MEMORY) else 0o755)
        if self.is_device(path):
            return FileAttributes(started, 0o666)
        if procfs.serves(path):
            return FileAttributes(self.services.clock.now(), 0o444)
        return FileAttributes(started, 0o755 if image_files.is_tool(path) else 0o644)

    async def read(self, path: str) -> bytes:
        """Open and read a file to its end, in the time it takes."""
        data = self.content(path)
        await self.spend(path, "open", 0)
        await self.spend(path, "read", len(data))
        return data

    async def write(self, path: str, data: bytes, *, append: bool = False) -> None:
        """Open and write a file, in the time it takes."""
        await self.spend(path, "open", 0)
        self.put(path, data, append=append)
        await self.spend(path, "write", len(data))

    async def spend(self, path: str, method: str, size: int) -> None:
        """Wait for as long as moving so many bytes takes. Raises OSError where a disk fault makes it fail."""
        mount = self.mount_of(path)
        if mount is None or procfs.serves(path) or self.is_device(path):
            return
        inside, delay = self._relative(mount, path), 0.0
        for _ in range(max(1, -(-size // TRANSFER_BYTES))):
            latency, code = mount.volume.disturbance(self.container.name, inside, method, self._random)
            delay += latency
            if code:
                raise failure(code, path)
        if delay or size > TRANSFER_BYTES:
            await self.services.clock.sleep(delay or size / BYTES_PER_S)

    def put(self, path: str, data: bytes, *, append: bool = False, size: int | None = None) -> None:
        """Store contents at once; `size` where the file is longer than `data`, with zeros."""
        if self.is_directory(path):
            raise failure(errno.EISDIR, path)
        files, key = self._writable(path)
        parent = posixpath.dirname(path)
        if not self.is_directory(parent):
            raise failure(errno.ENOTDIR if self.is_file(parent) else errno.ENOENT, path)
        old = files.get(key)
        if append:
            data = (self._find(path) or b"") + data
        if len(data) > KEPT_BYTES:
            size, data = len(data) if size is None else size, data[:KEPT_BYTES]
        files[key] = data
        self._forget_whiteout(path)
        mode = self.attributes(path).mode if old is not None else 0o644
        self.container.attributes[path] = FileAttributes(self.services.clock.now(), mode, size)
        self.container.pod.changed()

    def make_directory(self, path: str) -> None:
        if self.exists(path):
            raise failure(errno.EEXIST, path)
        if not self.is_directory(posixpath.dirname(path)):
            raise failure(errno.ENOENT, path)
        files, key = self._writable(path)
        files[key + "/"] = b""
        self._forget_whiteout(path)
        self.container.attributes[path] = FileAttributes(self.services.clock.now(), 0o755)

    def remove(self, path: str) -> None:
        """Remove a file, or a directory that is empty."""
        if not self.exists(path):
            raise self._missing(path)
        if procfs.serves(path):
            raise failure(errno.EPERM, path)
        if self.is_directory(path):
            if any(mount.path == path for mount in self._mounts) or path == "/":
                raise failure(errno.EBUSY, path)
            if self.entries(path):
                raise failure(errno.ENOTEMPTY, path)
        files, key = self._writable(path)
        files.pop(key, None)
        files.pop(key + "/", None)
        self.container.attributes.pop(path, None)
        if self.mount_of(path) is None and self.exists(path):  # it is in the image
            self.container.files[posixpath.join(posixpath.dirname(path), _WHITEOUT + posixpath.basename(path))] = b""
        self.container.pod.changed()

    def set_mode(self, path: str, mode: int) -> None:
        if not self.exists(path):
            raise self._missing(path)
        self._writable(path)
        self.container.attributes[path] = replace(self.attributes(path), mode=mode)

    def set_modified(self, path: str, moment: datetime) -> None:
        self._writable(path)
        self.container.attributes[path] = replace(self.attributes(path), modified=moment)

    def _missing(self, path: str) -> OSError:
        parent = posixpath.dirname(path)
        return failure(errno.ENOTDIR if self.is_file(parent) else errno.ENOENT, path)

    def _writable(self, path: str) -> tuple[dict[str, bytes], str]:
        """Where the file is stored, and under which key."""
        if procfs.serves(path) or path in ("/proc", "/sys"):
            raise failure(errno.EROFS if path.startswith(("/sys", "/proc/sys")) else errno.EACCES, path)
        mount = self.mount_of(path)
        if mount is None:
            if self._read_only_root():
                raise failure(errno.EROFS, path)
            return self.container.files, path
        if mount.read_only:
            raise failure(errno.EROFS, path)
        return mount.volume.files, self._relative(mount, path)

    def _read_only_root(self) -> bool:
        return bool((self.container.spec.get("securityContext") or {}).get("readOnlyRootFilesystem"))

    @staticmethod
    def _relative(mount: Mount, path: str) -> str:
        """The path inside the volume."""
        inside = path[len(mount.path) :].strip("/")
        return posixpath.join(mount.sub_path.strip("/"), inside) if inside else mount.sub_path.strip("/")

    def _find(self, path: str) -> bytes | None:
        if procfs.serves(path):
            return procfs.read(path, self.container, self.services)
        mount = self.mount_of(path)
        if mount is not None:
            return mount.volume.files.get(self._relative(mount, path))
        if path in self.container.files:
            return self.container.files[path]
        if self._hidden(path):
            return None
        return image_files.read(path, self.container, self.services)

    def _hidden(self, path: str) -> bool:
        """Whether the image's file, or a directory above it, has been removed."""
        while path != "/":
            parent, name = posixpath.split(path)
            if posixpath.join(parent, _WHITEOUT + name) in self.container.files:
                return True
            path = parent
        return False

    def _forget_whiteout(self, path: str) -> None:
        whiteout = posixpath.join(posixpath.dirname(path), _WHITEOUT + posixpath.basename(path))
        self.container.files.pop(whiteout, None)

    def _all(self) -> Iterator[str]:
        """Every path; those of directories end with a slash."""
        yield from procfs.paths(self.container)
        removals = any(_WHITEOUT in path for path in self.container.files)
        for path in image_files.paths(self.container):
            if not (removals and self._hidden(path.rstrip("/"))):
                yield path
        for path in self.container.files:
            if not posixpath.basename(path).startswith(_WHITEOUT):
                yield path
        for mount in self._mounts:
            yield mount.path.rstrip("/") + "/"
            prefix = mount.sub_path.strip("/") + "/" if mount.sub_path else ""
            for path in mount.volume.files:
                if path.startswith(prefix) and path != prefix:
                    yield posixpath.join(mount.path, path[len(prefix) :])
