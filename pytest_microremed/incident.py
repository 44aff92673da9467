"""What a remediator is told, may ask and must answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from pytest_microremed.playbook.playbook import Playbook


@dataclass(frozen=True)
class ProbeOutput:
    """One command of a probe: what was asked, and what the cluster said. `exit_code` is None where it never ran."""

    command: str
    output: str
    exit_code: int | None


@dataclass(frozen=True)
class ProbeResult:
    """The answers to a probe, in the order of its commands."""

    outputs: tuple[ProbeOutput, ...]

    def __str__(self) -> str:
        return "\n".join(f"$ {o.command}\n{o.output}" for o in self.outputs)


@dataclass(frozen=True)
class Incident:
    """What the remediator is told and may do (MicroRemed section 3: target, failure type, auxiliary context).

    It never names the injector's objects.
    """

    namespace: str
    target: str
    failure_type: str
    report: str
    context: str
    probe: Callable[[Sequence[str]], ProbeResult] = field(repr=False, compare=False)
    """Read-only look at the cluster with the agent's own credentials; counted and budgeted."""


@dataclass(frozen=True)
class Feedback:
    """What every remediator learns of its last attempt: the same binary verdict and run output for all."""

    attempt: int
    recovered: bool
    output: str
    """Output of the playbook's run, or why it was not run."""


@runtime_checkable
class Remediator(Protocol):
    """All that a third party writes.

    Optional attributes: `attempts` (int; default 1 + T_max where `remediate` takes feedback, else 1) and `close()`.
    """

    def remediate(self, incident: Incident, feedback: Feedback | None = None) -> str | Playbook:
        """The playbook (YAML text or `Playbook`) that should bring the target back."""
