"""Faults on an embedded cluster: posed, repaired or cheated by playbooks with the agent's rights, judged,
taken back."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_microremed.checks.availability import Availability, AvailabilityMonitor
from pytest_microremed.checks.check import StatusCheck
from pytest_microremed.checks.evidence import Evidence, explain_how, gather
from pytest_microremed.checks.serving import ServingCheck
from pytest_microremed.checks.status import build_check
from pytest_microremed.checks.verify import Verification, verify
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.credentials import issue_agent
from pytest_microremed.data import fixtures_dir
from pytest_microremed.faults.fault import Fault, load_fault
from pytest_microremed.faults.injection import Injection, inject
from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.playbook.runner import PlaybookRunner, Run
from pytest_microremed.remediators.template import render
from pytest_microremed.systems.baseline import Baseline, deploy, restore
from pytest_microremed.systems.system import System, Workload, load_system


class Bench:
    """A system on a cluster, and an agent's rights on it."""

    def __init__(self, cluster: Cluster, system: str, folder: Path) -> None:
        self.cluster = cluster
        self.system = load_system(system)
        self.baseline: Baseline = deploy(cluster, self.system, self.system.namespace)
        rights = issue_agent(cluster, self.system.namespace)
        self.runner = PlaybookRunner(rights, folder)
        self._kubeconfig = folder / "agent.yaml"
        self._kubeconfig.write_text(rights, encoding="utf-8")

    def command(self, argv: Sequence[str], *, may_fail: bool = False) -> str:
        """Run one command as the agent; its output. AssertionError if it fails and may not."""
        environment = {
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(self._kubeconfig),
            "HOME": str(self._kubeconfig.parent),
        }
        done = subprocess.run(argv, env=environment, capture_output=True, text=True, timeout=90, check=False)
        assert may_fail or done.returncode == 0, f"{argv}: {done.stderr}"
        return done.stdout

    def kubectl(self, *words: str) -> str:
        return self.command(["kubectl", f"--namespace={self.system.namespace}", *words])

    @contextmanager
    def posed(self, target: str, fault: str, variant: str | None = None) -> Iterator[PosedFault]:
        """The fault in the system: the control passed, and the injection is confirmed. All is put back
        afterwards."""
        cluster, system, workload = self.cluster, self.system, self.system.workload(target)
        loaded, namespace = load_fault(fault), system.namespace
        check = build_check(loaded, cluster, system, workload, namespace, variant)
        serving = ServingCheck(cluster, system, workload, namespace)
        for control in (check, serving):
            result = control.run()
            assert result.passed, result.reason
        injection = inject(cluster, loaded, system, workload, f"test-{fault}-{target}", namespace, variant)
        try:
            cluster.wait_for(f"{fault} to show", lambda: not check.run().passed, 60)
            yield PosedFault(self, system, workload, loaded, variant, check, serving, injection)
        finally:
            injection.stop()
            restore(cluster, self.baseline, recycle=(target,))


@dataclass
class PosedFault:
    bench: Bench
    system: System
    workload: Workload
    fault: Fault
    variant: str | None
    check: StatusCheck
    serving: ServingCheck
    injection: Injection

    def look(self) -> Evidence:
        namespace = self.system.namespace
        return gather(self.bench.cluster, self.injection, self.fault, self.workload, namespace)

    def judge(self, patience_s: float = 60.0) -> Verification:
        return verify(self.check, self.serving, self.bench.cluster, patience_s=patience_s)

    def repair(self) -> Repair:
        """Run the reference repair."""
        before, monitor = self.look(), self.monitor()
        monitor.start()
        run = self.bench.runner.run(Playbook(self.reference()))
        verdict = self.judge()
        return Repair(run, verdict, monitor.stop(), explain_how(before, self.look()))

    def reference(self) -> str:
        return render(
            fixtures_dir() / "playbooks" / f"{self.fault.name}.yml.j2",
            namespace=self.system.namespace,
            target=self.workload.name,
            kind=self.workload.kind,
            container=self.workload.container,
            workload=self.workload,
            system=self.system.name,
            fault=self.fault.name,
            variant=self.variant,
        )

    def monitor(self) -> AvailabilityMonitor:
        return AvailabilityMonitor(self.bench.cluster, self.system.namespace, self.workload.service)


@dataclass
class Repair:
    run: Run
    verdict: Verification
    availability: Availability
    how: tuple[str, ...]
