"""Runs `sed` scripts over lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_microremed.embedded.sim.shell.sed.script import Command


def edit(commands: Sequence[Command], lines: Sequence[str], *, quiet: bool) -> Iterator[str]:
    """The output lines for the input lines, both without newlines."""
    editor = _Editor(commands, lines, quiet=quiet)
    while editor.next_line():
        yield from editor.cycle()
        if editor.ended:
            return


class _Editor:
    """The cycle of sed: a pattern space, a hold space, and the lines that are left."""

    def __init__(self, commands: Sequence[Command], lines: Sequence[str], *, quiet: bool) -> None:
        self._commands = commands
        self._lines = lines
        self._quiet = quiet
        self._number = 0
        self._space = ""
        self._hold = ""
        self._out: list[str] = []
        self._appended: list[str] = []
        self._again = False
        """The next cycle works on what is left in the pattern space (`D`)."""
        self.ended = False

    def next_line(self) -> bool:
        if self._again:
            self._again = False
            return True
        if self._number >= len(self._lines):
            return False
        self._space = self._lines[self._number]
        self._number += 1
        return True

    def cycle(self) -> list[str]:
        self._out, self._appended = [], []
        keep = self._run(self._commands)
        if keep and not self._quiet:
            self._out.append(self._space)
        return self._out + self._appended

    def _run(self, commands: Sequence[Command]) -> bool:
        """Run commands on the pattern space; False if it is deleted, so that it is not printed at the end."""
        for command in commands:
            is_last = self._number == len(self._lines)
            if not command.applies(self._number, self._space, is_last=is_last):
                continue
            if command.name == "{":
                if not self._run(command.block):
                    return False
                if self.ended:
                    return True
            elif not self._apply(command):
                return False
            elif self.ended:
                return True
        return True

    def _apply(self, command: Command) -> bool:
        name = command.name
        if name == "d":
            return False
        if name == "D":
            _, newline, self._space = self._space.partition("\n")
            self._again = bool(newline)
            return False
        if name == "Q":
            self.ended = True
            return False
        if name == "c":
            if not command.active:
                self._out.append(command.text)
            return False
        if name in "nN" and self._number >= len(self._lines):
            self.ended = True
            return True
        self._simple(command)
        return True

    def _simple(self, command: Command) -> None:
        name = command.name
        if name == "s":
            self._substitute(command)
        elif name == "y":
            half = len(command.text) // 2
            self._space = self._space.translate(str.maketrans(command.text[:half], command.text[half:]))
        elif name == "p":
            self._out.append(self._space)
        elif name == "P":
            self._out.append(self._space.partition("\n")[0])
        elif name == "=":
            self._out.append(str(self._number))
        elif name == "l":
            self._out.append(self._space.replace("\\", "\\\\").replace("\t", "\\t") + "$")
        elif name == "i":
            self._out.append(command.text)
        elif name == "a":
            self._appended.append(command.text)
        elif name == "q":
            self.ended = True
        elif name == "n":
            if not self._quiet:
                self._out.append(self._space)
            self.next_line()
        elif name == "N":
            before = self._space
            self.next_line()
            self._space = f"{before}\n{self._space}"
        elif name in "hHgGxz":
            self._held(name)

    def _held(self, name: str) -> None:
        if name == "h":
            self._hold = self._space
        elif name == "H":
            self._hold += "\n" + self._space
        elif name == "g":
            self._space = self._hold
        elif name == "G":
            self._space += "\n" + self._hold
        elif name == "x":
            self._space, self._hold = self._hold, self._space
        else:
            self._space = ""

    def _substitute(self, command: Command) -> None:
        shape = command.shape
        if shape is None:
            return
        wanted = int(re.sub(r"\D", "", command.flags) or 1)
        everything = "g" in command.flags
        count = 0

        def replaced(match: re.Match[str]) -> str:
            nonlocal count
            count += 1
            if count < wanted or (count > wanted and not everything):
                return match[0]
            return expand(command.text, match)

        self._space = shape.sub(replaced, self._space)
        if count >= wanted and "p" in command.flags:
            self._out.append(self._space)


def expand(template: str, match: re.Match[str]) -> str:
    r"""A replacement with `&`, `\1` … `\9`, `\n` and `\t` filled in."""

    def piece(part: re.Match[str]) -> str:
        text = part[0]
        if text == "&":
            return match[0]
        char = text[1]
        if char.isdigit():
            return (match[int(char)] or "") if int(char) <= (match.re.groups or 0) else ""
        return {"n": "\n", "t": "\t"}.get(char, char)

    return re.sub(r"\\.|&", piece, template, flags=re.DOTALL)
