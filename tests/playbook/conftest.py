"""Runners with a kubeconfig that leads nowhere: most of what a box promises needs no cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.playbook.runner import PlaybookRunner, Run
from tests.playbook.nowhere import KUBECONFIG


@pytest.fixture
def runner(tmp_path: Path) -> PlaybookRunner:
    return PlaybookRunner(KUBECONFIG, tmp_path)


@pytest.fixture
def run(runner: PlaybookRunner) -> Callable[[str], Run]:
    return lambda text: runner.run(Playbook(text))


@pytest.fixture
def without_isolation(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a process namespace would do, the box itself must do."""
    monkeypatch.setattr("pytest_microremed.playbook.box.isolation", lambda: "none")
