"""Answers with playbooks that someone wrote beforehand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pytest_microremed.errors import UsageError
from pytest_microremed.incident import Feedback, Incident
from pytest_microremed.remediators.template import render

if TYPE_CHECKING:
    from pytest_microremed.case import Case
    from pytest_microremed.systems.system import Workload

_SUFFIXES = (".yml", ".yml.j2")


class Script:
    """A playbook file for all cases, or a folder with a file for each.

    In a folder the first of `<case id>`, `<system>-<fault>`, `<fault>` and `default` counts that is there as
    `.yml` or `.yml.j2`. Each may be a template: see fixtures/playbooks/README.md.
    """

    uses_model = False
    attempts = 1

    def __init__(self, path: Path) -> None:
        """Raises UsageError if there is no such file or folder."""
        if not path.exists():
            raise UsageError(f"{path}: no such playbook file or folder")
        self._path = path
        self._prepared: tuple[Case, Workload] | None = None

    def check(self, case: Case, workload: Workload) -> None:
        """Raise UsageError if the case has no playbook, or a template which cannot be rendered."""
        self._playbook(case, workload, namespace=case.system)

    def prepare(self, case: Case, workload: Workload) -> None:
        """Be told which case comes next. For calibration only: an agent learns what its incident says."""
        self._prepared = case, workload

    def remediate(self, incident: Incident, feedback: Feedback | None = None) -> str:
        if self._prepared is None:
            raise RuntimeError("Script.prepare(case, workload) was not called before remediate")
        return self._playbook(*self._prepared, incident.namespace)

    def _playbook(self, case: Case, workload: Workload, namespace: str) -> str:
        return render(
            self._file(case),
            namespace=namespace,
            target=workload.name,
            kind=workload.kind,
            container=workload.container,
            workload=workload,
            system=case.system,
            fault=case.fault,
            variant=case.variant,
        )

    def _file(self, case: Case) -> Path:
        if not self._path.is_dir():
            return self._path
        names = (case.id, f"{case.system}-{case.fault}", case.fault, "default")
        for name in names:
            for suffix in _SUFFIXES:
                if (file := self._path / f"{name}{suffix}").is_file():
                    return file
        wanted = ", ".join(f"{name}.yml" for name in names)
        raise UsageError(f"{self._path}: no playbook for {case.id}: none of {wanted} (or .yml.j2) is there")
