"""ls, stat, find, du, df, pwd, file: looking at the files of the container."""

from __future__ import annotations

import posixpath
import re
import stat as modes
from collections.abc import Callable
from datetime import timedelta

from pytest_microremed.embedded.sim.shell import pattern
from pytest_microremed.embedded.sim.shell.dialect import file_system_of
from pytest_microremed.embedded.sim.shell.filesystem import SHARED_MEMORY
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.users import user_name

BLOCK = 4096
DISK_BYTES = 100 * 2**30
DISK_USED = 31 * 2**30


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
    for name in operands or ["."]:
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


@command("find")
async def find(call: Call) -> int:
    words = list(call.args[1:])
    roots = []
    while words and not words[0].startswith(("-", "!", "(")):
        roots.append(words.pop(0))
    expression = _Find(call, words)
    status = 0
    for root in roots or ["."]:
        path = call.path(root)
        if not call.files.exists(path):
            call.complain(
                f"{root}: No such file or directory" if call.is_busybox else f"'{root}': No such file or directory"
            )
            status = 1
            continue
        await call.files.spend(path, "readdir", 0)
        for found in call.files.walk(path):
            shown = root.rstrip("/") + found[len(path.rstrip("/")) :] if found != path else root
            depth = found[len(path) :].strip("/").count("/") + (found != path)
            await expression.visit(shown, found, depth)
    await expression.finish()
    return status


