"""The syntax tree of the simulated shell: words and commands, in the terms of POSIX "Shell Command Language"."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias


class ShellSyntaxError(Exception):
    """The text is no shell program; the message is what a shell prints behind `syntax error: `."""


@dataclass(frozen=True)
class Text:
    """Characters that stand for themselves; quoted ones are neither split nor taken as a pattern."""

    text: str
    quoted: bool


@dataclass(frozen=True)
class Parameter:
    """`$name`, `${name}`, `${#name}` or `${name<operator>word}`."""

    name: str
    quoted: bool
    operator: str = ""
    """One of `-` `=` `?` `+` (each also with a colon before it), `#` `##` `%` `%%`, or `length`."""
    argument: Word = ()


@dataclass(frozen=True)
class Substitution:
    """`$(program)` or the same in back-quotes."""

    program: Program
    quoted: bool


@dataclass(frozen=True)
class Arithmetic:
    """`$((expression))`; the expression is expanded like a double-quoted word first."""

    expression: Word
    quoted: bool


Part: TypeAlias = Text | Parameter | Substitution | Arithmetic
Word: TypeAlias = tuple[Part, ...]


@dataclass
class HereDocument:
    """A here-document's body is read by the lexer after the line that names it."""

    delimiter: str
    strip_tabs: bool
    literal: bool
    body: Word = ()


@dataclass(frozen=True)
class Redirection:
    """`[descriptor]operator target`."""

    descriptor: int
    operator: Literal["<", ">", ">>", ">|", "<&", ">&", "<<", "<>"]
    target: Word | HereDocument


@dataclass(frozen=True)
class Assignment:
    name: str
    value: Word


@dataclass(frozen=True)
class Simple:
    assignments: tuple[Assignment, ...]
    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True)
class Compound:
    """A compound command with the redirections behind it."""

    body: Group | Subshell | If | For | While | Case
    redirections: tuple[Redirection, ...] = ()


@dataclass(frozen=True)
class Group:
    program: Program


@dataclass(frozen=True)
class Subshell:
    program: Program


@dataclass(frozen=True)
class If:
    branches: tuple[tuple[Program, Program], ...]
    otherwise: Program | None = None


@dataclass(frozen=True)
class For:
    name: str
    words: tuple[Word, ...] | None
    """None: the positional parameters."""
    body: Program


@dataclass(frozen=True)
class While:
    condition: Program
    body: Program
    until: bool = False


@dataclass(frozen=True)
class Case:
    subject: Word
    branches: tuple[tuple[tuple[Word, ...], Program], ...]


@dataclass(frozen=True)
class Function:
    name: str
    body: Compound


Command: TypeAlias = Simple | Compound | Function


@dataclass(frozen=True)
class Pipeline:
    commands: tuple[Command, ...]
    negated: bool = False


@dataclass(frozen=True)
class AndOr:
    """A first pipeline, then each with the operator that decides whether it runs."""

    first: Pipeline
    rest: tuple[tuple[Literal["&&", "||"], Pipeline], ...] = ()
    background: bool = False


@dataclass(frozen=True)
class Program:
    """A list of commands, in order."""

    items: tuple[AndOr, ...] = field(default=())
