"""Changes nothing: what recovers with it was not broken, or is not checked."""

from __future__ import annotations

from pytest_microremed.incident import Feedback, Incident

PLAYBOOK = """\
- name: Change nothing
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Say so
      ansible.builtin.debug:
        msg: This playbook changes nothing.
"""


class Noop:
    """The lower bound of RA: it must recover no case."""

    uses_model = False
    attempts = 1

    def remediate(self, incident: Incident, feedback: Feedback | None = None) -> str:
        return PLAYBOOK
