"""Playbooks that would fool a check of one symptom are refused, for the right reason; see cheats/README.md.

They are plain commands, and run here without Ansible, which would take most of the time.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.checks.live import Bench

PLAYBOOKS = sorted(Path(__file__).parent.glob("cheats/*.yml"))
COMMAND = "ansible.builtin.command"
SETTLE_S = 20.0
"""Enough for a pod to come and go; whoever is refused then is refused for good."""


def commands(play: dict[str, Any]) -> Iterator[tuple[list[str], bool]]:
    """The command of each task, and whether it may fail."""
    for task in play["tasks"]:
        body = task[COMMAND]
        argv = shlex.split(body) if isinstance(body, str) else body["argv"]
        yield argv, task.get("ignore_errors", False)


@pytest.mark.parametrize("path", PLAYBOOKS, ids=lambda path: path.stem)
def test_a_cheat_is_refused(bench_of: Callable[[str], Bench], path: Path) -> None:
    (play,) = yaml.safe_load(path.read_text(encoding="utf-8"))
    about = play["vars"]
    bench = bench_of("simple-micro")
    with bench.posed("hello-service", about["fault"], about.get("variant")) as posed:
        for argv, may_fail in commands(play):
            bench.command(argv, may_fail=may_fail)
        verdict = posed.judge(SETTLE_S)
    assert not verdict.recovered
    assert about["refused"] in verdict.reason


def test_restarting_the_sidecar_alone_does_not_bring_a_disk_back(bench_of: Callable[[str], Bench]) -> None:
    """Where the main container has no shell, the disk is measured in the sidecar."""
    bench = bench_of("online-boutique")
    with bench.posed("shippingservice", "disk-io") as posed:
        bench.command(
            shlex.split("kubectl -n online-boutique exec deployment/shippingservice -c probe -- kill 1"),
            may_fail=True,  # the command dies with the container
        )
        verdict = posed.judge(SETTLE_S)
        assert not verdict.recovered
        assert "only its container probe was restarted" in verdict.reason
        bench.kubectl("rollout", "restart", "deployment/shippingservice")
        assert posed.judge().recovered
