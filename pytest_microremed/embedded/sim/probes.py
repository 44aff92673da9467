"""Readiness, liveness and startup probes of a container (Kubernetes documentation of that name).

A probe that succeeds steadily is not repeated every period: it rests until the pod changes, at most a minute.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pytest_microremed.embedded.sim.alarm import Alarm
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.model import Container
from pytest_microremed.embedded.sim.probe_handlers import ProbeHandlers, Result

Kind = Literal["Readiness", "Liveness", "Startup"]
FIRST_S = 1.0
"""The kubelet's next look at the pod after the container's start."""
STEADY_S = (60.0, 90.0)
"""Simulated seconds between two looks at a probe that has nothing to fear."""


@dataclass(frozen=True)
class Settings:
    """The timing of a probe, with the API's defaults."""

    initial_delay_s: float
    period_s: float
    timeout_s: float
    success_threshold: int
    failure_threshold: int

    @classmethod
    def of(cls, probe: Mapping[str, Any]) -> Settings:
        return cls(
            probe.get("initialDelaySeconds") or 0,
            probe.get("periodSeconds") or 10,
            probe.get("timeoutSeconds") or 1,
            probe.get("successThreshold") or 1,
            probe.get("failureThreshold") or 3,
        )


class Prober:
    """Runs one probe of one run of a container, and says when its verdict changes."""

    def __init__(
        self,
        kind: Kind,
        container: Container,
        handlers: ProbeHandlers,
        clock: SimClock,
        rng: random.Random,
        verdict: Callable[[Kind, bool], None],
        unhealthy: Callable[[Kind, Result], None],
    ) -> None:
        self.kind = kind
        self.probe: Mapping[str, Any] = container.spec[f"{kind.lower()}Probe"]
        self.settings = Settings.of(self.probe)
        self._container = container
        self._handlers = handlers
        self._clock = clock
        self._random = rng
        self._alarm = Alarm(clock)
        self._steady = False
        self._verdict = verdict
        self._unhealthy = unhealthy

    def poke(self) -> None:
        """The pod has changed: look again soon, if this probe is resting."""
        if self._steady:
            self._alarm.ring()

    async def run(self) -> None:
        """Probe until cancelled; a startup probe ends with its first verdict."""
        await self._clock.sleep(max(FIRST_S, self.settings.initial_delay_s))
        passing: bool | None = None
        streak = 0
        previous: bool | None = None
        while True:
            result = await self._handlers.check(self.probe, self._container, self.settings.timeout_s)
            streak = streak + 1 if result.ok is previous else 1
            previous = result.ok
            if result.ok is False or result.ok is None:
                self._unhealthy(self.kind, result)
            if result.ok is not None and passing is not result.ok and streak >= self._threshold(result.ok):
                passing = result.ok
                self._verdict(self.kind, passing)
                if self.kind == "Startup":
                    return
            self._steady = bool(result.ok and passing) and not self._is_lossy()
            await self._rest(self.settings.period_s)

    async def _rest(self, period_s: float) -> None:
        """Wait for the next turn: a period, or as long as nothing changes while all is well."""
        started = self._clock.seconds()
        if self._steady:
            await self._alarm.wait(self._random.uniform(*STEADY_S))
            self._steady = False
        rest = started + period_s - self._clock.seconds()
        if rest > 0:
            await self._clock.sleep(rest)

    def _threshold(self, ok: bool) -> int:
        return self.settings.success_threshold if ok else self.settings.failure_threshold

    def _is_lossy(self) -> bool:
        """Whether the next result may differ although nothing changes."""
        pod = self._container.pod
        return bool(pod.netem.loss or pod.netem.jitter_s or pod.filters)
