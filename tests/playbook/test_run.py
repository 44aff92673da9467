"""What came of a run, and that nothing of it stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Timer

import pytest

from pytest_microremed.errors import InfrastructureError
from pytest_microremed.playbook import runner as runner_module
from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.playbook.runner import OUTPUT_LIMIT, PlaybookRunner, Run
from tests.playbook.nowhere import KUBECONFIG
from tests.playbook.processes import runs, unique_seconds, wait_until


def play(task: str, hosts: str = "localhost") -> str:
    return f"- hosts: {hosts}\n  gather_facts: false\n  tasks:\n    - name: The task\n      {task}\n"


def test_a_failed_task_is_named_with_its_message_however_much_it_printed(run: Callable[[str], Run]) -> None:
    result = run(play("ansible.builtin.shell: seq 1000000 1020000; echo no such workload >&2; exit 3"))
    assert (result.ran, result.exit_code, result.timed_out) == (True, 2, False)
    assert result.reason == "exit code 2: task [The task] failed: non-zero return code: no such workload"
    assert result.seconds > 0
    assert OUTPUT_LIMIT < len(result.output) < OUTPUT_LIMIT + 100
    assert result.output.lstrip().startswith("PLAY [localhost]")
    assert "characters cut …]" in result.output
    assert "PLAY RECAP" in result.output


def test_a_play_that_matches_no_host_is_a_failed_attempt(run: Callable[[str], Run]) -> None:
    result = run(play("ansible.builtin.debug: {msg: hello}", hosts="k8s_master"))
    assert not result.ran
    assert result.exit_code == 0
    assert "matched no host (hosts: k8s_master)" in result.reason
    assert "k3s_control_plane" in result.reason


def test_what_ansible_refuses_is_told_in_its_words(run: Callable[[str], Run]) -> None:
    result = run(play("no_such.collection.module: {}"))
    assert result.ran
    assert result.exit_code == 4
    assert "couldn't resolve module/action 'no_such.collection.module'" in result.reason
    assert "\n" not in result.reason


def test_two_runs_at_once_know_nothing_of_each_other(runner: PlaybookRunner) -> None:
    texts = [
        play(f"ansible.builtin.shell: echo {word} > ~/file; sleep 0.2; cat ~/file; exit 1")
        for word in ("scarlet", "azure")
    ]
    with ThreadPoolExecutor() as threads:
        scarlet, azure = threads.map(lambda text: runner.run(Playbook(text)), texts)
    assert '"stdout": "scarlet"' in scarlet.output
    assert '"stdout": "azure"' in azure.output


@pytest.mark.usefixtures("without_isolation")
def test_a_daemon_does_not_outlive_the_run(run: Callable[[str], Run]) -> None:
    seconds = unique_seconds()
    daemon = f"setsid nohup sleep {seconds} >/dev/null 2>&1 &"
    watch = f"until pgrep -f {seconds[:-1]}[{seconds[-1]}] >/dev/null; do sleep 0.02; done"
    result = run(play(f"ansible.builtin.shell: {daemon} {watch}; echo it started; exit 1"))
    assert '"stdout": "it started"' in result.output
    assert not runs(seconds)


def test_a_run_ends_at_its_time_limit(tmp_path: Path) -> None:
    result = PlaybookRunner(KUBECONFIG, tmp_path, timeout_s=0.5).run(
        Playbook(play("ansible.builtin.command: sleep 1000"))
    )
    assert result.timed_out
    assert result.ran
    assert result.exit_code is None
    assert result.reason == "ended at its time limit of 0.5 s"
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("without_isolation")
def test_what_ends_at_the_time_limit_ends_with_its_children(
    runner: PlaybookRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    timers: list[Timer] = []

    def timer(seconds: float, function: Callable[[], None]) -> Timer:
        timers.append(Timer(3600, function))
        return timers[-1]

    monkeypatch.setattr(runner_module, "Timer", timer)
    child, orphan = unique_seconds(), unique_seconds()
    ignoring = f"trap '' TERM; (trap '' TERM; exec env -i setsid sleep {orphan}) & sleep {child}; sleep {child}"
    with ThreadPoolExecutor() as threads:
        running = threads.submit(runner.run, Playbook(play(f'ansible.builtin.shell: "{ignoring}"')))
        wait_until("the playbook's commands run", lambda: running.done() or (runs(child) and runs(orphan)))
        assert not running.done(), running.result().output
        timers[0].function()
        result = running.result()
    assert result.timed_out
    assert "TASK [The task]" in result.output, "the output so far is kept"
    assert not runs(child)
    assert not runs(orphan)


def test_an_interrupt_ends_the_playbook(tmp_path: Path) -> None:
    seconds = unique_seconds()
    text = play(f"ansible.builtin.command: sleep {seconds}")
    program = f"""\
from pathlib import Path
from threading import Timer
from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.playbook.runner import PlaybookRunner
PlaybookRunner({KUBECONFIG!r}, Path({str(tmp_path)!r})).run(Playbook({text!r}))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stderr=subprocess.PIPE, text=True
    ) as process:
        wait_until("the playbook's command runs", lambda: process.poll() is not None or runs(seconds))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert not runs(seconds)
    assert not list(tmp_path.iterdir())


def test_ansible_that_cannot_be_started_is_no_failed_repair(
    run: Callable[[str], Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pytest_microremed.playbook.box.Box.wrap", lambda box, command: ["/no/such/program"])
    with pytest.raises(InfrastructureError, match="could not be started"):
        run(play("ansible.builtin.debug: {msg: hello}"))
