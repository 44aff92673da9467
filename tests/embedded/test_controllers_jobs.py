"""Jobs run pods to their end; CronJobs start Jobs at the times of their schedule."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import CRON_JOBS, JOBS, PODS
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.strategy import prepare_create
from pytest_microremed.embedded.sim.cron import Schedule
from tests.embedded.control_plane import ControlPlane, control_plane, template

plane = pytest.fixture(control_plane)


def create(plane: ControlPlane, *, completions: int | None = 1, **spec: Any) -> None:
    defaults = {"parallelism": 1, "backoffLimit": 6, "template": template("job", restartPolicy="Never")}
    wanted = {} if completions is None else {"completions": completions}
    meta = {"name": "batch", "namespace": "shop", "uid": str(uuid.uuid4())}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {**defaults, **wanted, **spec}}
    plane.create(JOBS, prepare_create(plane.store, JOBS, job))


def running(plane: ControlPlane) -> list[Object]:
    return [pod for pod in plane.pods() if pod["status"]["phase"] == "Running"]


def end(plane: ControlPlane, phase: str) -> None:
    plane.kubelet.write(running(plane)[0], ready=False, phase=phase)
    plane.settle()


def job(plane: ControlPlane) -> Object:
    return plane.get(JOBS, "batch")


def true_conditions(plane: ControlPlane) -> list[str]:
    return [each["type"] for each in job(plane)["status"].get("conditions", []) if each["status"] == "True"]


def test_a_job_is_complete_after_enough_successes_some_at_a_time(plane: ControlPlane) -> None:
    create(plane, completions=3, parallelism=2)
    assert (len(running(plane)), job(plane)["status"]["active"]) == (2, 2)
    end(plane, "Succeeded")
    assert len(running(plane)) == 2
    end(plane, "Succeeded")
    assert len(running(plane)) == 1
    end(plane, "Succeeded")
    status = job(plane)["status"]
    assert (status["succeeded"], "active" in status, "completionTime" in status) == (3, False, True)
    assert true_conditions(plane) == ["SuccessCriteriaMet", "Complete"]
    assert plane.messages("Completed") == ["Job completed"]


def test_a_work_queue_is_done_when_one_pod_succeeded_and_all_have_ended(plane: ControlPlane) -> None:
    create(plane, completions=None, parallelism=2)
    end(plane, "Succeeded")
    assert (len(running(plane)), true_conditions(plane)) == (1, [])
    end(plane, "Succeeded")
    assert true_conditions(plane) == ["SuccessCriteriaMet", "Complete"]


def test_failures_are_retried_ever_later_until_the_limit(plane: ControlPlane) -> None:
    create(plane, backoffLimit=2)
    end(plane, "Failed")
    plane.advance(9)
    assert running(plane) == []
    plane.advance(2)
    end(plane, "Failed")
    plane.advance(19)
    assert running(plane) == []
    plane.advance(2)
    end(plane, "Failed")
    assert true_conditions(plane) == ["FailureTarget", "Failed"]
    failed = plane.condition(job(plane), "Failed")
    assert failed["reason"] == "BackoffLimitExceeded"
    assert failed["message"] == "Job has reached the specified backoff limit"
    plane.advance(600)
    assert (running(plane), job(plane)["status"]["failed"]) == ([], 3)


def test_restarts_count_against_the_limit(plane: ControlPlane) -> None:
    create(plane, backoffLimit=3, template=template("job", restartPolicy="OnFailure"))
    plane.kubelet.write(running(plane)[0], ready=False, containerStatuses=[{"name": "main", "restartCount": 3}])
    plane.settle()
    assert "Failed" in true_conditions(plane)
    assert running(plane) == []


def test_a_deadline_ends_the_job_and_its_pods(plane: ControlPlane) -> None:
    create(plane, activeDeadlineSeconds=30)
    plane.advance(29)
    assert len(running(plane)) == 1
    plane.kubelet.auto_remove = False
    plane.advance(2)
    assert true_conditions(plane) == ["FailureTarget"], "a pod has not ended yet"
    plane.kubelet.remove(plane.store.list(PODS, "shop")[0])
    plane.settle()
    assert plane.condition(job(plane), "Failed")["reason"] == "DeadlineExceeded"


def test_a_finished_job_is_removed_after_its_time_to_live(plane: ControlPlane) -> None:
    create(plane, ttlSecondsAfterFinished=60)
    end(plane, "Succeeded")
    plane.advance(59)
    assert plane.names(JOBS) == ["batch"]
    plane.advance(2)
    assert plane.names(JOBS) == plane.names(PODS) == []


def test_a_suspended_job_runs_nothing_until_it_is_resumed(plane: ControlPlane) -> None:
    create(plane, suspend=True)
    assert (plane.pods(), true_conditions(plane)) == ([], ["Suspended"])
    plane.change_spec(JOBS, "batch", suspend=False)
    assert (len(running(plane)), true_conditions(plane)) == (1, [])
    plane.change_spec(JOBS, "batch", suspend=True)
    assert plane.pods() == []


def test_successes_count_even_after_their_pods_are_deleted(plane: ControlPlane) -> None:
    create(plane, completions=2)
    end(plane, "Succeeded")
    plane.delete(PODS, next(p["metadata"]["name"] for p in plane.pods() if p["status"]["phase"] == "Succeeded"))
    end(plane, "Succeeded")
    assert job(plane)["status"]["succeeded"] == 2


def cron_job(schedule: str = "* * * * *", **spec: Any) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "shop"},
        "spec": {
            "schedule": schedule,
            "jobTemplate": {"spec": {"template": template("tick", restartPolicy="Never")}},
            **spec,
        },
        "status": {},
    }


class Wall:
    """Replaces the wall's clock."""

    def __init__(self, plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
        self.moment = datetime(2030, 5, 5, 12, 0, 30, tzinfo=UTC)
        self._plane = plane
        monkeypatch.setattr(plane.clock, "now", lambda: self.moment)

    def strike(self, minute: int) -> None:
        """Go to the start of this minute after twelve."""
        at = self.moment.replace(minute=minute, second=0)
        passed = (at - self.moment).total_seconds()
        self.moment = at
        self._plane.advance(passed)


def test_each_minute_starts_a_job_named_after_it(plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall(plane, monkeypatch)
    plane.create(CRON_JOBS, cron_job())
    assert plane.names(JOBS) == []
    wall.strike(1)
    minute = int(datetime(2030, 5, 5, 12, 1, tzinfo=UTC).timestamp()) // 60
    assert plane.names(JOBS) == [f"tick-{minute}"]
    assert len(plane.pods()) == 1
    status = plane.get(CRON_JOBS, "tick")["status"]
    assert status["lastScheduleTime"] == "2030-05-05T12:01:00Z"
    assert [each["name"] for each in status["active"]] == plane.names(JOBS)


@pytest.mark.parametrize(("policy", "jobs"), [("Allow", 2), ("Forbid", 1), ("Replace", 1)])
def test_the_policy_decides_while_a_job_still_runs(
    plane: ControlPlane, monkeypatch: pytest.MonkeyPatch, policy: str, jobs: int
) -> None:
    wall = Wall(plane, monkeypatch)
    plane.create(CRON_JOBS, cron_job(concurrencyPolicy=policy))
    wall.strike(1)
    first = plane.names(JOBS)
    wall.strike(2)
    assert len(plane.names(JOBS)) == jobs
    assert (plane.names(JOBS) == first) == (policy == "Forbid")


def test_old_finished_jobs_are_removed(plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    wall = Wall(plane, monkeypatch)
    plane.create(CRON_JOBS, cron_job(successfulJobsHistoryLimit=2))
    for minute in range(1, 5):
        wall.strike(minute)
        end(plane, "Succeeded")
    assert len(plane.names(JOBS)) == 2
    assert plane.get(CRON_JOBS, "tick")["status"]["lastSuccessfulTime"]


@pytest.mark.parametrize(
    ("schedule", "following"),
    [
        ("* * * * *", "2030-05-05 12:31"),
        ("*/20 * * * *", "2030-05-05 12:40"),
        ("15 3 * * *", "2030-05-06 03:15"),
        ("0 0 1 jan *", "2031-01-01 00:00"),
        ("0 9-17/4 * * mon-fri", "2030-05-06 09:00"),
        ("0 0 13 * fri", "2030-05-10 00:00"),
        ("5,35 12 * * 7", "2030-05-05 12:35"),
        ("@hourly", "2030-05-05 13:00"),
        ("0 0 29 2 *", "2032-02-29 00:00"),
    ],
)
def test_schedules(schedule: str, following: str) -> None:
    sunday = datetime(2030, 5, 5, 12, 30, 10)
    assert Schedule.parse(schedule).after(sunday) == datetime.fromisoformat(following)


@pytest.mark.parametrize("wrong", ["", "* * * *", "60 * * * *", "* * * * mond", "*/0 * * * *", "5-1 * * * *"])
def test_what_is_no_schedule(wrong: str) -> None:
    with pytest.raises(ValueError):
        Schedule.parse(wrong)
