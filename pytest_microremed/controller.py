"""The controller's part: it gathers results from reports, with or without pytest-xdist, and tells of them."""

from __future__ import annotations

import pytest

from pytest_microremed.case import Case
from pytest_microremed.collection import case_of, id_in
from pytest_microremed.errors import MicroremedError
from pytest_microremed.report.properties import case_id, read
from pytest_microremed.report.terminal import lines
from pytest_microremed.result import CaseResult, Outcome
from pytest_microremed.session import Session

CRASHED = "the pytest-xdist worker that ran it died"


class Controller:
    """Registered in the process that reports: the only one, or pytest-xdist's controller."""

    def __init__(self, config: pytest.Config, session: Session) -> None:
        self._config = config
        self._session = session
        self._pending: dict[str, CaseResult] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the result that a report carries; the one after teardown is the last (reports of workers interleave)."""
        if str(report.when) == "???":  # pytest-xdist's own report of a test whose worker died
            self._crashed(report.nodeid)
            return
        result = read(report.user_properties)
        if result is None and report.failed:
            result = self._without_verdict(case_id(report.user_properties), "not posed", _last_line(report))
        if result is not None:
            self._pending[report.nodeid] = result
        if report.when == "teardown" and report.nodeid in self._pending:
            self._finish(report.nodeid)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for nodeid in list(self._pending):
            self._finish(nodeid)
        results = list(self._session.results.values())
        if results:
            terminalreporter.section("microremed")
            for line in lines(results):
                terminalreporter.write_line(line)

    def _crashed(self, nodeid: str) -> None:
        """A verdict that had arrived stands; a case without one has crashed."""
        if nodeid not in self._pending:
            result = self._without_verdict(id_in(nodeid), "crashed", CRASHED)
            if result is None:
                return
            self._pending[nodeid] = result
        self._finish(nodeid)

    def _without_verdict(self, name: str | None, outcome: Outcome, reason: str) -> CaseResult | None:
        """A record for a case that could not make its own: no case is dropped silently."""
        case = self._session.cases_by_id.get(name or "")
        return self._session.recorder(case, lambda _: None).record(outcome, reason) if case else None

    def _finish(self, nodeid: str) -> None:
        result = self._pending.pop(nodeid)
        self._session.results[result.case["id"]] = result
        if self._session.jsonl:
            self._session.jsonl.write(result)
        case = Case.from_json(result.case)
        self._config.hook.pytest_microremed_result(config=self._config, case=case, result=result)


def word_failure(item: pytest.Item, call: pytest.CallInfo[None], report: pytest.TestReport) -> None:
    """Say in a few lines why a case is no pass, instead of by a traceback through the harness.

    Without a verdict there is no failed repair: trouble in the call is an ERROR as in setup (JUnit `<error>`).
    """
    if case_of(item) is None or call.excinfo is None:
        return
    error = call.excinfo.value
    if isinstance(error, MicroremedError):
        report.longrepr = f"{type(error).__name__}: {error}"
    result = read(item.user_properties)
    if report.when == "call" and (result is None or result.outcome == "not posed"):
        report.when = "setup"
    elif result is not None and str(error).splitlines()[:1] == result.explain().splitlines()[:1]:
        report.longrepr = result.explain()
        for number, attempt in enumerate(result.attempts, 1):
            report.sections += [
                (f"playbook of attempt {number}", attempt.playbook or "none"),
                (f"output of attempt {number}", attempt.output or "none"),
            ]


def status(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """The words of a case's outcome; the categories stay pytest's, so its closing line and CI read as ever."""
    if case_id(report.user_properties) is None:
        return None
    result = read(report.user_properties)
    if result is None or report.when == "teardown":
        return None
    tries = f"{len(result.attempts)} attempt{'s' if len(result.attempts) != 1 else ''}"
    if report.when == "call" and report.passed:
        return "passed", ".", f"RECOVERED ({tries}, {result.latency or 0:.1f} s)"
    if report.when == "call" and report.failed and result.outcome == "not recovered":
        return "failed", "F", f"NOT RECOVERED ({tries})"
    if report.failed and result.outcome == "not posed":
        return "error", "E", "NOT POSED"
    return None


def _last_line(report: pytest.TestReport) -> str:
    return (report.longreprtext.strip() or "no reason given").splitlines()[-1]
