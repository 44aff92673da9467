"""A playbook: the text that a remediator answers with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Playbook:
    """Ansible playbook as YAML text, just as the remediator gave it; `lint` judges it."""

    text: str
