"""Jobs: pods that run to their end, so many at a time, until enough have succeeded or too many failed.

Source: Kubernetes documentation, "Jobs". Completion modes other than NonIndexed are treated as NonIndexed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.resources import JOBS, PODS
from pytest_microremed.embedded.api.store import Change, Object, timestamp
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
from pytest_microremed.embedded.sim.controllers.ownership import controller_name
from pytest_microremed.embedded.sim.controllers.pods import (
    is_active,
    is_finished,
    is_ready,
    is_terminating,
    phase,
)
from pytest_microremed.embedded.sim.controllers.podwriter import PodWriter
from pytest_microremed.embedded.sim.controllers.status import (
    condition,
    conditions_of,
    counts,
    find_condition,
    with_condition,
    without_condition,
    write_status,
)

_FIRST_BACK_OFF_S = 10.0
_LAST_BACK_OFF_S = 600.0
_COMPLETE = (
    "SuccessCriteriaMet",
    "Complete",
    "CompletionsReached",
    "Reached expected number of succeeded pods",
)
_TOO_OFTEN = ("BackoffLimitExceeded", "Job has reached the specified backoff limit")
_TOO_LONG = ("DeadlineExceeded", "Job was active longer than specified deadline")


@dataclass
class _Memory:
    """What the API object cannot tell: simulated times, and outcomes of pods that have been deleted since."""

    started: float
    succeeded: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    last_failure: float = 0.0
    finished: float | None = None


class JobController(Controller):
    component = "job-controller"
    watches = (JOBS, PODS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._writer = PodWriter(self)
        self._memory: dict[str, _Memory] = {}

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is JOBS:
            if change.type == "DELETED":
                self._memory.pop(change.obj["metadata"]["uid"], None)
            yield key_of(change.obj)
        elif name := controller_name(change.obj, "Job"):
            yield change.obj["metadata"]["namespace"], name

    def reconcile(self, namespace: str, name: str) -> None:
        job = self.store.get(JOBS, namespace, name)
        if job is None or "deletionTimestamp" in job["metadata"]:
            return
        memory = self._memory.setdefault(job["metadata"]["uid"], _Memory(self.clock.seconds()))
        pods = self.claim(PODS, job)
        self._count(memory, pods)
        conditions = conditions_of(job)
        if _is_true(conditions, "Complete") or _is_true(conditions, "Failed"):
            self._expire(job, memory)
            return
        if job["spec"].get("suspend"):
            self._suspend(job, memory, pods)
            return
        if _is_true(conditions, "Suspended"):
            memory.started = self.clock.seconds()
            self.tell(job, "Normal", "Resumed", "Job resumed")
            resumed = condition(self.clock.now(), "Suspended", "False", "JobResumed", "Job resumed")
            conditions = with_condition(conditions, resumed)
        active = [pod for pod in pods if is_active(pod)]
        verdict = self._verdict(job, memory, active)
        if verdict:
            conditions = self._finish(job, memory, pods, verdict, conditions)
        else:
            active = self._match_size(job, memory, active)
        self._report(job, memory, [pod for pod in active if not verdict], conditions)

    def _count(self, memory: _Memory, pods: list[Object]) -> None:
        for pod in pods:
            uid = pod["metadata"]["uid"]
            if phase(pod) == "Succeeded":
                memory.succeeded.add(uid)
            elif phase(pod) == "Failed" and uid not in memory.failed:
                memory.failed.add(uid)
                memory.last_failure = self.clock.seconds()

    def _verdict(self, job: Object, memory: _Memory, active: list[Object]) -> tuple[str, str, str, str] | None:
        """The conditions, reason and message with which the Job ends; None while it goes on."""
        spec = job["spec"]
        completions = spec.get("completions")
        failed = find_condition(conditions_of(job), "FailureTarget")
        if failed:
            return "FailureTarget", "Failed", failed["reason"], failed["message"]
        if self._restarted_too_often(job, memory, active):
            return "FailureTarget", "Failed", *_TOO_OFTEN
        deadline_s = spec.get("activeDeadlineSeconds")
        if deadline_s is not None:
            left_s = memory.started + deadline_s - self.clock.seconds()
            if left_s <= 0:
                return "FailureTarget", "Failed", *_TOO_LONG
            self.later(left_s, job)
        if completions is None:
            return _COMPLETE if memory.succeeded and not active else None
        return _COMPLETE if len(memory.succeeded) >= completions else None

    def _restarted_too_often(self, job: Object, memory: _Memory, active: list[Object]) -> bool:
        limit = job["spec"].get("backoffLimit", 6)
        if len(memory.failed) > limit:
            return True
        if job["spec"]["template"]["spec"].get("restartPolicy") != "OnFailure":
            return False
        statuses = [each for pod in active for each in pod.get("status", {}).get("containerStatuses") or ()]
        restarts = sum(each.get("restartCount", 0) for each in statuses)
        return bool(restarts > 0 if limit == 0 else restarts >= limit)

    def _match_size(self, job: Object, memory: _Memory, active: list[Object]) -> list[Object]:
        spec = job["spec"]
        wanted = spec.get("parallelism", 1)
        if spec.get("completions") is not None:
            wanted = min(wanted, spec["completions"] - len(memory.succeeded))
        elif memory.succeeded:
            wanted = min(wanted, len(active))  # one success of a work queue means that the queue is empty
        for pod in active[wanted:]:
            self._writer.delete(job, pod)
        staying = active[:wanted]
        wait_s = self._back_off(memory)
        if len(staying) < wanted and wait_s > 0:
            self.later(wait_s, job)
            return staying
        try:
            while len(staying) < wanted:
                staying.append(self._writer.create(job, spec["template"]))
        except ApiError:
            self.later(_FIRST_BACK_OFF_S, job)
        return staying

    def _back_off(self, memory: _Memory) -> float:
        """Simulated seconds to wait after a failure: 10, 20, 40 …"""
        if not memory.failed:
            return 0.0
        pause_s = min(_FIRST_BACK_OFF_S * 2.0 ** (len(memory.failed) - 1), _LAST_BACK_OFF_S)
        return memory.last_failure + pause_s - self.clock.seconds()

    def _finish(
        self,
        job: Object,
        memory: _Memory,
        pods: list[Object],
        verdict: tuple[str, str, str, str],
        conditions: list[dict[str, Any]],
    ) -> list[dict[str, Any]]:
        """End what still runs; the Job counts as ended only after the last pod has."""
        interim, final, reason, message = verdict
        for pod in pods:
            if is_active(pod):
                self._writer.delete(job, pod)
        now = self.clock.now()
        conditions = with_condition(conditions, condition(now, interim, "True", reason, message))
        if any(not is_finished(pod) for pod in self.claim(PODS, job)):
            return conditions
        memory.finished = self.clock.seconds()
        if final == "Complete":
            self.tell(job, "Normal", "Completed", "Job completed")
        else:
            self.tell(job, "Warning", reason, message)
        return with_condition(conditions, condition(now, final, "True", reason, message))

    def _expire(self, job: Object, memory: _Memory) -> None:
        lifetime_s = job["spec"].get("ttlSecondsAfterFinished")
        if lifetime_s is None:
            return
        if memory.finished is None:
            memory.finished = self.clock.seconds()
        left_s = memory.finished + lifetime_s - self.clock.seconds()
        if left_s > 0:
            self.later(left_s, job)
        else:
            self.store.delete(JOBS, job)

    def _suspend(self, job: Object, memory: _Memory, pods: list[Object]) -> None:
        for pod in pods:
            if is_active(pod):
                self._writer.delete(job, pod)
        conditions = conditions_of(job)
        if not _is_true(conditions, "Suspended"):
            self.tell(job, "Normal", "Suspended", "Job suspended")
            suspended = condition(self.clock.now(), "Suspended", "True", "JobSuspended", "Job suspended")
            conditions = with_condition(without_condition(conditions, "Suspended"), suspended)
        self._report(job, memory, [], conditions)

    def _report(self, job: Object, memory: _Memory, active: list[Object], conditions: list[dict[str, Any]]) -> None:
        before, now = job.get("status", {}), timestamp(self.clock.now())
        terminating = sum(is_terminating(pod) and not is_finished(pod) for pod in self.claim(PODS, job))
        status = {
            **counts(active=len(active), succeeded=len(memory.succeeded), failed=len(memory.failed)),
            "ready": sum(map(is_ready, active)),
            "terminating": terminating,
            "uncountedTerminatedPods": {},
        }
        if not _is_true(conditions, "Suspended"):
            status["startTime"] = before.get("startTime") or now
        if _is_true(conditions, "Complete"):
            status["completionTime"] = before.get("completionTime") or now
        if conditions:
            status["conditions"] = conditions
        write_status(self.store, JOBS, job, status)


def _is_true(conditions: list[dict[str, Any]], type_: str) -> bool:
    return (find_condition(conditions, type_) or {}).get("status") == "True"
