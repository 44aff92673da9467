"""The state of one pytest run (or one pytest-xdist worker): settings, registry, testbed, results."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_microremed.case import Case, load_folder
from pytest_microremed.clock import WallClock
from pytest_microremed.data import cases_dir
from pytest_microremed.errors import UsageError
from pytest_microremed.incident import ProbeResult, Remediator
from pytest_microremed.recorder import Recorder
from pytest_microremed.registry import Registry, RemediatorContext
from pytest_microremed.report.jsonl import JsonLines
from pytest_microremed.result import CaseResult
from pytest_microremed.settings import Settings
from pytest_microremed.stopwatch import Stopwatch
from pytest_microremed.workfolder import make_folder

if TYPE_CHECKING:
    from pytest_microremed.posing import Posed
    from pytest_microremed.testbed import Testbed
    from pytest_microremed.trial import Trial


class Session:
    """Made once per process in `pytest_configure`; everything dear is made on first use."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.registry = Registry()
        self.results: dict[str, CaseResult] = {}
        """Finished cases by id, on the controller only."""
        self.folders: list[Path] = []
        """Folders with case lists that the command line names."""
        self.trouble: UsageError | None = None
        """A mistake in a case list that collection came upon."""
        self._testbed: Testbed | None = None
        self._remediator: Remediator | None = None

    def check(self, selected: Sequence[Case]) -> None:
        """Find every mistake of the user's before anything is deployed; `selected` are the cases to run.

        Raises UsageError.
        """
        from pytest_microremed.faults.fault import known_faults, load_fault
        from pytest_microremed.systems.system import known_systems, load_system

        if self.trouble:
            raise self.trouble
        remediator = self.remediator
        for name in known_systems():
            load_system(name)
        for name in known_faults():
            load_fault(name)
        for folder in self.folders or [cases_dir()]:
            self.cases(folder)
        if hasattr(remediator, "check"):
            for case in selected:
                remediator.check(case, load_system(case.system).workload(case.target))
        if self.jsonl:
            self.jsonl.check()

    def cases(self, folder: Path) -> list[Case]:
        """The cases of the lists in a folder, each of them known to be possible.

        Raises UsageError with file, place and the known names where a system, fault, target or variant is unknown.
        """
        from pytest_microremed.faults.fault import load_fault
        from pytest_microremed.systems.system import load_system

        cases = load_folder(folder, full=self.settings.full)
        for case in cases:
            try:
                workload = load_system(case.system).workload(case.target)
                load_fault(case.fault).check_variant(workload, case.variant)
            except UsageError as error:
                raise UsageError(f"{folder / case.level}.yaml: [{case.number}]: {error}") from None
        return cases

    @property
    def remediator(self) -> Remediator:
        """The remediator of this run, made on first use."""
        if self._remediator is None:
            spec = self.settings.remediator
            if not spec:
                known = ", ".join(self.registry.names())
                raise UsageError(f"no remediator: pass --remediator with one of {known}, pkg.mod:attr or a playbook")
            context = RemediatorContext(model=self.settings.model, t_max=self.settings.t_max)
            self._remediator = self.registry.resolve(spec)(context)
            if self.settings.model and not getattr(self._remediator, "uses_model", True):
                raise UsageError(f"--model: the remediator {spec} uses no model; drop --model")
        return self._remediator

    @property
    def testbed(self) -> Testbed:
        """This worker's cluster, started on first use."""
        if self._testbed is None:
            from pytest_microremed.cluster.embedded import open_embedded
            from pytest_microremed.testbed import Testbed

            self._testbed = Testbed(open_embedded(self.folder))
        return self._testbed

    def recorder(self, case: Case, publish: Callable[[CaseResult], None]) -> Recorder:
        """The recorder of one case."""
        remediator = self.settings.remediator or ""
        return Recorder(case, remediator, self.settings.model, Stopwatch(WallClock()), publish)

    def trial(self, posed: Posed, recorder: Recorder) -> Trial:
        """The trial of a posed case, with an agent's box whose rights end at the case's namespace."""
        from pytest_microremed.cluster.credentials import issue_agent
        from pytest_microremed.playbook.runner import PlaybookRunner
        from pytest_microremed.trial import Trial

        if hasattr(self.remediator, "prepare"):
            self.remediator.prepare(posed.case, posed.workload)
        kubeconfig = issue_agent(posed.testbed.cluster, posed.namespace)
        return Trial(posed, PlaybookRunner(kubeconfig, self.folder), recorder, self.settings.t_max)

    def probe(self, posed: Posed, recorder: Recorder) -> Callable[[Sequence[str]], ProbeResult]:
        """The remediator's read-only look; its seconds are counted apart from thinking."""
        from pytest_microremed.cluster.credentials import issue_probe
        from pytest_microremed.playbook.probe import Probe

        probe = Probe(issue_probe(posed.testbed.cluster, posed.namespace), self.folder)

        def look(commands: Sequence[str]) -> ProbeResult:
            with recorder.stopwatch.phase("probe"):
                result = probe(commands)
            recorder.probes = probe.count
            return result

        return look

    def header(self) -> list[str]:
        """What this run is; nothing in runs that are not ours."""
        if not self.settings.remediator:
            return []
        about = [f"remediator {self.settings.describe('remediator')}"]
        if self.settings.model:
            about.append(f"model {self.settings.describe('model')}")
        from pytest_microremed.playbook.box import isolation

        hint = " (bubblewrap would give it: docs/box.md)" if isolation() == "none" else ""
        about += ["cluster embedded", f"playbook isolation {isolation()}{hint}"]
        return [f"microremed: {', '.join(about)}"]

    @cached_property
    def cases_by_id(self) -> dict[str, Case]:
        """The cases of the command line's folders, for the controller of pytest-xdist: it collects nothing itself."""
        folders = dict.fromkeys([*self.folders, cases_dir()])
        return {case.id: case for folder in reversed(folders) for case in load_folder(folder, full=True)}

    @cached_property
    def folder(self) -> Path:
        """A folder of this process, removed by `close`."""
        return make_folder()

    @cached_property
    def jsonl(self) -> JsonLines | None:
        return JsonLines(Path(self.settings.results)) if self.settings.results else None

    def close(self) -> None:
        """Stop what was started; safe to call more than once."""
        if self._remediator is not None and hasattr(self._remediator, "close"):
            self._remediator.close()
        self._remediator = None
        if self._testbed is not None:
            self._testbed.cluster.close()
            self._testbed = None
        if "folder" in self.__dict__:
            shutil.rmtree(self.folder, ignore_errors=True)
