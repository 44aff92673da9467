"""Hooks of pytest: each only forwards."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from pytest_microremed import collection, controller, errors, hookspecs, options
from pytest_microremed.case import Case
from pytest_microremed.fixtures import (  # noqa: F401 - pytest finds fixtures by their names in this module
    _microremed,
    _posed,
    _recorder,
    cluster,
    incident,
    remediator,
    session_key,
    trial,
)
from pytest_microremed.session import Session

MARKER = (
    "microremed(level, system, fault): a benchmark function; its `case` comes from the case lists (*.yaml) beside it. "
    "On each case the keywords tell its place: -m \"microremed(fault='disk-io')\""
)


def pytest_addoption(parser: pytest.Parser) -> None:
    options.add_options(parser)


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    pluginmanager.add_hookspecs(hookspecs)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", MARKER)
    try:
        session = Session(options.resolve(config))
        config.hook.pytest_microremed_register.call_historic(kwargs={"registry": session.registry})
    except errors.UsageError as error:
        raise pytest.UsageError(str(error)) from None
    session.folders = collection.folders_of(config)
    config.stash[session_key] = session
    if not is_worker(config):
        config.pluginmanager.register(controller.Controller(config, session), "microremed-controller")


def pytest_unconfigure(config: pytest.Config) -> None:
    if session_key in config.stash:
        config.stash[session_key].close()


def pytest_report_header(config: pytest.Config) -> list[str]:
    return config.stash[session_key].header()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    collection.parametrize(metafunc, metafunc.config.stash[session_key])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    collection.arrange(items)


def pytest_collection_finish(session: pytest.Session) -> None:
    if is_worker(session.config):  # an error raised here would be an INTERNALERROR of pytest-xdist
        return
    mine = session.config.stash[session_key]
    cases = [case for item in session.items if (case := collection.case_of(item))]
    if mine.trouble or (cases and not session.config.option.collectonly):
        refuse(session.config, cases)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """The controller of pytest-xdist does not collect: it reads the lists itself before workers start."""
    if config.stash[session_key].settings.remediator:
        refuse(config, [])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Now the controller knows the cases; none has begun."""
    names = [name for nodeid in ids if (name := collection.id_in(nodeid))]
    if names:
        known = node.config.stash[session_key].cases_by_id
        refuse(node.config, [known[name] for name in names if name in known])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    controller.word_failure(item, call, report)
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    return controller.status(report) if isinstance(report, pytest.TestReport) else None


def refuse(config: pytest.Config, cases: list[Case]) -> None:
    """One line and exit 4 for what the user got wrong."""
    try:
        collection.check_other_plugins(config)
        config.stash[session_key].check(cases)
    except errors.UsageError as error:
        raise pytest.UsageError(str(error)) from None


def is_worker(config: pytest.Config) -> bool:
    """Whether this is a pytest-xdist worker: it works, the controller checks and tells."""
    return hasattr(config, "workerinput")
