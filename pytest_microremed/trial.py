"""The trial of one case: report → remediator → playbook → run → status check, until recovered or out of attempts."""

from __future__ import annotations

import dataclasses
import inspect
from dataclasses import dataclass

from pytest_microremed.checks.availability import AvailabilityMonitor
from pytest_microremed.checks.evidence import Evidence, explain_how, gather
from pytest_microremed.checks.verify import Verification, verify
from pytest_microremed.errors import InfrastructureError, PlaybookError
from pytest_microremed.incident import Feedback, Incident, Remediator
from pytest_microremed.playbook.lint import lint
from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.playbook.runner import PlaybookRunner
from pytest_microremed.posing import Posed
from pytest_microremed.recorder import Recorder
from pytest_microremed.result import Attempt, CaseResult, Outcome, Verdict
from pytest_microremed.systems.baseline import changes


@dataclass
class Trial:
    """The loop of one posed case. The harness runs the playbooks and judges; the remediator only answers."""

    posed: Posed
    runner: PlaybookRunner
    recorder: Recorder
    t_max: int

    def run(self, incident: Incident, remediator: Remediator) -> CaseResult:
        """Let the remediator try; raises InfrastructureError where the cluster, not the remediator, failed."""
        try:
            return self._run(incident, remediator)
        except InfrastructureError as error:
            self.recorder.record("not posed", str(error))
            raise

    def _run(self, incident: Incident, remediator: Remediator) -> CaseResult:
        before = self._look()
        monitor = AvailabilityMonitor(self.posed.testbed.cluster, self.posed.namespace, self.posed.workload.service)
        monitor.start()
        attempts: list[Attempt] = []
        verification: Verification | None = None
        feedback: Feedback | None = None
        try:
            for number in range(1, self._attempts(remediator) + 1):
                attempt, verification = self._attempt(incident, remediator, feedback)
                attempts.append(attempt)
                if attempt.recovered or attempt.playbook is None:
                    break
                feedback = Feedback(number, attempt.recovered, attempt.output or attempt.reason)
        finally:
            availability = monitor.stop()
        with self.recorder.stopwatch.phase("verify"):
            verdict = self._verdict(verification, before, attempts[-1])
        verdict = dataclasses.replace(
            verdict, disruption_s=availability.disruption_s, down_at_start=availability.down_at_start
        )
        outcome: Outcome = "recovered" if verdict.recovered else "not recovered"
        return self.recorder.record(outcome, verdict.reason, verdict=verdict, attempts=tuple(attempts))

    def _look(self) -> Evidence:
        p = self.posed
        return gather(p.testbed.cluster, p.injection, p.fault, p.workload, p.namespace)

    def _attempts(self, remediator: Remediator) -> int:
        """As many as the remediator says; else 1 + T_max where it takes feedback, else one."""
        own = getattr(remediator, "attempts", None)
        if own is not None:
            return int(own)
        takes_feedback = len(inspect.signature(remediator.remediate).parameters) > 1
        return 1 + self.t_max if takes_feedback else 1

    def _attempt(
        self, incident: Incident, remediator: Remediator, feedback: Feedback | None
    ) -> tuple[Attempt, Verification | None]:
        with self.recorder.stopwatch.phase("think"):
            try:
                answer = remediator.remediate(incident, feedback) if feedback else remediator.remediate(incident)
            except InfrastructureError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a third party's code raises is its failed attempt
                return _failed(None, f"the remediator raised {type(error).__name__}: {error}"), None
        if not isinstance(answer, (str, Playbook)):
            return _failed(None, f"the remediator answered with {type(answer).__name__}, not a playbook"), None
        playbook = answer if isinstance(answer, Playbook) else Playbook(answer)
        try:
            lint(playbook)
        except PlaybookError as error:
            return _failed(playbook.text, f"no valid playbook: {error}"), None
        with self.recorder.stopwatch.phase("execute"):
            run = self.runner.run(playbook)
        if not run.ran:
            return Attempt(playbook.text, False, run.exit_code, run.output, False, run.reason), None
        with self.recorder.stopwatch.phase("verify"):
            verification = verify(self.posed.check, self.posed.serving, self.posed.testbed.cluster)
        reason = verification.reason + (f"; {run.reason}" if run.reason else "")
        return (
            Attempt(playbook.text, True, run.exit_code, run.output, verification.recovered, reason),
            verification,
        )

    def _verdict(self, verification: Verification | None, before: Evidence, last: Attempt) -> Verdict:
        if verification is None:
            return Verdict(False, False, False, False, last.reason)
        found = changes(self.posed.testbed.cluster, self.posed.baseline)
        beside = [change for change in found if change.workload != self.posed.workload.name]
        return Verdict(
            recovered=verification.recovered,
            fault_gone=verification.fault_gone,
            serving=verification.serving,
            held=verification.held,
            reason=verification.reason,
            collateral=tuple(str(change) for change in beside),
            how=explain_how(before, self._look()) if verification.recovered else (),
        )


def _failed(playbook: str | None, reason: str) -> Attempt:
    return Attempt(playbook, False, None, "", False, reason)
