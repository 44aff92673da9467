"""The way of a case up to its incident: deploy, control check, injection, confirmation — and back again."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_microremed.case import Case
from pytest_microremed.checks.serving import ServingCheck
from pytest_microremed.checks.status import StatusCheck, build_check
from pytest_microremed.checks.verify import POLL_S
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.errors import MicroremedError, NotPosed, WaitTimeout
from pytest_microremed.faults.fault import Fault, load_fault
from pytest_microremed.faults.injection import Injection, inject
from pytest_microremed.recorder import Recorder
from pytest_microremed.stopwatch import Stopwatch
from pytest_microremed.systems.baseline import Baseline, restore
from pytest_microremed.systems.system import System, Workload, load_system
from pytest_microremed.testbed import Testbed

CONFIRM_S = 60.0
"""How long health may take to show before the injection, and a fault after it, in cluster seconds."""


@dataclass
class Posed:
    """A case whose fault is injected and confirmed: everything that the trial and the way back need."""

    case: Case
    system: System
    workload: Workload
    fault: Fault
    testbed: Testbed
    baseline: Baseline
    check: StatusCheck
    serving: ServingCheck
    injection: Injection

    @property
    def namespace(self) -> str:
        return self.baseline.namespace


def pose(testbed: Testbed, case: Case, recorder: Recorder) -> Posed:
    """Bring the case to its incident.

    Raises NotPosed or ClusterError: the fault is then taken back, and the testbed is marked dirty.
    """
    system, fault = load_system(case.system), load_fault(case.fault)
    workload = system.workload(case.target)
    cluster = testbed.cluster
    stopwatch = recorder.stopwatch
    recorder.cluster = cluster.name
    with stopwatch.phase("deploy"):
        baseline = testbed.become(system)
        namespace = baseline.namespace
        check = build_check(fault, cluster, system, workload, namespace, case.variant)
        serving = ServingCheck(cluster, system, workload, namespace)
        for control in (check, serving):
            try:
                _await_health(cluster, control, workload)
            except WaitTimeout as error:
                testbed.dirty = str(error)
                raise NotPosed(f"control check before the injection failed: {error}") from None
    with stopwatch.phase("inject"):
        try:
            injection = inject(cluster, fault, system, workload, case.id, namespace, case.variant)
        except MicroremedError as error:
            testbed.dirty = f"injection failed: {error}"
            raise
        recorder.injector = injection.mechanism
        posed = Posed(case, system, workload, fault, testbed, baseline, check, serving, injection)
        try:
            cluster.wait_for(
                f"{fault.name} on {workload.name} shows in its status check",
                lambda: not check.run().passed,
                CONFIRM_S,
            )
        except MicroremedError:
            testbed.dirty = "injection not confirmed"
            dismantle(posed, stopwatch)
            raise
    return posed


def _await_health(cluster: Cluster, control: StatusCheck | ServingCheck, workload: Workload) -> None:
    """Give a control check the patience of a confirmation: a stalled moment is no ill health."""
    reason = ""

    def healthy() -> bool:
        nonlocal reason
        result = control.run()
        reason = result.reason
        return result.passed

    cluster.wait_for(f"{workload.name} healthy", healthy, CONFIRM_S, POLL_S, last_seen=lambda: reason)


def dismantle(posed: Posed, stopwatch: Stopwatch) -> str | None:
    """Remove the fault and restore the system. Never raises for the cluster's sake: returns what went wrong.

    The testbed is then dirty, and the next case resets it before it begins.
    """
    with stopwatch.phase("restore"):
        try:
            posed.injection.stop()
            restore(posed.testbed.cluster, posed.baseline, recycle=(posed.workload.name,))
        except MicroremedError as error:
            posed.testbed.dirty = str(error)
            return f"{posed.case.id} left the cluster dirty, the next case resets it: {error}"
    return None
