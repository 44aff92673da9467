"""The fixtures of a benchmark function: setup poses the case, the call is the trial, teardown restores the system."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from pytest_microremed.case import Case
from pytest_microremed.errors import MicroremedError
from pytest_microremed.incident import Incident, Remediator
from pytest_microremed.report.properties import publish
from pytest_microremed.session import Session

if TYPE_CHECKING:
    from pytest_microremed.cluster.cluster import Cluster
    from pytest_microremed.posing import Posed
    from pytest_microremed.recorder import Recorder
    from pytest_microremed.trial import Trial


session_key = pytest.StashKey[Session]()


@pytest.fixture(scope="session")
def _microremed(pytestconfig: pytest.Config) -> Session:
    return pytestconfig.stash[session_key]


@pytest.fixture(scope="session")
def cluster(_microremed: Session) -> Cluster:
    """The cluster that this worker runs its cases on."""
    return _microremed.testbed.cluster


@pytest.fixture
def remediator(_microremed: Session) -> Remediator:
    """The remediator chosen with --remediator."""
    return _microremed.remediator


@pytest.fixture
def _recorder(request: pytest.FixtureRequest, case: Case, _microremed: Session) -> Recorder:
    return _microremed.recorder(case, lambda result: publish(request.node.user_properties, result))


@pytest.fixture
def _posed(
    request: pytest.FixtureRequest,
    case: Case,
    remediator: Remediator,
    _microremed: Session,
    _recorder: Recorder,
) -> Iterator[Posed]:
    from pytest_microremed.posing import dismantle, pose

    try:
        posed = pose(_microremed.testbed, case, _recorder)
    except MicroremedError as error:
        _recorder.record("not posed", str(error))
        pytest.fail(f"{case.id}: not posed: {error}", pytrace=False)
    yield posed
    trouble = dismantle(posed, _recorder.stopwatch)
    _recorder.finish()
    if trouble:
        # A warning, not an error: the case has its verdict, and the next one begins with a reset.
        request.node.warn(pytest.PytestWarning(trouble))


@pytest.fixture
def incident(_posed: Posed, _recorder: Recorder, _microremed: Session) -> Incident:
    """What the remediator is told: the fault is injected and confirmed by now."""
    from pytest_microremed.briefing import brief

    return brief(_posed, _microremed.probe(_posed, _recorder))


@pytest.fixture
def trial(_posed: Posed, _recorder: Recorder, _microremed: Session) -> Trial:
    """The loop of this case; `trial.run(incident, remediator)` gives its result, which also goes to the reports."""
    return _microremed.trial(_posed, _recorder)
