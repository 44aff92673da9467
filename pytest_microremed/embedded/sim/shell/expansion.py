"""Word expansion (POSIX 2.6): parameters, command substitution, arithmetic, field splitting, file names, quotes."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field

from pytest_microremed.embedded.sim.shell import pattern
from pytest_microremed.embedded.sim.shell.arithmetic import ExpressionError, evaluate
from pytest_microremed.embedded.sim.shell.filesystem import FileSystem
from pytest_microremed.embedded.sim.shell.syntax import (
    Arithmetic,
    Parameter,
    Part,
    Program,
    Substitution,
    Text,
    Word,
)


class ExpansionError(Exception):
    """An expansion fails, which ends a shell that is not interactive; the message is the shell's."""


@dataclass
class Variables(MutableMapping[str, str]):
    """Shell variables; those that are exported are the environment of commands."""

    assigned: dict[str, str] = field(default_factory=dict)
    exported: set[str] = field(default_factory=set)
    read_only: set[str] = field(default_factory=set)

    def __getitem__(self, name: str) -> str:
        return self.assigned[name]

    def __setitem__(self, name: str, value: str) -> None:
        if name in self.read_only:
            raise ExpansionError(f"{name}: is read only")
        self.assigned[name] = value

    def __delitem__(self, name: str) -> None:
        del self.assigned[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.assigned)

    def __len__(self) -> int:
        return len(self.assigned)

    def environment(self) -> dict[str, str]:
        return {name: value for name, value in self.assigned.items() if name in self.exported}

    def copy(self) -> Variables:
        return Variables(dict(self.assigned), set(self.exported), set(self.read_only))


@dataclass
class Scope:
    """What an expansion refers to."""

    variables: Variables
    arguments: Sequence[str]
    """Positional parameters, `$0` first."""
    special: Callable[[str], str]
    """The value of `?`, `$`, `!` and `-`."""
    substitute: Callable[[Program], Awaitable[bytes]]
    files: FileSystem
    cwd: str
    no_unset: bool = False
    no_glob: bool = False


@dataclass(frozen=True)
class _Piece:
    """A piece of an expanded word; a `split` one came unquoted out of an expansion."""

    text: str
    quoted: bool
    split: bool = False
    break_after: bool = False
    """The field ends behind it: between the arguments of `$@`."""


async def expand_words(words: Sequence[Word], scope: Scope) -> list[str]:
    """All fields that the words of a command become."""
    fields: list[str] = []
    for word in words:
        pieces = await _pieces(_with_home(word, scope), scope)
        for one in _split(pieces, scope.variables.get("IFS", " \t\n")):
            fields += _file_names(one, scope)
    return fields


async def expand_text(word: Word, scope: Scope) -> str:
    """One string, neither split nor globbed: an assignment's value, a redirection's target, a here-document."""
    return "".join(piece.text + " " * piece.break_after for piece in await _pieces(_with_home(word, scope), scope))


async def expand_pattern(word: Word, scope: Scope) -> str:
    """A pattern in which quoted characters are escaped."""
    pieces = await _pieces(word, scope)
    return "".join(pattern.escape(piece.text) if piece.quoted else piece.text for piece in pieces)


def _with_home(word: Word, scope: Scope) -> Word:
    first = word[0] if word else None
    if isinstance(first, Text) and not first.quoted and re.match(r"~(/|$)", first.text):
        return (Text(scope.variables.get("HOME", "~") + first.text[1:], True), *word[1:])
    return word


async def _pieces(word: Word, scope: Scope) -> list[_Piece]:
    pieces: list[_Piece] = []
    for part in word:
        pieces += await _expand(part, scope)
    return pieces


async def _expand(part: Part, scope: Scope) -> list[_Piece]:
    if isinstance(part, Text):
        return [_Piece(part.text, part.quoted)]
    if isinstance(part, Substitution):
        output = (await scope.substitute(part.program)).replace(b"\0", b"")
        return [_Piece(output.decode("utf-8", "surrogateescape").rstrip("\n"), part.quoted, not part.quoted)]
    if isinstance(part, Arithmetic):
        expression = await expand_text(part.expression, scope)
        try:
            return [_Piece(str(evaluate(expression, scope.variables)), part.quoted, not part.quoted)]
        except ExpressionError as error:
            raise ExpansionError(str(error)) from None
    if part.name in "@*" and not part.operator:
        return _all_arguments(part, scope)
    return await _parameter(part, scope)


def _all_arguments(part: Parameter, scope: Scope) -> list[_Piece]:
    arguments = list(scope.arguments[1:])
    if part.name == "*" and part.quoted:
        separator = scope.variables.get("IFS", " ")[:1]
        return [_Piece(separator.join(arguments), True)]
    last = len(arguments) - 1
    return [_Piece(text, part.quoted, not part.quoted, index < last) for index, text in enumerate(arguments)]


