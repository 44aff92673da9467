"""find: files by name, type, size and age."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from datetime import timedelta

from pytest_microremed.embedded.sim.shell import pattern
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command


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
