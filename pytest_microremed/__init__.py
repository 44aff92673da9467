"""Measures how well a remediator brings broken Kubernetes microservice systems back by writing Ansible playbooks."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_microremed.case import Case as Case
    from pytest_microremed.case import load_cases as load_cases
    from pytest_microremed.incident import Feedback as Feedback
    from pytest_microremed.incident import Incident as Incident
    from pytest_microremed.incident import ProbeResult as ProbeResult
    from pytest_microremed.incident import Remediator as Remediator
    from pytest_microremed.playbook.playbook import Playbook as Playbook
    from pytest_microremed.result import Attempt as Attempt
    from pytest_microremed.result import CaseResult as CaseResult
    from pytest_microremed.result import Verdict as Verdict
    from pytest_microremed.trial import Trial as Trial

__version__ = "0.1.0"

_HOMES = {
    "Attempt": "result",
    "Case": "case",
    "CaseResult": "result",
    "Feedback": "incident",
    "Incident": "incident",
    "Playbook": "playbook.playbook",
    "ProbeResult": "incident",
    "Remediator": "incident",
    "Trial": "trial",
    "Verdict": "result",
    "load_cases": "case",
}


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is asked for: `embedded` is used without the rest, too."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
