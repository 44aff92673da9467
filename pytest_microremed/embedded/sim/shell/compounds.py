"""Compound commands and functions of the simulated shell (POSIX 2.9.4, 2.9.5)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pytest_microremed.embedded.sim.shell import pattern, processes
from pytest_microremed.embedded.sim.shell.control import LoopControl, Return
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, writer
from pytest_microremed.embedded.sim.shell.expansion import ExpansionError, expand_pattern, expand_text, expand_words
from pytest_microremed.embedded.sim.shell.redirections import diagnose_failure, redirected
from pytest_microremed.embedded.sim.shell.state import ShellState
from pytest_microremed.embedded.sim.shell.syntax import Case, Compound, For, Group, If, Program, Subshell, While

_MAX_CALLS = 25
"""Levels of function calls inside each other."""


class CompoundCommands(ShellState):
    """Runs `{ }`, `( )`, `if`, `case`, `for`, `while` and functions."""

    async def compound(self, command: Compound, descriptors: Descriptors) -> int:
        try:
            streams = await redirected(self, command.redirections, descriptors)
        except OSError as error:
            return diagnose_failure(self, error, descriptors)
        body = command.body
        if isinstance(body, Group):
            return await self.execute(body.program, streams)
        if isinstance(body, Subshell):
            return await self.fork().execute_forked(body.program, dict(streams))
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
        with self.testing(True):
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
