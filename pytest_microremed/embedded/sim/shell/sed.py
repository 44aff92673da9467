"""The stream editor: parses and runs `sed` scripts (POSIX sed with GNU's common additions)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pytest_microremed.embedded.sim.shell import regex

_MAX_STEPS = 100_000


class SedError(Exception):
    """The script is none; the message is GNU sed's."""


@dataclass(frozen=True)
class Address:
    """A line number, `$`, a regular expression, or every `step`th line from `line`."""

    line: int = 0
    step: int = 0
    last: bool = False
    shape: re.Pattern[str] | None = None

    def matches(self, number: int, text: str, *, is_last: bool) -> bool:
        if self.last:
            return is_last
        if self.shape is not None:
            return self.shape.search(text) is not None
        if self.step:
            return number >= self.line and (number - self.line) % self.step == 0
        return number == self.line


@dataclass
class Command:
    """One command with its addresses; `active` while a range that it has is open."""

    name: str
    first: Address | None = None
    second: Address | None = None
    negated: bool = False
    text: str = ""
    shape: re.Pattern[str] | None = None
    flags: str = ""
    block: list[Command] = field(default_factory=list)
    active: bool = False

    def applies(self, number: int, text: str, *, is_last: bool) -> bool:
        return self._in_range(number, text, is_last=is_last) != self.negated

    def _in_range(self, number: int, text: str, *, is_last: bool) -> bool:
        if self.first is None:
            return True
        if self.second is None:
            return self.first.matches(number, text, is_last=is_last)
        if self.active:
            ended = self.second.matches(number, text, is_last=is_last)
            beyond = self.second.shape is None and not self.second.last and number > self.second.line
            self.active = not (ended or beyond)
            return not beyond
        if not self.first.matches(number, text, is_last=is_last):
            return False
        self.active = not (self.second.shape is None and not self.second.last and self.second.line <= number)
        return True


class Script:
    """A parsed script. Raises `SedError`."""

    def __init__(self, text: str, *, extended: bool) -> None:
        self._text = text
        self._position = 0
        self._extended = extended
        self._last_shape: re.Pattern[str] | None = None
        self.commands = self._list(inside=False)

    def _error(self, message: str) -> SedError:
        return SedError(f"-e expression #1, char {self._position}: {message}")

    def _peek(self) -> str:
        return self._text[self._position : self._position + 1]

    def _skip(self, characters: str) -> None:
        while self._peek() and self._peek() in characters:
            self._position += 1

    def _list(self, *, inside: bool) -> list[Command]:
        commands: list[Command] = []
        while True:
            self._skip(" \t\n;")
            if not self._peek():
                if inside:
                    raise self._error("unmatched `{'")
                return commands
            if self._peek() == "}":
                if not inside:
                    raise self._error("unexpected `}'")
                self._position += 1
                return commands
            if self._peek() == "#":
                self._line()
                continue
            commands.append(self._command())

    def _command(self) -> Command:
        first = self._address()
        second = None
        self._skip(" \t")
        if first is not None and self._peek() == ",":
            self._position += 1
            self._skip(" \t")
            second = self._address()
            if second is None:
                raise self._error("unexpected `,'")
        self._skip(" \t")
        negated = False
        while self._peek() == "!":
            negated = True
            self._position += 1
            self._skip(" \t")
        name = self._peek()
        if not name:
            raise self._error("missing command")
        self._position += 1
        command = Command(name, first, second, negated)
        if name == "{":
            command.block = self._list(inside=True)
        elif name == "s":
            self._substitution(command)
        elif name == "y":
            delimiter = self._take()
            source, target = self._delimited(delimiter, is_pattern=False), self._delimited(delimiter, is_pattern=False)
            if len(source) != len(target):
                raise self._error("strings for `y' command are different lengths")
            command.text = source + target
        elif name in "aic":
            self._skip(" \t")
            if self._text.startswith("\\", self._position):
                self._position += 1
                self._skip(" \t\n")
            command.text = re.sub(r"\\(.)", r"\1", self._line(), flags=re.DOTALL)
        elif name not in "dpqQ=nNDPhHgGxlz":
            raise self._error(f"unknown command: `{name}'")
        elif name in "qQ":
            self._skip(" \t")
            command.text = self._digits()
        return command

    def _address(self) -> Address | None:
        char = self._peek()
        if char.isdigit():
            line = int(self._digits())
            if self._peek() == "~":
                self._position += 1
                return Address(line, step=int(self._digits() or 1))
            return Address(line)
        if char == "$":
            self._position += 1
            return Address(last=True)
        if char == "/" or (char == "\\" and self._position + 1 < len(self._text)):
            self._position += 1
            delimiter = char if char == "/" else self._take()
            pattern = self._delimited(delimiter, is_pattern=True)
            ignore_case = self._peek() == "I"
            self._position += ignore_case
            return Address(shape=self._compiled(pattern, ignore_case=ignore_case))
        return None

    def _substitution(self, command: Command) -> None:
        delimiter = self._take()
        pattern = self._delimited(delimiter, is_pattern=True)
        command.text = self._delimited(delimiter, is_pattern=False)
        flags = re.compile(r"[gpIiemM0-9]*").match(self._text, self._position)
        command.flags = flags[0] if flags else ""
        self._position += len(command.flags)
        if self._peek() == "w":
            raise self._error("unknown option to `s'")
        self._skip(" \t")
        if self._peek() and self._peek() not in ";\n}#":
            raise self._error("unknown option to `s'")
        command.shape = self._compiled(pattern, ignore_case="i" in command.flags.lower())

    def _compiled(self, pattern: str, *, ignore_case: bool) -> re.Pattern[str]:
        if pattern:
            try:
                self._last_shape = regex.compiled(pattern, extended=self._extended, ignore_case=ignore_case)
            except ValueError as error:
                raise self._error(str(error)) from None
        if self._last_shape is None:
            raise self._error("no previous regular expression")
        return self._last_shape

    def _take(self) -> str:
        char = self._peek()
        if not char or char in "\n\\":
            raise self._error("unterminated `s' command")
        self._position += 1
        return char

    def _digits(self) -> str:
        start = self._position
        while self._peek().isdigit():
            self._position += 1
        return self._text[start : self._position]

    def _line(self) -> str:
        end = self._text.find("\n", self._position)
        end = len(self._text) if end < 0 else end
        line = self._text[self._position : end]
        self._position = end
        return line

    def _delimited(self, delimiter: str, *, is_pattern: bool) -> str:
        """Text up to the delimiter; an escaped delimiter stands for itself, as one in brackets does in a pattern."""
        text, in_brackets = "", False
        while True:
            char = self._peek()
            if not char:
                raise self._error("unterminated `s' command" if not is_pattern else "unterminated address regex")
            self._position += 1
            if char == "\\" and self._peek():
                following = self._peek()
                self._position += 1
                text += following if following == delimiter else char + following
            elif char == delimiter and not in_brackets:
                return text
            else:
                if is_pattern:
                    in_brackets = char == "[" if not in_brackets else char != "]" or text.endswith(("[", "[^"))
                text += char


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
