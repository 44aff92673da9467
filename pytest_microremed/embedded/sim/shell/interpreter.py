"""Runs a syntax tree: lists, pipelines and background jobs of the simulated shell (POSIX 2.9.2, 2.9.3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from pytest_microremed.embedded.sim.model import Process
from pytest_microremed.embedded.sim.shell import launch, processes
from pytest_microremed.embedded.sim.shell.compounds import CompoundCommands
from pytest_microremed.embedded.sim.shell.control import Exit, LoopControl, Return
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors
from pytest_microremed.embedded.sim.shell.execution import BROKEN_PIPE
from pytest_microremed.embedded.sim.shell.expansion import ExpansionError
from pytest_microremed.embedded.sim.shell.parser import parse, parse_lines
from pytest_microremed.embedded.sim.shell.streams import BrokenPipe, BytesReader, Reader, Writer, pipe
from pytest_microremed.embedded.sim.shell.syntax import (
    AndOr,
    Command,
    Compound,
    Function,
    Pipeline,
    Program,
    ShellSyntaxError,
    Simple,
    Subshell,
)

SPINNING_IN_BACKGROUND = 500
"""Rounds without a wait after which a loop in the background is taken for a busy one: few are there to count."""


class Shell(CompoundCommands):
    """A shell that can be run."""

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
        if self.status and self.options.errexit and not self.tested and _counts_for_errexit(last):
            raise Exit(self.status)

    async def _pipeline(self, pipeline: Pipeline, descriptors: Descriptors, *, tested: bool) -> None:
        with self.testing(tested or pipeline.negated):
            if len(pipeline.commands) == 1:
                self.status = await self._command(pipeline.commands[0], descriptors)
            else:
                self.status = await self._piped(pipeline.commands, descriptors)
        if pipeline.negated:
            self.status = int(not self.status)

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
            return await processes.run(self.files.container, process, fork.execute_forked(program, streams))
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
        work = fork.execute_forked(program, streams)
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


def _counts_for_errexit(pipeline: Pipeline) -> bool:
    """Whether the pipeline's failure ends a shell with `set -e`: inside most compound commands, others decide."""
    if pipeline.negated or not pipeline.commands:
        return False
    only = pipeline.commands[0]
    return len(pipeline.commands) > 1 or not isinstance(only, Compound) or isinstance(only.body, Subshell)
