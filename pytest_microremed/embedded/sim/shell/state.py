"""The state of a shell, and what follows from it alone: copies for subshells, what expansions refer to, messages."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Self

from pytest_microremed.embedded.sim.model import Process
from pytest_microremed.embedded.sim.shell.control import Exit, LoopControl, Return
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, writer
from pytest_microremed.embedded.sim.shell.dialect import shell_prefix
from pytest_microremed.embedded.sim.shell.execution import BROKEN_PIPE
from pytest_microremed.embedded.sim.shell.expansion import ExpansionError, Scope, Variables
from pytest_microremed.embedded.sim.shell.filesystem import FileSystem
from pytest_microremed.embedded.sim.shell.services import ShellServices
from pytest_microremed.embedded.sim.shell.streams import BrokenPipe, Collector
from pytest_microremed.embedded.sim.shell.syntax import Compound, Program

SPINNING = 10_000
"""A loop that goes round so often without once waiting is taken for a busy loop: it only burns CPU from then on."""


@dataclass
class Options:
    """`set -e -u -f -x -o pipefail`."""

    errexit: bool = False
    nounset: bool = False
    noglob: bool = False
    xtrace: bool = False
    pipefail: bool = False


@dataclass
class ShellState(ABC):
    """A shell's state. Subshells are copies."""

    files: FileSystem
    services: ShellServices
    process: Process
    variables: Variables
    arguments: list[str]
    cwd: str = "/"
    status: int = 0
    background: int | None = None
    options: Options = field(default_factory=Options)
    functions: dict[str, Compound] = field(default_factory=dict)
    jobs: dict[int, asyncio.Task[int]] = field(default_factory=dict)
    pid: int = 0
    """`$$`: of the main shell, also in subshells."""
    traps: dict[str, str] = field(default_factory=dict)
    in_place: bool = False
    """The next external command takes this shell's process over, as an `exec` would."""
    loops: int = 0
    calls: int = 0
    substituted: int = 0
    """Exit code of the last command substitution: that of a command without a name."""
    busy_after: int = SPINNING
    tested: int = 0
    """Greater than 0 inside conditions, where `set -e` does not apply."""

    def __post_init__(self) -> None:
        self.pid = self.pid or self.process.pid

    @abstractmethod
    async def execute(self, program: Program, descriptors: Descriptors) -> int:
        """Run a program in this shell; the exit code of its last command."""

    async def execute_forked(self, program: Program, descriptors: Descriptors) -> int:
        """Run a program in this shell, which is a subshell: `exit` ends only it."""
        try:
            return await self.execute(program, descriptors)
        except (Exit, Return) as request:
            return request.code
        except LoopControl:
            return self.status
        except BrokenPipe:
            return BROKEN_PIPE
        except ExpansionError as error:
            self.diagnose(str(error), descriptors)
            return 2

    def fork(self, process: Process | None = None) -> Self:
        """A subshell: a copy, as its own process where one is given."""
        return replace(
            self,
            process=process or self.process,
            variables=self.variables.copy(),
            arguments=list(self.arguments),
            options=replace(self.options),
            functions=dict(self.functions),
            jobs={},
            traps={},
            in_place=False,
            loops=0,
        )

    def diagnose(self, message: str, descriptors: Descriptors) -> None:
        """A line of the shell itself on standard error."""
        text = f"{shell_prefix(self.files.container, self.arguments[0])}{message}\n"
        writer(descriptors, 2).write(text.encode("utf-8", "surrogateescape"))

    @contextmanager
    def testing(self, tested: bool) -> Iterator[None]:
        """Where a failure is only asked about, `set -e` does not apply."""
        self.tested += tested
        try:
            yield
        finally:
            self.tested -= tested

    def scope(self, descriptors: Descriptors) -> Scope:
        """What expansions in this shell refer to."""

        async def substitute(program: Program) -> bytes:
            collected = Collector()
            fork = self.fork()
            self.substituted = await fork.execute_forked(program, {**descriptors, 1: collected})
            return bytes(collected.data)

        return Scope(
            self.variables, self.arguments, self._special, substitute, self.files, self.cwd,
            self.options.nounset, self.options.noglob,
        )  # fmt: skip

    def _special(self, name: str) -> str:
        flags = (("e", self.options.errexit), ("u", self.options.nounset), ("x", self.options.xtrace))
        return {
            "?": str(self.status),
            "$": str(self.pid),
            "!": "" if self.background is None else str(self.background),
            "-": "".join(flag for flag, given in flags if given),
        }[name]
