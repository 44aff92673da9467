"""The commands of the simulated containers: each is a function under one or more names."""

from __future__ import annotations

import getopt
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.shell.dialect import speaks_dash
from pytest_microremed.embedded.sim.shell.streams import Reader, Writer

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.shell.filesystem import FileSystem
    from pytest_microremed.embedded.sim.shell.services import ShellServices


class CommandError(Exception):
    """A command gives up: the message is written to standard error behind the command's name."""

    def __init__(self, message: str, code: int = 1) -> None:
        self.code = code
        super().__init__(message)


class Runner(Protocol):
    """Runs another command as a process of its own; the exit code."""

    async def __call__(
        self,
        words: Sequence[str],
        stdin: Reader | None = None,
        out: Writer | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> int:
        """Without `stdin` the input is empty; without `out` and `environment` they are those of the caller."""


Opener: TypeAlias = "Callable[[str], Awaitable[Reader]]"


@dataclass(frozen=True)
class Call:
    """One run of a command: its words, streams and surroundings."""

    args: Sequence[str]
    """All words, the command's name included."""
    stdin: Reader
    out: Writer
    err: Writer
    env: Mapping[str, str]
    cwd: str
    files: FileSystem
    process: Process
    services: ShellServices
    run: Runner = field(repr=False)
    opener: Opener = field(repr=False)

    async def open(self, name: str) -> Reader:
        """A file argument as a stream; devices give what they give. Raises OSError."""
        return await self.opener(self.path(name))

    @property
    def name(self) -> str:
        return self.args[0].rsplit("/", 1)[-1]

    @property
    def container(self) -> Container:
        return self.files.container

    @property
    def is_busybox(self) -> bool:
        """Whether the tools are busybox's, with their own words, rather than Debian's."""
        return not speaks_dash(self.container)

    def with_args(self, args: Sequence[str]) -> Call:
        """The same run with other words."""
        return replace(self, args=args)

    def path(self, name: str) -> str:
        """The absolute path of a file argument."""
        return self.files.absolute(name, self.cwd)

    def print(self, text: str, end: str = "\n") -> None:
        self.out.write((text + end).encode("utf-8", "surrogateescape"))

    def complain(self, text: str) -> None:
        """A line on standard error, behind the command's name."""
        self.err.write(f"{self.name}: {text}\n".encode("utf-8", "surrogateescape"))

    def options(self, short: str, long: Sequence[str] = ()) -> tuple[dict[str, str], list[str]]:
        """Options by name without dashes (the last one of a name wins), and the operands. Raises `CommandError`."""
        pairs, operands = self.option_pairs(short, long)
        return dict(pairs), operands

    def option_pairs(self, short: str, long: Sequence[str] = ()) -> tuple[list[tuple[str, str]], list[str]]:
        """The same with repeated options, in order."""
        try:
            found, operands = getopt.gnu_getopt(list(self.args[1:]), short, list(long))
        except getopt.GetoptError as error:
            what = "option requires an argument" if "requires argument" in error.msg else "unrecognized option"
            raise CommandError(f"{what}: {error.opt}") from None
        return [(name.lstrip("-"), value) for name, value in found], operands

    async def input(self, operands: Sequence[str]) -> list[tuple[str, bytes]]:
        """The named files (`-` is standard input), or standard input. Complains about those that cannot be read."""
        inputs = []
        for name in operands or ["-"]:
            if name == "-":
                inputs.append(("-", await self.stdin.read()))
                continue
            try:
                inputs.append((name, await self.files.read(self.path(name))))
            except OSError as error:
                self.complain(f"{name}: {error.strerror}")
        return inputs


Command: TypeAlias = Callable[[Call], Awaitable[int]]
Where: TypeAlias = Literal["everywhere", "debian", "on request"]
"""Which images have a command: all with a userland, those of Debian, or only those whose profile names it."""
_COMMANDS: dict[str, tuple[Command, Where]] = {}


def command(*names: str, where: Where = "everywhere") -> Callable[[Command], Command]:
    """Register a command under these names."""

    def register(function: Command) -> Command:
        for name in names:
            _COMMANDS[name] = (function, where)
        return function

    return register


def find(name: str, container: Container) -> Command | None:
    """The command of that name, if the container's image has it."""
    return tools(container).get(name)


def installed(name: str, container: Container) -> bool:
    """Whether the container's image has the command; a container without an image has them all."""
    return name in tools(container)


def tools(container: Container) -> Mapping[str, Command]:
    """The commands that the container's image has, by name."""
    from pytest_microremed.embedded.sim.shell import commands

    commands.load()
    if container.image is None:
        return {name: found for name, (found, _) in _COMMANDS.items()}
    profile = container.image.profile
    return _tools(profile.userland, profile.tools)


@lru_cache
def _tools(userland: str, extra: frozenset[str]) -> Mapping[str, Command]:
    return {
        name: found
        for name, (found, where) in _COMMANDS.items()
        if name in extra or (userland != "none" and where in ("everywhere", userland))
    }
