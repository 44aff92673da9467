"""The words of an incident: what the remediator is told of the target, the environment and its limits.

MicroRemed gives the target service and the failure type, and an auxiliary context of runtime environment and action
constraints (section 3, E2E-MR); nothing here names the injector or its objects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_microremed.incident import Incident, ProbeResult
from pytest_microremed.posing import Posed

CONTEXT = """\
Runtime environment: a Kubernetes cluster. The system {system} runs in the namespace {namespace}. The playbook runs on \
the control host, where kubectl, Python with the kubernetes package and the collection kubernetes.core are installed \
and KUBECONFIG is set; its rights end at that namespace.
Inventory: one host, localhost, with a local connection; the group k3s_control_plane holds it too.
Action constraints: online services must not be interrupted, so restarting is not the main strategy; nothing but the \
target may be changed.
Answer: one Ansible playbook in YAML. It is run once, and then the target's recovery is verified.
"""


def brief(posed: Posed, probe: Callable[[Sequence[str]], ProbeResult]) -> Incident:
    """The incident of a posed case."""
    return Incident(
        namespace=posed.namespace,
        target=posed.workload.name,
        failure_type=posed.fault.title,
        report=posed.fault.report_for(posed.workload, posed.namespace),
        context=CONTEXT.format(system=posed.system.name, namespace=posed.namespace),
        probe=probe,
    )
