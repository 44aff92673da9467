"""ls, stat, pwd: looking at the files of the container."""

from __future__ import annotations

import posixpath
import re
import stat as modes
from collections.abc import Callable

from pytest_microremed.embedded.sim.shell.registry import Call, command
from pytest_microremed.embedded.sim.shell.users import user_name

BLOCK = 4096


def mode_text(call: Call, path: str) -> str:
    """`drwxr-xr-x`."""
    mode = call.files.attributes(path).mode
    if call.files.is_directory(path):
        return modes.filemode(modes.S_IFDIR | mode)
    return modes.filemode((modes.S_IFCHR if call.files.is_device(path) else modes.S_IFREG) | mode)


def human(size: float) -> str:
    """`4.0K`, `12M`."""
    for unit in ("", "K", "M", "G", "T"):
        if size < 1024 or unit == "T":
            break
        size /= 1024
    return f"{size:.0f}" if not unit else f"{size:.1f}{unit}" if size < 10 else f"{size:.0f}{unit}"


@command("ls", "dir")
async def ls(call: Call) -> int:
    options, operands = call.options(
        "1aAlhRdtrSFisnLZxCwT", ["all", "human-readable", "color=", "full-time", "recursive", "directory"]
    )
    lister = _Lister(call, options)
    status = 0
    files, directories = [], []
    for name in sorted(operands) or ["."]:
        path = call.path(name)
        if not call.files.exists(path):
            call.complain(
                f"{name}: No such file or directory"
                if lister.busybox
                else f"cannot access '{name}': No such file or directory"
            )
            status = 2 if not lister.busybox else 1
        elif call.files.is_directory(path) and "d" not in options:
            directories.append(name)
        else:
            files.append(name)
    lister.show([(name, call.path(name)) for name in files])
    for index, name in enumerate(directories):
        if len(directories) > 1 or files or "R" in options:
            call.print(f"{chr(10) if index or files else ''}{name}:")
        await lister.directory(name, call.path(name))
    return status


class _Lister:
    def __init__(self, call: Call, options: dict[str, str]) -> None:
        self.call = call
        self.options = options
        self.busybox = call.is_busybox

    async def directory(self, name: str, path: str) -> None:
        await self.call.files.spend(path, "readdir", 0)
        names = self.call.files.entries(path)
        if not {"a", "A", "all"} & self.options.keys():
            names = [each for each in names if not each.startswith(".")]
        rows = [(each, posixpath.join(path, each)) for each in names]
        if {"a", "all"} & self.options.keys():
            rows = [(".", path), ("..", posixpath.dirname(path)), *rows]
        if "l" in self.options or "s" in self.options:
            self.call.print(f"total {sum(self._blocks(p) for _, p in rows)}")
        self.show(rows)
        if "R" in self.options:
            for each, inside in rows:
                if self.call.files.is_directory(inside) and each not in (".", ".."):
                    below = posixpath.join(name, each)
                    self.call.print(f"\n{below}:")
                    await self.directory(below, inside)

    def _blocks(self, path: str) -> int:
        return -(-self.call.files.size(path) // BLOCK) * (BLOCK // 1024)

    def show(self, rows: list[tuple[str, str]]) -> None:
        files = self.call.files
        keys: dict[str, Callable[[tuple[str, str]], float]] = {
            "t": lambda row: -files.attributes(row[1]).modified.timestamp(),
            "S": lambda row: -files.size(row[1]),
        }
        for letter, key in keys.items():
            if letter in self.options:
                rows = sorted(rows, key=key)
        if "r" in self.options:
            rows = rows[::-1]
        for name, path in rows:
            shown = name + ("/" if "F" in self.options and files.is_directory(path) else "")
            self.call.print(self._long(shown, path) if "l" in self.options else shown)

    def _long(self, name: str, path: str) -> str:
        files = self.call.files
        size = files.size(path)
        text = human(size) if {"h", "human-readable"} & self.options.keys() else str(size)
        owner = user_name(0 if files.mount_of(path) is None else self.call.container.user)
        links = 2 if files.is_directory(path) else 1
        moment = files.attributes(path).modified
        return f"{mode_text(self.call, path)} {links:>4} {owner:<8} {owner:<8} {text:>9} {moment:%b %e %H:%M} {name}"


@command("stat")
async def stat(call: Call) -> int:
    options, operands = call.options("c:fLt", ["format=", "printf="])
    form = options.get("c") or options.get("format") or options.get("printf")
    status = 0
    for name in operands:
        path = call.path(name)
        if not call.files.exists(path):
            call.complain(f"can't stat '{name}': No such file or directory")
            status = 1
            continue
        attributes, size = call.files.attributes(path), call.files.size(path)
        kind = "directory" if call.files.is_directory(path) else "regular file"
        owner = user_name(0 if call.files.mount_of(path) is None else call.container.user)
        if form is not None:
            values = {
                "n": name, "s": str(size), "a": f"{attributes.mode:o}", "A": mode_text(call, path), "U": owner,
                "G": owner, "u": "0", "g": "0", "F": kind, "Y": str(int(attributes.modified.timestamp())),
                "y": f"{attributes.modified:%Y-%m-%d %H:%M:%S.%f} +0000", "b": str(-(-size // 512)), "h": "1", "%": "%",
            }  # fmt: skip
            call.print(re.sub(r"%([a-zA-Z%])", lambda match, v=values: v.get(match[1], "?"), form))  # type: ignore[misc]
            continue
        moment = f"{attributes.modified:%Y-%m-%d %H:%M:%S}.000000000 +0000"
        call.print(
            f"  File: {name}\n  Size: {size:<15}\tBlocks: {-(-size // 512):<10} IO Block: {BLOCK}   {kind}\n"
            f"Access: ({attributes.mode:04o}/{mode_text(call, path)})  "
            f"Uid: (    0/{owner:>8})   Gid: (    0/{owner:>8})\n"
            f"Access: {moment}\nModify: {moment}\nChange: {moment}"
        )
    return status


@command("pwd")
async def pwd(call: Call) -> int:
    call.print(call.cwd)
    return 0
