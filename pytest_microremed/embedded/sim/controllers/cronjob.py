"""CronJobs: a Job at each time of a schedule, by the wall's clock.

Source: Kubernetes documentation, "CronJob".
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pytest_microremed.embedded.api.resources import CRON_JOBS, JOBS
from pytest_microremed.embedded.api.store import Change, Object, timestamp
from pytest_microremed.embedded.api.strategy import prepare_create
from pytest_microremed.embedded.api.workload_defaults import default_job
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
from pytest_microremed.embedded.sim.controllers.ownership import controller_name, owned, owner_reference
from pytest_microremed.embedded.sim.controllers.status import conditions_of, write_status
from pytest_microremed.embedded.sim.cron import Schedule

_SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"


class CronJobController(Controller):
    component = "cronjob-controller"
    watches = (CRON_JOBS, JOBS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._next: dict[str, tuple[str, datetime]] = {}
        """By uid: the schedule and its next time."""

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is CRON_JOBS:
            if change.type == "DELETED":
                self._next.pop(change.obj["metadata"]["uid"], None)
            yield key_of(change.obj)
        elif name := controller_name(change.obj, "CronJob"):
            yield change.obj["metadata"]["namespace"], name

    def reconcile(self, namespace: str, name: str) -> None:
        cron_job = self.store.get(CRON_JOBS, namespace, name)
        if cron_job is None or "deletionTimestamp" in cron_job["metadata"]:
            return
        self._clean_up(cron_job)
        if not cron_job["spec"].get("suspend"):
            cron_job = self._run_if_due(cron_job)
        self._report(cron_job)

    def _run_if_due(self, cron_job: Object) -> Object:
        spec, uid, now = cron_job["spec"], cron_job["metadata"]["uid"], self.clock.now()
        try:
            zone = ZoneInfo(spec.get("timeZone") or "UTC")
            upcoming = Schedule.parse(spec["schedule"]).after(now.astimezone(zone))
        except (ValueError, ZoneInfoNotFoundError) as error:
            self.tell(cron_job, "Warning", "UnparseableSchedule", f"unparseable schedule: {error}")
            return cron_job
        known, due = self._next.get(uid, ("", now))
        if known == spec["schedule"] and due <= now:
            cron_job = self._run(cron_job, due)
        self._next[uid] = (spec["schedule"], upcoming)
        self.later((upcoming - now).total_seconds() * self.clock.speed, cron_job)  # the wall's seconds
        return cron_job

    def _run(self, cron_job: Object, due: datetime) -> Object:
        active = [job for job in owned(self.store, JOBS, cron_job) if not _is_finished(job)]
        policy = cron_job["spec"].get("concurrencyPolicy", "Allow")
        if active and policy == "Forbid":
            message = "Not starting job because prior execution is running and concurrency policy is Forbid"
            self.tell(cron_job, "Normal", "JobAlreadyActive", message)
            return cron_job
        if policy == "Replace":
            for job in active:
                self.store.delete(JOBS, job)
                self.tell(cron_job, "Normal", "SuccessfulDelete", f"Deleted job {job['metadata']['name']}")
        meta, template = cron_job["metadata"], cron_job["spec"]["jobTemplate"]
        name = f"{meta['name']}-{int(due.timestamp()) // 60}"
        if self.store.get(JOBS, meta["namespace"], name) is None:
            template_meta = template.get("metadata") or {}
            job_meta = {
                "name": name,
                "namespace": meta["namespace"],
                "uid": str(uuid.uuid4()),
                "labels": template_meta.get("labels") or {},
                "annotations": {**(template_meta.get("annotations") or {}), _SCHEDULED: timestamp(due)},
                "ownerReferences": [owner_reference(cron_job)],
            }
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": job_meta, "spec": template["spec"]}
            self.store.create(JOBS, prepare_create(self.store, JOBS, default_job(job)))
            self.tell(cron_job, "Normal", "SuccessfulCreate", f"Created job {name}")
        status = {**cron_job.get("status", {}), "lastScheduleTime": timestamp(due)}
        return write_status(self.store, CRON_JOBS, cron_job, status)

    def _clean_up(self, cron_job: Object) -> None:
        """Keep only the newest finished Jobs."""
        finished = [job for job in owned(self.store, JOBS, cron_job) if _is_finished(job)]
        finished.sort(key=lambda job: str(job["metadata"]["name"]))
        for outcome, limit in (
            ("Complete", cron_job["spec"].get("successfulJobsHistoryLimit", 3)),
            ("Failed", cron_job["spec"].get("failedJobsHistoryLimit", 1)),
        ):
            kept = [job for job in finished if _outcome(job) == outcome]
            for job in kept[: max(0, len(kept) - limit)]:
                self.store.delete(JOBS, job)

    def _report(self, cron_job: Object) -> None:
        jobs = owned(self.store, JOBS, cron_job)
        succeeded = [job["status"]["completionTime"] for job in jobs if _outcome(job) == "Complete"]
        status = {key: value for key, value in cron_job.get("status", {}).items() if key != "active"}
        references = [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "namespace": job["metadata"]["namespace"],
                "name": job["metadata"]["name"],
                "uid": job["metadata"]["uid"],
            }
            for job in jobs
            if not _is_finished(job)
        ]
        if references:
            status["active"] = references
        if succeeded:
            status["lastSuccessfulTime"] = max(succeeded)
        write_status(self.store, CRON_JOBS, cron_job, status)


def _outcome(job: Object) -> str | None:
    for each in conditions_of(job):
        if each["type"] in ("Complete", "Failed") and each["status"] == "True":
            return str(each["type"])
    return None


def _is_finished(job: Object) -> bool:
    return _outcome(job) is not None