async def _parameter(part: Parameter, scope: Scope) -> list[_Piece]:
    value = _value(part.name, scope)
    operator = part.operator
    if operator == "length":
        _check_set(part.name, value, scope)
        return [_Piece(str(len(value or "")), part.quoted)]
    missing = value is None or (operator.startswith(":") and not value)
    kind = operator.lstrip(":")
    if kind in ("#", "##", "%", "%%"):
        _check_set(part.name, value, scope)
        return [_Piece(await _trimmed(value or "", kind, part, scope), part.quoted, not part.quoted)]
    if kind == "+":
        if missing:
            return [_Piece("", True)] if part.quoted else []
        return await _argument(part, scope)
    if kind and missing:
        if kind == "-":
            return await _argument(part, scope)
        if kind == "=":
            value = await expand_text(part.argument, scope)
            scope.variables[part.name] = value
        elif kind == "?":
            message = await expand_text(part.argument, scope)
            raise ExpansionError(f"{part.name}: {message or 'parameter not set or null'}")
    _check_set(part.name, value, scope)
    if value is None and not part.quoted:
        return []
    return [_Piece(value or "", part.quoted, not part.quoted)]


def _check_set(name: str, value: str | None, scope: Scope) -> None:
    if value is None and scope.no_unset and name not in "@*":
        raise ExpansionError(f"{name}: parameter not set")


async def _argument(part: Parameter, scope: Scope) -> list[_Piece]:
    pieces = await _pieces(_with_home(part.argument, scope), scope)
    if part.quoted:
        return [_Piece("".join(piece.text for piece in pieces), True)]
    return [_Piece(piece.text, piece.quoted, not piece.quoted, piece.break_after) for piece in pieces]


async def _trimmed(value: str, kind: str, part: Parameter, scope: Scope) -> str:
    """The value without its shortest or longest prefix or suffix that matches the pattern."""
    shape = pattern.compiled(await expand_pattern(part.argument, scope))
    cuts = range(len(value) + 1)
    if kind.startswith("#"):
        for cut in cuts if kind == "#" else reversed(cuts):
            if shape.fullmatch(value, 0, cut):
                return value[cut:]
    else:
        for cut in reversed(cuts) if kind == "%" else cuts:
            if shape.fullmatch(value, cut):
                return value[:cut]
    return value


def _value(name: str, scope: Scope) -> str | None:
    if name.isdigit():
        return scope.arguments[int(name)] if int(name) < len(scope.arguments) else None
    if name == "#":
        return str(len(scope.arguments) - 1)
    if name in "@*":
        return " ".join(scope.arguments[1:])
    if name in "?$!-":
        return scope.special(name)
    return scope.variables.get(name)


def _split(pieces: Sequence[_Piece], separators: str) -> list[list[_Piece]]:
    """Field splitting (2.6.5): blanks around fields vanish, other separators end one field each."""
    blanks = "".join(char for char in separators if char in " \t\n")
    fields: list[list[_Piece]] = []
    current: list[_Piece] | None = None
    for piece in pieces:
        if not piece.split:
            if piece.text or piece.quoted:
                current = [*(current or []), piece]
        else:
            index, text = 0, piece.text
            while index < len(text):
                char = text[index]
                if char not in separators:
                    end = index
                    while end < len(text) and text[end] not in separators:
                        end += 1
                    current = [*(current or []), _Piece(text[index:end], False)]
                    index = end
                    continue
                while index < len(text) and text[index] in blanks:
                    index += 1
                if index < len(text) and text[index] in separators:
                    index += 1
                    while index < len(text) and text[index] in blanks:
                        index += 1
                    fields.append(current or [])
                    current = None
                elif current is not None:
                    fields.append(current)
                    current = None
        if piece.break_after:
            if current is not None:
                fields.append(current)
            current = None
    if current is not None:
        fields.append(current)
    return fields


def _file_names(pieces: Sequence[_Piece], scope: Scope) -> list[str]:
    """Pathname expansion (2.6.6); a pattern that matches nothing stays as it is."""
    text = "".join(piece.text for piece in pieces)
    if scope.no_glob:
        return [text]
    wanted = "".join(pattern.escape(piece.text) if piece.quoted else piece.text for piece in pieces)
    if not pattern.has_magic(wanted):
        return [text]
    return sorted(_glob(wanted, scope)) or [text]


def _glob(wanted: str, scope: Scope) -> list[str]:
    absolute = wanted.startswith("/")
    found = ["/" if absolute else ""]
    for component in (c for c in wanted.split("/") if c):
        found = [posixpath.join(base, name) for base in found for name in _matching(base, component, scope)]
    return found


def _matching(base: str, component: str, scope: Scope) -> list[str]:
    directory = FileSystem.absolute(base or ".", scope.cwd)
    if not pattern.has_magic(component):
        name = pattern.unescape(component)
        return [name] if scope.files.exists(FileSystem.absolute(name, directory)) else []
    if not scope.files.is_directory(directory):
        return []
    shape = pattern.compiled(component)
    return [
        name
        for name in scope.files.entries(directory)
        if (component.startswith(".") or not name.startswith(".")) and shape.fullmatch(name)
    ]
