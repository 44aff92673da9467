"""The status check of each fault."""

from __future__ import annotations

from pytest_microremed.checks.check import CheckResult, Measurement, StatusCheck, TargetCheck, look_healthy
from pytest_microremed.checks.configuration import Configuration, setting_for
from pytest_microremed.checks.disk import DiskWrite
from pytest_microremed.checks.network import PacketLoss, RoundTrip
from pytest_microremed.checks.pods import PodHealth
from pytest_microremed.checks.saturation import Saturation
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.errors import UsageError
from pytest_microremed.faults.fault import Fault
from pytest_microremed.faults.mutation import mutation_for
from pytest_microremed.systems.system import System, Workload

__all__ = ["CheckResult", "StatusCheck", "build_check"]


def build_check(
    fault: Fault, cluster: Cluster, system: System, workload: Workload, namespace: str, variant: str | None
) -> StatusCheck:
    """The check that watches for this fault on this workload. Call it on the healthy system: it takes its
    baseline here.

    Raises UsageError for a variant that the workload cannot have, NotPosed where the target is not healthy
    or its health cannot be measured, and ClusterError.
    """
    fault.check_variant(workload, variant)
    target, healthy = look_healthy(cluster, workload, namespace)

    def measurement() -> Measurement:
        match fault.check:
            case "cpu-usage":
                return Saturation(cluster, workload, namespace, healthy, "cpu")
            case "memory-usage":
                return Saturation(cluster, workload, namespace, healthy, "memory")
            case "disk-write":
                return DiskWrite(cluster, workload, namespace, healthy)
            case "packet-loss":
                return PacketLoss(cluster, system, workload, namespace)
            case "round-trip":
                return RoundTrip(cluster, system, workload, namespace, healthy)
            case "pod-health":
                return PodHealth(cluster, system, workload, namespace, healthy)
            case "configuration":
                if variant is None:
                    raise UsageError(f"{fault.name} has to be asked for by a variant")
                mutation = mutation_for(workload, variant)
                return Configuration(workload, setting_for(cluster, workload, namespace, healthy, mutation))

    return TargetCheck(target, healthy, measurement())
