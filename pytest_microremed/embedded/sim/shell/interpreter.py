"""Runs a syntax tree: the control flow of the simulated shell (POSIX 2.9 "Shell Commands")."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from pytest_microremed.embedded.sim.model import Process
from pytest_microremed.embedded.sim.shell import launch, pattern, processes
from pytest_microremed.embedded.sim.shell.descriptors import (
    Descriptors,
    open_to_read,
    open_to_write,
    reader,
    writer,
)
from pytest_microremed.embedded.sim.shell.dialect import shell_prefix, speaks_dash
from pytest_microremed.embedded.sim.shell.execution import BROKEN_PIPE
from pytest_microremed.embedded.sim.shell.expansion import (
    ExpansionError,
    Scope,
    Variables,
    expand_pattern,
    expand_text,
    expand_words,
)
from pytest_microremed.embedded.sim.shell.filesystem import FileSystem
from pytest_microremed.embedded.sim.shell.parser import parse, parse_lines
from pytest_microremed.embedded.sim.shell.services import ShellServices
from pytest_microremed.embedded.sim.shell.streams import (
    BrokenPipe,
    BytesReader,
    Collector,
    Reader,
    Writer,
    pipe,
)
from pytest_microremed.embedded.sim.shell.syntax import (
    AndOr,
    Case,
    Command,
    Compound,
    For,
    Function,
    Group,
    HereDocument,
    If,
    Pipeline,
    Program,
    Redirection,
    ShellSyntaxError,
    Simple,
    Subshell,
    While,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

SPINNING = 10_000
"""A loop that goes round so often without once waiting is taken for a busy loop: it only burns CPU from then on."""
SPINNING_IN_BACKGROUND = 500
"""The same for background jobs, which are hardly ever there to count."""
_MAX_CALLS = 25


class Exit(Exception):
    """`exit`: ends the shell."""

    def __init__(self, code: int) -> None:
        self.code = code


class Return(Exception):
    """`return`: ends a function or a sourced file."""

    def __init__(self, code: int) -> None:
        self.code = code


class LoopControl(Exception):
    """`break` and `continue`, for so many loops around it."""

    def __init__(self, levels: int, *, again: bool) -> None:
        self.levels = levels
        self.again = again


@dataclass
class Options:
    """`set -e -u -f -x -o pipefail`."""

    errexit: bool = False
    nounset: bool = False
    noglob: bool = False
    xtrace: bool = False
    pipefail: bool = False


@dataclass
class Shell:
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
    _tested: int = 0
    """Greater than 0 inside conditions, where `set -e` does not apply."""

    def __post_init__(self) -> None:
        self.pid = self.pid or self.process.pid

    # -- running --

    async def run_text(self, text: str, descriptors: Descriptors) -> int:
        """Run a whole program text as this shell; the exit code."""
        try:
            try:
                for program in parse_lines(text):
                    await self.execute(program, descriptors)
            except Exit as request:
                self.status = request.code
            except (Return, LoopControl):
                pass
            await self._run_exit_trap(descriptors)
        except Exit as request:
            self.status = request.code
        except ShellSyntaxError as error:
            self.diagnose(f"syntax error: {error}", descriptors)
            return 2
        except ExpansionError as error:
            self.diagnose(str(error), descriptors)
            return 2
        except BrokenPipe:
            return BROKEN_PIPE
        except RecursionError:
            self.diagnose("syntax error: nested too deep", descriptors)
            return 2
        return self.status

    async def _run_exit_trap(self, descriptors: Descriptors) -> None:
        action = self.traps.pop("EXIT", None)
        if action:
            status = self.status
            await self.execute(parse(action), descriptors)
            self.status = status

    async def execute(self, program: Program, descriptors: Descriptors) -> int:
        for item in program.items:
            if item.background:
                self._start_job(item, descriptors)
                self.status = 0
            else:
                await self._and_or(item, descriptors)
        return self.status

    def diagnose(self, message: str, descriptors: Descriptors) -> None:
        """A line of the shell itself on standard error."""
        text = f"{shell_prefix(self.files.container, self.arguments[0])}{message}\n"
        writer(descriptors, 2).write(text.encode("utf-8", "surrogateescape"))

    def fork(self, process: Process | None = None) -> Shell:
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

    async def run_fork(self, fork: Shell, program: Program, descriptors: Descriptors) -> int:
        """Run a program in a subshell, whose `exit` ends only it."""
        try:
            await fork.execute(program, descriptors)
        except (Exit, Return) as request:
            return request.code
        except LoopControl:
            return fork.status
        except BrokenPipe:
            return BROKEN_PIPE
        except ExpansionError as error:
            fork.diagnose(str(error), descriptors)
            return 2
        return fork.status

    # -- lists and pipelines --

    async def _and_or(self, item: AndOr, descriptors: Descriptors) -> None:
        last = item.first
        rest = list(item.rest)
        await self._pipeline(last, descriptors, tested=bool(rest))
        while rest:
            operator, pipeline = rest.pop(0)
            if (self.status == 0) == (operator == "&&"):
                last = pipeline
                await self._pipeline(pipeline, descriptors, tested=bool(rest))
            else:
                last = Pipeline(())  # nothing of what is left decides about `set -e`
        if self.status and self.options.errexit and not self._tested and _counts_for_errexit(last):
            raise Exit(self.status)

    async def _pipeline(self, pipeline: Pipeline, descriptors: Descriptors, *, tested: bool) -> None:
        with self._testing(tested or pipeline.negated):
            if len(pipeline.commands) == 1:
                self.status = await self._command(pipeline.commands[0], descriptors)
            else:
                self.status = await self._piped(pipeline.commands, descriptors)
        if pipeline.negated:
            self.status = int(not self.status)

    @contextmanager
    def _testing(self, tested: bool) -> Iterator[None]:
        self._tested += tested
        try:
            yield
        finally:
            self._tested -= tested

    async def _piped(self, commands: Sequence[Command], descriptors: Descriptors) -> int:
        stages = []
        stdin = descriptors.get(0)
        for index, command in enumerate(commands):
            streams = dict(descriptors)
            if stdin is not None:
                streams[0] = stdin
            closing: list[Reader | Writer] = [stdin] if index and stdin is not None else []
            if index < len(commands) - 1:
                stdin, out = pipe()
                streams[1] = out
                closing.append(out)
            stages.append(asyncio.ensure_future(self._stage(command, streams, closing)))
        try:
            codes = await asyncio.gather(*stages)
        except BaseException:
            for stage in stages:
                stage.cancel()
            raise
        if self.options.pipefail:
            return next((code for code in reversed(codes) if code), 0)
        return codes[-1]

    async def _stage(self, command: Command, streams: Descriptors, closing: Sequence[Reader | Writer]) -> int:
        process = self._spawn_fork()
        fork = self.fork(process)
        fork.in_place = isinstance(command, Simple)
        program = Program((AndOr(Pipeline((command,))),))
        try:
            return await processes.run(self.files.container, process, self.run_fork(fork, program, streams))
        finally:
            for stream in closing:
                stream.close()

    def _spawn_fork(self) -> Process:
        return processes.spawn(self.files.container, self.process.command, self.process.pid, self.services)

    def _start_job(self, item: AndOr, descriptors: Descriptors) -> None:
        process = self._spawn_fork()
        fork = self.fork(process)
        fork.in_place = not item.rest and len(item.first.commands) == 1 and isinstance(item.first.commands[0], Simple)
        fork.busy_after = SPINNING_IN_BACKGROUND
        streams = {**descriptors, 0: BytesReader()}
        program = Program((replace(item, background=False),))
        work = self.run_fork(fork, program, streams)
        task = asyncio.ensure_future(processes.run(self.files.container, process, work))
        self.jobs[process.pid] = task
        self.background = process.pid

    # -- commands --

    async def _command(self, command: Command, descriptors: Descriptors) -> int:
        if isinstance(command, Simple):
            return await launch.simple(self, command, descriptors)
        if isinstance(command, Function):
            self.functions[command.name] = command.body
            return 0
        return await self.compound(command, descriptors)

    async def compound(self, command: Compound, descriptors: Descriptors) -> int:
        try:
            streams = await self.redirected(command.redirections, descriptors)
        except OSError as error:
            return self.diagnose_open(error, descriptors)
        body = command.body
        if isinstance(body, Group):
            return await self.execute(body.program, streams)
        if isinstance(body, Subshell):
            return await self.run_fork(self.fork(), body.program, dict(streams))
        if isinstance(body, If):
            return await self._if(body, streams)
        if isinstance(body, Case):
            return await self._case(body, streams)
        return await (self._for(body, streams) if isinstance(body, For) else self._while(body, streams))

    async def _if(self, command: If, descriptors: Descriptors) -> int:
        for condition, body in command.branches:
            if await self._holds(condition, descriptors):
                return await self.execute(body, descriptors)
        return await self.execute(command.otherwise, descriptors) if command.otherwise else 0

    async def _holds(self, condition: Program, descriptors: Descriptors) -> bool:
        with self._testing(True):
            return await self.execute(condition, descriptors) == 0

    async def _case(self, command: Case, descriptors: Descriptors) -> int:
        subject = await expand_text(command.subject, self.scope(descriptors))
        for patterns, body in command.branches:
            for word in patterns:
                if pattern.matches(subject, await expand_pattern(word, self.scope(descriptors))):
                    return await self.execute(body, descriptors) if body.items else 0
        return 0

    async def _for(self, command: For, descriptors: Descriptors) -> int:
        if command.words is None:
            values = list(self.arguments[1:])
        else:
            values = await expand_words(command.words, self.scope(descriptors))
        status = 0
        for value in values:
            self.variables[command.name] = value
            await asyncio.sleep(0)
            status, leave = await self._round(command.body, descriptors)
            if leave:
                break
        return status

    async def _while(self, command: While, descriptors: Descriptors) -> int:
        status = 0
        rounds, waited = 0, self.services.waited
        while await self._holds(command.condition, descriptors) != command.until:
            status, leave = await self._round(command.body, descriptors)
            if leave:
                break
            rounds += 1
            if self.services.waited > waited:
                rounds, waited = 0, self.services.waited
            if rounds >= self.busy_after:
                await processes.spin(self.files.container, self.process)
            if rounds % 20 == 0:
                await writer(descriptors, 1).drain()
        return status

    async def _round(self, body: Program, descriptors: Descriptors) -> tuple[int, bool]:
        """Once through a loop's body; its status, and whether to leave the loop."""
        self.loops += 1
        try:
            return await self.execute(body, descriptors), False
        except LoopControl as request:
            if request.levels > 1 and self.loops > 1:
                raise LoopControl(request.levels - 1, again=request.again) from None
            return 0, not request.again
        finally:
            self.loops -= 1

    async def call_function(self, body: Compound, words: Sequence[str], descriptors: Descriptors) -> int:
        if self.calls >= _MAX_CALLS:
            raise ExpansionError(f"{words[0]}: maximum function recursion depth exceeded")
        arguments, loops = self.arguments, self.loops
        self.arguments, self.loops = [arguments[0], *words[1:]], 0
        self.calls += 1
        try:
            return await self.compound(body, descriptors)
        except Return as request:
            return request.code
        finally:
            self.calls -= 1
            self.arguments, self.loops = arguments, loops

    # -- what expansions need --

    def scope(self, descriptors: Descriptors) -> Scope:
        async def substitute(program: Program) -> bytes:
            collected = Collector()
            fork = self.fork()
            self.substituted = await self.run_fork(fork, program, {**descriptors, 1: collected})
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

    async def redirected(self, redirections: Sequence[Redirection], descriptors: Descriptors) -> Descriptors:
        """The descriptors after these redirections. Raises OSError."""
        if not redirections:
            return descriptors
        streams = dict(descriptors)
        for redirection in redirections:
            number, target = redirection.descriptor, redirection.target
            if isinstance(target, HereDocument):
                body = await expand_text(target.body, self.scope(streams))
                streams[number] = BytesReader(body.encode("utf-8", "surrogateescape"))
                continue
            name = await expand_text(target, self.scope(streams))
            if redirection.operator in ("<&", ">&"):
                if name == "-":
                    streams.pop(number, None)
                elif name.isdigit():
                    get = reader if redirection.operator == "<&" and int(name) == 0 else writer
                    streams[number] = get(streams, int(name))
                else:
                    raise OSError(errno.EBADF, redirection.operator, name)
                continue
            path = self.files.absolute(name, self.cwd)
            try:
                if redirection.operator in ("<", "<>"):
                    streams[number] = await open_to_read(path, self.files, streams)
                else:
                    append = redirection.operator == ">>"
                    streams[number] = await open_to_write(path, self.files, streams, append=append)
            except OSError as error:
                raise OSError(error.errno, redirection.operator, name) from None
        return streams

    def diagnose_open(self, error: OSError, descriptors: Descriptors) -> int:
        """Say that a redirection failed, in the words of the image's shell; the exit code."""
        reading = error.strerror in ("<", "<>")
        dash = speaks_dash(self.files.container)
        name = error.filename
        if self.arguments[0].rsplit("/", 1)[-1] == "bash":
            self.diagnose(f"{name}: {os.strerror(error.errno or 0)}", descriptors)
            return 1
        words = os.strerror(error.errno or 0)
        if error.errno == errno.EBADF:
            self.diagnose(f"{name}: {words}", descriptors)
            return 2 if dash else 1
        if error.errno == errno.ENOENT and dash:
            words = "No such file" if reading else "Directory nonexistent"
        elif error.errno == errno.ENOENT:
            words = "no such file" if reading else "nonexistent directory"
        verb, refusal = "open" if reading else "create", "cannot" if dash else "can't"
        self.diagnose(f"{refusal} {verb} {name}: {words}", descriptors)
        return 2 if dash else 1


def _counts_for_errexit(pipeline: Pipeline) -> bool:
    """Whether the pipeline's failure ends a shell with `set -e`: inside most compound commands, others decide."""
    if pipeline.negated or not pipeline.commands:
        return False
    only = pipeline.commands[0]
    return len(pipeline.commands) > 1 or not isinstance(only, Compound) or isinstance(only.body, Subshell)
