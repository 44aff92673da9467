"""The record of a case: one schema, from which every report is made."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Literal

SCHEMA = 1

Outcome = Literal["recovered", "not recovered", "not posed", "crashed"]

PHASES = ("deploy", "inject", "think", "probe", "execute", "verify", "restore")
"""Where the seconds of a case go, in the order they are spent (wall-clock seconds)."""


@dataclass(frozen=True)
class Verdict:
    """Judgement of one attempt by the harness: `recovered` = fault gone, serving, and both held for the hold time."""

    recovered: bool
    fault_gone: bool
    serving: bool
    held: bool
    reason: str
    """One sentence: what still fails, or what showed the recovery."""
    collateral: tuple[str, ...] = ()
    """`Kind/name: what changed` for each object changed or harmed beside the target."""
    disruption_s: float | None = None
    """Cluster seconds without a ready endpoint that the fault does not account for; None without a Service."""
    down_at_start: bool = False
    """Whether the fault had left no ready endpoint: the playbook then had nothing to interrupt."""
    how: tuple[str, ...] = ()
    """injector removed, pod replaced, limit raised, configuration corrected, process stopped, …"""

    @property
    def clean(self) -> bool:
        """Recovered, and nothing else touched, and no interruption that the fault had not caused."""
        return self.recovered and not self.collateral and (self.down_at_start or not self.disruption_s)


@dataclass(frozen=True)
class Attempt:
    """One playbook and what came of it."""

    playbook: str | None
    """The text as the remediator gave it; None if it gave none."""
    ran: bool
    exit_code: int | None
    output: str
    """Output of the run (shortened, the cut is said), or the reason why it was not run."""
    recovered: bool
    reason: str
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Tokens:
    """As the provider reported them; None is unknown, not zero."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    reasoning: int | None = None


@dataclass(frozen=True, repr=False)
class CaseResult:
    """Everything a report needs of one case; plain JSON by `to_json`."""

    case: dict[str, Any]
    """id, level, number, system, fault, target, variant."""
    remediator: str
    outcome: Outcome
    reason: str = ""
    verdict: Verdict | None = None
    attempts: tuple[Attempt, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)
    tokens: Tokens | None = None
    """None for remediators without a model."""
    cost_usd: float | None = None
    model: str | None = None
    seed: int | None = None
    probes: int = 0
    cluster: str = ""
    injector: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    schema: int = SCHEMA

    def __repr__(self) -> str:
        """Short, because pytest shows it where an assertion on it fails."""
        return f"<{self.case['id']}: {self.outcome}>"

    @property
    def recovered(self) -> bool:
        return self.outcome == "recovered"

    @property
    def latency(self) -> float | None:
        """ARL's summand: seconds of thinking, probing and running playbooks; the harness's own waits are not in it."""
        if self.outcome not in ("recovered", "not recovered"):
            return None
        return sum(self.seconds.get(phase, 0.0) for phase in ("think", "probe", "execute"))

    def explain(self) -> str:
        """Why the case counts as it does, for the assertion message."""
        reasons = [a.reason for a in self.attempts] or [self.reason]
        number = len(reasons)
        lines = [f"  attempt {n} of {number}: {reason}" for n, reason in enumerate(reasons, 1)]
        return "\n".join([f"{self.case['id']}: {self.outcome}", *lines])

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> CaseResult:
        """Inverse of `to_json`, also after a trip through JSON text."""
        verdict, tokens = data.get("verdict"), data.get("tokens")
        return cls(
            **{
                **data,
                "verdict": verdict
                and Verdict(**{**verdict, "collateral": tuple(verdict["collateral"]), "how": tuple(verdict["how"])}),
                "attempts": tuple(Attempt(**a) for a in data.get("attempts", ())),
                "tokens": tokens and Tokens(**tokens),
            }
        )
