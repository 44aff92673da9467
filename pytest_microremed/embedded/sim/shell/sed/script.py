"""Parses `sed` scripts (POSIX sed with GNU's common additions)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pytest_microremed.embedded.sim.shell import regex


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
