"""The log of a container: what its program wrote, and periodic lines, made up when someone reads.

A program's condition (slow, cut off from a dependency, …) colours its periodic lines. When it changes, the
lines up to then are written in the old one, so that what was once read stays true.
"""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass
from datetime import datetime, timedelta

from pytest_microremed.embedded.api.runtime import LogLine
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.dependencies import Trouble
from pytest_microremed.embedded.sim.log_styles import STORIES, Level, Speaker, explain, line
from pytest_microremed.embedded.sim.profiles import Style

KEPT_LINES = 2000
PERIOD_S = 15.0
"""Simulated seconds between two periodic lines of a program that works."""
MADE_AT_ONCE = 200
SLOW_S = 0.1


@dataclass(frozen=True)
class Condition:
    """How a program is, as far as its log tells."""

    is_asked: bool = False
    """Whether it gets requests that it can work on."""
    seconds: float = 0.0
    """Time for a small request."""
    call_delay_s: float = 0.0
    """What the pod's network adds to each call of a dependency."""
    call_loss: float = 0.0
    disk_s: float = 0.0
    """What writing to its log volume takes longer."""
    troubles: tuple[Trouble, ...] = ()


class ContainerLog:
    """The lines of one run of a container."""

    def __init__(self, clock: SimClock, style: Style, speaker: Speaker, rng: random.Random) -> None:
        self.lines: deque[LogLine] = deque(maxlen=KEPT_LINES)
        self.condition = Condition()
        self._clock = clock
        self._style = style
        self.speaker = speaker
        self._story = STORIES[style]
        self._random = rng
        self._made_until = clock.seconds()

    def write(self, text: str) -> None:
        """A line as it is."""
        self.lines.append(LogLine(self._clock.now(), text))

    def say(self, level: Level, message: str) -> None:
        """A message in the program's own format."""
        now = self._clock.now()
        self.lines.append(LogLine(now, line(self._style, self.speaker, now, level, message)))

    def starting(self) -> None:
        for sentence in self._story.starting:
            self.say("info", self._fill(sentence))

    def started(self) -> None:
        for sentence in self._story.started:
            self.say("info", self._fill(sentence))

    def become(self, condition: Condition) -> None:
        """Finish the lines of the old condition, and go on in the new one; new troubles are told at once."""
        self.advance()
        known, self.condition = self.condition.troubles, condition
        for trouble in condition.troubles:
            if trouble not in known:
                self.say("error", self._failure(trouble))

    def advance(self) -> None:
        """Make up the periodic lines until now."""
        now = self._clock.seconds()
        count = int((now - self._made_until) / PERIOD_S)
        if count <= 0:
            return
        behind = now - self._made_until - count * PERIOD_S
        self._made_until += count * PERIOD_S
        if not (self.condition.is_asked or self.condition.troubles):
            return
        for index in range(min(count, MADE_AT_ONCE) - 1, -1, -1):
            ago = timedelta(seconds=(behind + index * PERIOD_S) / self._clock.speed)
            self._make(self._clock.now() - ago)

    def _make(self, moment: datetime) -> None:
        condition = self.condition
        for trouble in condition.troubles:
            self._append(moment, "error", self._failure(trouble))
        if condition.troubles or not condition.is_asked:
            return
        took = 0.002 + condition.seconds * self._random.uniform(0.8, 1.6) + condition.call_delay_s
        while self._random.random() < condition.call_loss:
            took += 0.2 + took
        if condition.disk_s:
            self._append(moment, "warn", f"writing the request log took {condition.disk_s:.2f} s")
        if took >= SLOW_S:
            self._append(moment, "warn", self._fill(self._story.slow, took))
        elif self._story.request:
            self._append(moment, "info", self._fill(self._random.choice(self._story.request), took))

    def _append(self, moment: datetime, level: Level, message: str) -> None:
        self.lines.append(LogLine(moment, line(self._style, self.speaker, moment, level, message)))

    def _failure(self, trouble: Trouble) -> str:
        return self._fill(self._story.failure).replace("{error}", explain(self._style, trouble))

    def _fill(self, sentence: str, took_s: float = 0.0) -> str:
        return sentence.format(
            service=self.speaker.service,
            pod=self.speaker.pod,
            port=self.speaker.port,
            path=self._random.choice(self.speaker.paths),
            client="10.244.0.1:40512",
            took_ms=max(1, round(took_s * 1000)),
            error="{error}",
        )
