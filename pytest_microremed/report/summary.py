"""Rates over a set of results: RA, ARL, ATC and coverage, whole and by level, system and fault."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pytest_microremed.result import CaseResult

GROUPS = ("level", "system", "fault")


@dataclass(frozen=True)
class Average:
    """A mean over posed cases; `complete` is False where some of them did not report the figure."""

    value: float | None
    complete: bool


@dataclass(frozen=True)
class Rates:
    """Figures of one group of cases.

    RA (remediation accuracy) counts posed cases only, and `posed` beside `cases` shows the coverage. ARL (average
    remediation latency, seconds) and ATC (average token consumption) are means over posed cases (MicroRemed 3.3).
    """

    cases: int
    posed: int
    recovered: int
    clean: int
    not_posed: int
    crashed: int
    arl: Average
    atc: Average

    @property
    def not_recovered(self) -> int:
        return self.posed - self.recovered

    @property
    def ra(self) -> float | None:
        """Share 0..1, or None where nothing was posed."""
        return self.recovered / self.posed if self.posed else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson score interval of RA at 95 %."""
        return wilson(self.recovered, self.posed) if self.posed else None


def rates(results: Iterable[CaseResult]) -> Rates:
    """The figures of these results."""
    everything = list(results)
    posed = [r for r in everything if r.outcome in ("recovered", "not recovered")]
    with_model = [r for r in posed if r.tokens is not None]
    return Rates(
        cases=len(everything),
        posed=len(posed),
        recovered=sum(r.recovered for r in posed),
        clean=sum(bool(r.recovered and r.verdict and r.verdict.clean) for r in posed),
        not_posed=sum(r.outcome == "not posed" for r in everything),
        crashed=sum(r.outcome == "crashed" for r in everything),
        arl=_average([r.latency for r in posed]),
        atc=_average([_tokens(r) for r in with_model]),
    )


def grouped(results: Sequence[CaseResult], group: str) -> dict[str, Rates]:
    """Rates by the values of one of `GROUPS`, in order of first appearance."""
    values = dict.fromkeys(r.case[group] for r in results)
    return {value: rates(r for r in results if r.case[group] == value) for value in values}


def wilson(successes: int, trials: int, z: float = 1.959964) -> tuple[float, float]:
    """Wilson score interval for a proportion (E. B. Wilson, JASA 1927), 95 % by default."""
    share = successes / trials
    middle = share + z * z / (2 * trials)
    spread = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    scale = 1 + z * z / trials
    # At 0 and 1 the bound is the share itself; floating point would miss it by an epsilon.
    return max(0.0, min(share, (middle - spread) / scale)), min(1.0, max(share, (middle + spread) / scale))


def _tokens(result: CaseResult) -> float | None:
    tokens = result.tokens
    if tokens is None or tokens.prompt is None or tokens.completion is None:
        return None
    return tokens.prompt + tokens.completion


def _average(values: Sequence[float | None]) -> Average:
    known = [v for v in values if v is not None]
    return Average(sum(known) / len(known) if known else None, len(known) == len(values))
