"""Which built-in commands there are, and what they share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, writer
from pytest_microremed.embedded.sim.shell.expansion import ExpansionError
from pytest_microremed.embedded.sim.shell.state import ShellState

Builtin: TypeAlias = Callable[[ShellState, list[str], Descriptors], Awaitable[int]]

SPECIAL = frozenset({":", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "unset", "trap", "."})
WITHOUT_PROCESS = frozenset({"echo", "printf", "test", "[", "true", "false", "kill", "pwd"})
"""Ordinary commands that shells have built in: they run without a process of their own."""
_BUILTINS: dict[str, Builtin] = {}


def find(name: str) -> Builtin | None:
    return _BUILTINS.get(name)


def builtin(*names: str) -> Callable[[Builtin], Builtin]:
    """Register a built-in command under these names."""

    def register(function: Builtin) -> Builtin:
        for name in names:
            _BUILTINS[name] = function
        return function

    return register


def say(descriptors: Descriptors, text: str) -> None:
    """A line on standard output."""
    writer(descriptors, 1).write((text + "\n").encode("utf-8", "surrogateescape"))


def number(words: list[str], default: int) -> int:
    """The numeric operand of a built-in. Raises ExpansionError."""
    if len(words) < 2:
        return default
    if not words[1].lstrip("-").isdigit():
        raise ExpansionError(f"{words[0]}: Illegal number: {words[1]}")
    return int(words[1])
