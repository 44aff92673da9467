"""Putting a fault into a healthy system, and taking it back."""

from __future__ import annotations

import hashlib
from typing import Protocol

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import Obj
from pytest_microremed.cluster.quantity import parse_quantity
from pytest_microremed.errors import ClusterError, NotPosed
from pytest_microremed.faults.chaos import INJECTOR_NAMESPACE, ChaosInjection
from pytest_microremed.faults.configuration import ConfigurationInjection
from pytest_microremed.faults.fault import Fault
from pytest_microremed.faults.mutation import mutation_for
from pytest_microremed.faults.target import Target, disk_container, name_of
from pytest_microremed.systems.system import LOG_PATH, System, Workload

MEMORY_SHARE = 0.8
"""Share of the limit that memory stress and the program together take: saturated, and not killed."""


class Injection(Protocol):
    """A fault that is in the cluster."""

    @property
    def mechanism(self) -> str:
        """`chaos-mesh` or `configuration`."""

    def active(self) -> bool:
        """Whether the injector's object is still there, or the configuration still wrong. Raises
        ClusterError."""

    def stop(self) -> None:
        """Take the fault back, without waiting for the target to serve again. Raises ClusterError."""


def inject(
    cluster: Cluster,
    fault: Fault,
    system: System,
    workload: Workload,
    case_id: str,
    namespace: str,
    variant: str | None,
) -> Injection:
    """Inject the fault into one pod of the workload (chaos), or into its template (configuration).

    Returns when it is in place. Raises UsageError for a variant that the workload cannot have, NotPosed
    with the injector's own message where it cannot be done.
    """
    fault.check_variant(workload, variant)
    try:
        if variant is not None:
            mutation = mutation_for(workload, variant)
            configuration = ConfigurationInjection(cluster, workload, namespace, mutation)
            configuration.start()
            return configuration
        chaos = ChaosInjection(cluster, _resource(cluster, fault, workload, case_id, namespace))
        chaos.start()
    except ClusterError as error:
        raise NotPosed(f"{fault.name} on {workload.name} of {system.name} was not injected: {error}") from error
    return chaos


def experiment_name(case_id: str) -> str:
    """Unique to the case, valid as an object's name, and silent about the fault."""
    return f"exp-{hashlib.sha256(case_id.encode()).hexdigest()[:10]}"


def _resource(cluster: Cluster, fault: Fault, workload: Workload, case_id: str, namespace: str) -> Obj:
    """The custom resource for this case. Of several pods the first by name is hit: nothing is drawn at run
    time."""
    pods = Target(cluster, workload, namespace).look().pods
    if not pods:
        raise NotPosed(f"{workload.kind} {namespace}/{workload.name} has no pod")
    pod = name_of(pods[0])
    values = {
        "name": experiment_name(case_id),
        "injector_namespace": INJECTOR_NAMESPACE,
        "namespace": namespace,
        "pod": pod,
        "container": workload.container,
        "log_path": LOG_PATH,
    }
    if fault.check == "disk-write":
        values["disk_container"] = disk_container(cluster, workload, namespace, pod)
    if fault.check == "memory-usage":
        values["memory_mib"] = _memory_mib(cluster, workload, namespace, pod)
    return fault.render(values)


def _memory_mib(cluster: Cluster, workload: Workload, namespace: str, pod: str) -> str:
    """MiB that fill the target's memory up to `MEMORY_SHARE` of its limit, on top of what the program
    uses."""
    limit = parse_quantity(workload.memory_limit)
    used = next(
        (
            sample.memory_bytes
            for sample in cluster.usage(namespace, workload.labels)
            if (sample.pod, sample.container) == (pod, workload.container)
        ),
        None,
    )
    if used is None:
        raise NotPosed(f"no memory sample of {namespace}/{pod}/{workload.container}: is metrics.k8s.io served?")
    return str(int((MEMORY_SHARE * limit - used) // 2**20))
