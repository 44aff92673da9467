"""Restarts whatever is named: what an operator does who does not look."""

from __future__ import annotations

from pytest_microremed.incident import Feedback, Incident

PLAYBOOK = """\
- name: Restart {target}
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Restart the Deployment or StatefulSet and wait for its new pods
      ansible.builtin.shell: |
        set -e
        kubectl="kubectl --namespace={namespace}"
        workload=$($kubectl get deployment,statefulset --field-selector=metadata.name={target} --output=name)
        $kubectl rollout restart "$workload"
        $kubectl rollout status "$workload" --timeout=120s
"""


class Restart:
    """Tells how many cases a restart alone recovers; faults bound to a pod go with the pod."""

    uses_model = False
    attempts = 1

    def remediate(self, incident: Incident, feedback: Feedback | None = None) -> str:
        return PLAYBOOK.format(target=incident.target, namespace=incident.namespace)
