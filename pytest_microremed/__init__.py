"""Measures how well a remediator brings broken Kubernetes microservice systems back by writing Ansible playbooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pytest_microremed.case import Case, load_cases
from pytest_microremed.incident import Feedback, Incident, ProbeResult, Remediator
from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.result import Attempt, CaseResult, Verdict

if TYPE_CHECKING:
    from pytest_microremed.trial import Trial as Trial

__version__ = "0.1.0"

__all__ = [
    "Attempt",
    "Case",
    "CaseResult",
    "Feedback",
    "Incident",
    "Playbook",
    "ProbeResult",
    "Remediator",
    "Verdict",
    "load_cases",
]
