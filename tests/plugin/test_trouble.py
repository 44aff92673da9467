"""What is not the remediator's doing: workers that die, clusters that fail, runs that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Folder = Callable[..., pytest.Pytester]
CPU = "- {system: simple-micro, fault: cpu-stress, target: hello-service}"
POD = "- {system: simple-micro, fault: pod-fail, target: time-service}"


def remediator(folder: pytest.Pytester, body: str) -> None:
    folder.makeconftest(
        f"""
        import os, signal, time, pathlib

        class Mine:
            uses_model = False

            def remediate(self, incident):
                {body}
                return "- hosts: localhost\\n  gather_facts: false\\n  tasks: [{{debug: {{}}}}]"

        def pytest_microremed_register(registry):
            registry.remediator("mine", Mine)
        """
    )


def records(folder: pytest.Pytester) -> dict[str, dict[str, object]]:
    lines = folder.path.joinpath("out.jsonl").read_text().splitlines()
    return {(r := json.loads(line))["case"]["fault"]: r for line in lines}


def test_a_worker_that_dies_loses_no_case(benchmark_folder: Folder) -> None:
    folder = benchmark_folder(CPU, POD)
    remediator(folder, "if incident.target == 'hello-service': os._exit(3)")
    result = folder.runpytest_subprocess("--remediator=mine", "-n", "1", "--microremed-results=out.jsonl")
    assert {fault: r["outcome"] for fault, r in records(folder).items()} == {
        "cpu-stress": "crashed",
        "pod-fail": "not recovered",
    }
    result.stdout.fnmatch_lines(["mine on embedded: 0 recovered, 1 not recovered, 0 not posed, 1 crashed of 2"])


def test_a_cluster_that_fails_in_the_trial_is_an_error_and_no_verdict(benchmark_folder: Folder) -> None:
    folder = benchmark_folder(CPU)
    folder.makeconftest(
        """
        import pytest

        class Mine:
            uses_model = False
            cluster = None

            def remediate(self, incident):
                Mine.cluster.close()
                return "- hosts: localhost\\n  gather_facts: false\\n  tasks: [{debug: {}}]"

        @pytest.fixture(autouse=True)
        def _keep(cluster):
            Mine.cluster = cluster

        def pytest_microremed_register(registry):
            registry.remediator("mine", Mine)
        """
    )
    result = folder.runpytest_subprocess("--remediator=mine", "--microremed-results=out.jsonl", "--junitxml=junit.xml")
    result.assert_outcomes(passed=0, failed=0, errors=1)
    assert records(folder)["cpu-stress"]["outcome"] == "not posed"
    text = folder.path.joinpath("junit.xml").read_text()
    assert 'errors="1"' in text
    assert 'failures="0"' in text
    assert "Traceback" not in result.stdout.str()


def test_a_killed_run_leaves_nothing_that_matters(benchmark_folder: Folder) -> None:
    folder = benchmark_folder(CPU)
    remediator(folder, "pathlib.Path('here').touch(); time.sleep(600)")
    temporary = folder.mkdir("tmp")
    environment = {**os.environ, "TMPDIR": str(temporary)}
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    with subprocess.Popen(
        [*command, "--remediator=mine"], cwd=folder.path, env=environment, stdout=subprocess.PIPE
    ) as run:
        watch(folder.path / "here", run)
        run.send_signal(signal.SIGKILL)
    assert list(temporary.glob("microremed-*"))
    again = subprocess.run([*command, "--remediator=oracle"], cwd=folder.path, env=environment, check=False)
    assert again.returncode == 0
    assert not list(temporary.glob("microremed-*"))


def watch(file: Path, run: subprocess.Popen[bytes]) -> None:
    """Until the file is there, or the run has ended without it."""
    while not file.exists():
        try:
            run.wait(0.05)
        except subprocess.TimeoutExpired:
            continue
        raise AssertionError((run.stdout.read() if run.stdout else b"").decode())