class _Find:
    """The tests and actions of one `find`, which must all hold (no `-o`)."""

    def __init__(self, call: Call, words: list[str]) -> None:
        self.call = call
        self.tests: list[Callable[[str, str], bool]] = []
        self.least, self.most = 0, 10**6
        self.delete = False
        self.execute: list[str] = []
        self.together = False
        self.printed = "\n"
        self.collected: list[str] = []
        negated = False
        words = [word for word in words if word not in ("(", ")", "-a")]
        while words:
            word = words.pop(0)
            if word in ("!", "-not"):
                negated = True
                continue
            test = self._predicate(word, words)
            if test is not None:
                self.tests.append(_negated(test) if negated else test)
            negated = False

    def _predicate(self, word: str, words: list[str]) -> Callable[[str, str], bool] | None:
        files = self.call.files
        takes_value = (
            "-name",
            "-iname",
            "-path",
            "-wholename",
            "-type",
            "-size",
            "-maxdepth",
            "-mindepth",
            "-mtime",
            "-mmin",
            "-newer",
            "-user",
            "-perm",
        )
        value = ""
        if word in takes_value:
            if not words:
                raise CommandError(f"missing argument to `{word}'")
            value = words.pop(0)
        if word in ("-name", "-iname"):
            lower = word == "-iname"
            shape = pattern.compiled(value.lower() if lower else value)
            return lambda shown, path: bool(
                shape.fullmatch(posixpath.basename(path).lower() if lower else posixpath.basename(path))
            )
        if word in ("-path", "-wholename"):
            return lambda shown, path: pattern.matches(shown, value)
        if word == "-type":
            return lambda shown, path: (
                files.is_directory(path) if value == "d" else value == "f" and files.is_file(path)
            )
        if word == "-size":
            return self._size(value)
        if word in ("-mtime", "-mmin"):
            return self._age(value, 86400 if word == "-mtime" else 60)
        if word == "-newer":
            reference = files.attributes(self.call.path(value)).modified
            return lambda shown, path: files.attributes(path).modified > reference
        if word == "-empty":
            return lambda shown, path: not files.entries(path) if files.is_directory(path) else files.size(path) == 0
        if word == "-maxdepth":
            self.most = int(value)
        elif word == "-mindepth":
            self.least = int(value)
        elif word == "-delete":
            self.delete = True
        elif word in ("-exec", "-execdir", "-ok"):
            end = next((i for i, each in enumerate(words) if each in (";", "+")), len(words))
            self.execute, self.together = words[:end], words[end : end + 1] == ["+"]
            del words[: end + 1]
        elif word == "-print0":
            self.printed = "\0"
        elif word not in ("-print", "-user", "-perm", "-xdev", "-mount", "-follow", "-ls", "-depth", "-o", "-or"):
            raise CommandError(f"unrecognized: {word}" if self.call.is_busybox else f"unknown predicate `{word}'")
        return None

    def _size(self, value: str) -> Callable[[str, str], bool]:
        match = re.fullmatch(r"([-+]?)(\d+)([cwbkMG]?)", value)
        if match is None:
            raise CommandError(f"invalid argument `{value}' to `-size'")
        unit = {"c": 1, "w": 2, "": 512, "b": 512, "k": 1024, "M": 2**20, "G": 2**30}[match[3]]
        wanted = int(match[2])

        def test(shown: str, path: str) -> bool:
            size = -(-self.call.files.size(path) // unit)
            return size > wanted if match[1] == "+" else size < wanted if match[1] == "-" else size == wanted

        return test

    def _age(self, value: str, unit: int) -> Callable[[str, str], bool]:
        wanted = int(value.lstrip("+-"))

        def test(shown: str, path: str) -> bool:
            age = (self.call.services.now() - self.call.files.attributes(path).modified) // timedelta(seconds=unit)
            return age > wanted if value.startswith("+") else age < wanted if value.startswith("-") else age == wanted

        return test

    async def visit(self, shown: str, path: str, depth: int) -> None:
        if not self.least <= depth <= self.most or not all(test(shown, path) for test in self.tests):
            return
        if self.delete:
            self.call.files.remove(path)
        elif self.execute and self.together:
            self.collected.append(shown)
        elif self.execute:
            await self.call.run([word.replace("{}", shown) for word in self.execute])
        else:
            self.call.print(shown, end=self.printed)

    async def finish(self) -> None:
        if self.collected:
            before = [word for word in self.execute if word != "{}"]
            await self.call.run([*before, *self.collected])


def _negated(test: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    return lambda shown, path: not test(shown, path)


@command("du")
async def du(call: Call) -> int:
    options, operands = call.options("shkmabcxd:", ["max-depth=", "human-readable", "summarize", "bytes"])
    depth = 0 if {"s", "summarize"} & options.keys() else int(options.get("d") or options.get("max-depth") or 10**6)
    status = 0
    for name in operands or ["."]:
        path = call.path(name)
        if not call.files.exists(path):
            call.complain(f"cannot access '{name}': No such file or directory")
            status = 1
            continue
        everything = call.files.walk(path)
        totals = dict.fromkeys(everything, 0)
        for each in everything:
            size = -(-call.files.size(each) // BLOCK) * BLOCK
            step = each
            while step != path:
                totals[step] += size
                step = posixpath.dirname(step)
            totals[path] += size
        for each in reversed(everything):
            level = each[len(path.rstrip("/")) :].count("/")
            if level > depth or not (call.files.is_directory(each) or each == path or "a" in options):
                continue
            shown = name.rstrip("/") + each[len(path.rstrip("/")) :] if each != path else name
            readable = {"h", "human-readable"} & options.keys()
            text = human(totals[each]) if readable else str(totals[each] // (2**20 if "m" in options else 1024))
            call.print(f"{text}\t{shown}")
    return status


@command("df")
async def df(call: Call) -> int:
    options, operands = call.options("hkmTPaiB:t:", ["human-readable", "total", "output=", "print-type"])
    rows = [("overlay", "overlay", DISK_BYTES, DISK_USED, "/"), ("tmpfs", "tmpfs", 64 * 2**20, 0, "/dev")]
    shm = sum(call.files.size(path) for path in call.container.files if path.startswith(f"{SHARED_MEMORY}/"))
    for mount in call.container.mounts:
        device, kind = file_system_of(call.container, mount)
        size = sum(len(data) for data in mount.volume.files.values())
        rows.append((device, kind, DISK_BYTES, DISK_USED + size, mount.path))
    rows.append(("shm", "tmpfs", 64 * 2**20, shm, SHARED_MEMORY))
    if operands:
        wanted = [max((r for r in rows if _is_under(call.path(o), r[4])), key=lambda r: len(r[4])) for o in operands]
        rows = list(dict.fromkeys(wanted))
    readable = bool({"h", "human-readable"} & options.keys())
    show: Callable[[float], str] = (
        human if readable else lambda size: str(int(size) // (2**20 if "m" in options else 1024))
    )
    with_type = bool({"T", "print-type"} & options.keys())
    title = "Size" if readable else "1M-blocks" if "m" in options else "1K-blocks"
    kind_title = " Type    " if with_type else ""
    call.print(f"Filesystem    {kind_title} {title:>10}      Used Available Use% Mounted on")
    for device, kind, size, used, where in rows:
        kind_text = f" {kind:<8}" if with_type else ""
        share = -(-100 * used // size)
        call.print(
            f"{device:<14}{kind_text} {show(size):>10} {show(used):>9} {show(size - used):>9} {share:>3}% {where}"
        )
    return 0


def _is_under(path: str, directory: str) -> bool:
    return directory == "/" or path == directory or path.startswith(directory + "/")


@command("pwd")
async def pwd(call: Call) -> int:
    call.print(call.cwd)
    return 0
