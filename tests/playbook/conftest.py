"""Runners with a kubeconfig that leads nowhere: most of what a box promises needs no cluster."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.playbook.runner import PlaybookRunner, Run

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: nowhere, cluster: {server: 'http://127.0.0.1:9'}}]
users: [{name: agent, user: {token: not-a-real-token}}]
contexts: [{name: nowhere, context: {cluster: nowhere, user: agent, namespace: shop}}]
current-context: nowhere
"""


@pytest.fixture
def runner(tmp_path: Path) -> PlaybookRunner:
    return PlaybookRunner(KUBECONFIG, tmp_path)


@pytest.fixture
def run(runner: PlaybookRunner) -> Callable[[str], Run]:
    return lambda text: runner.run(Playbook(text))
