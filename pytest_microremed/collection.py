"""Collection of benchmark functions: their cases, their order, and what is refused before anything is deployed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from pytest_microremed.case import FULL, LEVELS, Case, to_params
from pytest_microremed.errors import UsageError
from pytest_microremed.report.properties import identify
from pytest_microremed.session import Session

MARKER = "microremed"
_CASE_ID = re.compile(r"\[((?:easy|medium|hard|full)-\d{3,}-[a-z0-9-]+)\]$")


def parametrize(metafunc: pytest.Metafunc, session: Session) -> None:
    """Give a function marked `microremed` the cases of the lists beside it, unless it brings its own."""
    marked = metafunc.definition.get_closest_marker(MARKER)
    if marked is None or "case" not in metafunc.fixturenames or _brings_cases(metafunc):
        return
    try:
        cases = session.cases(Path(metafunc.definition.path).parent)
    except UsageError as error:
        # Raised here it would be a collection error with a traceback; `refuse` turns it into one line and exit 4.
        session.trouble = error
        cases = []
    metafunc.parametrize("case", to_params(cases))


def arrange(items: list[pytest.Item]) -> None:
    """Put the cases of one system together, as deploying a system is dear; others' tests stay where they are."""
    places = [i for i, item in enumerate(items) if case_of(item)]
    ours = sorted((items[i] for i in places), key=lambda item: _case(item).system)
    for place, item in zip(places, ours, strict=True):
        items[place] = item
        identify(item.user_properties, _case(item).id)


def case_of(item: pytest.Item) -> Case | None:
    """The case of a benchmark item; None for anyone else's test."""
    callspec = getattr(item, "callspec", None)
    case = callspec.params.get("case") if callspec else None
    return case if isinstance(case, Case) else None


def folders_of(config: pytest.Config) -> list[Path]:
    """The folders with case lists among the paths of the command line: a pytest-xdist controller collects nothing."""
    paths = [config.invocation_params.dir / arg.split("::")[0] for arg in config.args]
    folders = dict.fromkeys(path if path.is_dir() else path.parent for path in paths)
    return [folder for folder in folders if any((folder / f"{level}.yaml").exists() for level in (*LEVELS, FULL))]


def check_other_plugins(config: pytest.Config) -> None:
    """Raises UsageError for options of other plugins under which verdicts would not mean what they say."""
    if config.getoption("dist", "no") == "each":
        raise UsageError("--dist=each: every worker would run every case; use --dist=load, or -n alone")
    if config.getoption("reruns", None):
        raise UsageError("--reruns: a case that is run again until it passes is no measurement; drop --reruns")
    method = config.getoption("timeout_method", None)
    if method == "thread" or (method is None and config.getini("timeout_method") == "thread"):
        raise UsageError(
            "--timeout-method=thread ends the process with the fault injected; use --timeout-method=signal"
        )


def id_in(nodeid: str) -> str | None:
    """The case id in a node id: all that a pytest-xdist controller knows of an item."""
    match = _CASE_ID.search(nodeid)
    return match[1] if match else None


def _case(item: pytest.Item) -> Case:
    case = case_of(item)
    assert case is not None
    return case


def _brings_cases(metafunc: pytest.Metafunc) -> bool:
    return any("case" in _argnames(mark) for mark in metafunc.definition.iter_markers("parametrize"))


def _argnames(mark: pytest.Mark) -> Sequence[str]:
    names = mark.args[0] if mark.args else mark.kwargs.get("argnames", ())
    return [n.strip() for n in names.split(",")] if isinstance(names, str) else names
