"""A run of the benchmark from end to end: outcomes, words, reports; alone and with pytest-xdist."""

from __future__ import annotations

import json
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

Folder = Callable[..., pytest.Pytester]
CPU = "- {system: simple-micro, fault: cpu-stress, target: hello-service}"
POD = "- {system: simple-micro, fault: pod-fail, target: time-service}"


@pytest.mark.parametrize("workers", [("-p", "no:xdist"), ("-n", "2")], ids=["alone", "xdist"])
def test_the_oracle_recovers(benchmark_folder: Folder, workers: tuple[str, ...]) -> None:
    folder = benchmark_folder(CPU, POD)
    result = folder.runpytest_subprocess(
        "--remediator=oracle", "-v", "--junitxml=junit.xml", "--microremed-results=out.jsonl", *workers
    )
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "microremed: remediator oracle (from option), *",
            "*= microremed =*",
            "oracle on embedded: 2 recovered, 0 not recovered, 0 not posed of 2",
            "level easy *2 *2 *2 *100.0 *",
            "system simple-micro *",
            "fault cpu-stress *1 *1 *1 *",
            "fault pod-fail *1 *1 *1 *",
        ]
    )
    assert "RECOVERED (1 attempt" in result.stdout.str()
    records = [json.loads(line) for line in folder.path.joinpath("out.jsonl").read_text().splitlines()]
    assert {r["case"]["id"] for r in records} == {
        "easy-001-simple-micro-cpu-stress-hello-service",
        "easy-002-simple-micro-pod-fail-time-service",
    }
    for record in records:
        assert record["schema"] == 1
        assert record["outcome"] == "recovered"
        assert set(record["seconds"]) == {"deploy", "inject", "think", "execute", "verify", "restore"}
        assert record["attempts"][0]["exit_code"] == 0
        assert record["tokens"] is None
    properties = [
        {p.get("name"): p.get("value") for p in case.iter("property")}
        for case in ElementTree.parse(folder.path / "junit.xml").iter("testcase")
    ]
    assert [p["microremed.outcome"] for p in properties] == ["recovered", "recovered"]
    assert {json.loads(p["microremed"] or "")["case"]["id"] for p in properties} == {r["case"]["id"] for r in records}


def test_noop_recovers_nothing(benchmark_folder: Folder) -> None:
    folder = benchmark_folder(CPU, POD)
    result = folder.runpytest_subprocess("--remediator=noop", "-v", "--junitxml=junit.xml")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "*NOT RECOVERED (1 attempt)*",
            "easy-001-simple-micro-cpu-stress-hello-service: not recovered",
            "  attempt 1 of 1: the fault is still there: *",
            "*playbook of attempt 1*",
            "*output of attempt 1*",
            "noop on embedded: 0 recovered, 2 not recovered*",
        ]
    )
    assert "def test_mine" not in result.stdout.str()
    suite = next(ElementTree.parse(folder.path / "junit.xml").iter("testsuite"))
    assert (suite.get("failures"), suite.get("errors")) == ("2", "0")


def test_what_is_no_playbook_is_a_failed_attempt_with_the_reason(benchmark_folder: Folder) -> None:
    folder = benchmark_folder(CPU)
    for name, text in {
        "empty.yml": "",
        "broken.yml": "- hosts: [",
        "nobody.yml": "- hosts: elsewhere\n  tasks: [{debug: {}}]",
    }.items():
        folder.path.joinpath(name).write_text(text)
        result = folder.runpytest_subprocess(f"--remediator={folder.path / name}", f"--microremed-results={name}.jsonl")
        result.assert_outcomes(failed=1)
        record = json.loads(folder.path.joinpath(f"{name}.jsonl").read_text())
        (attempt,) = record["attempts"]
        assert (attempt["ran"], attempt["recovered"], record["outcome"]) == (False, False, "not recovered")
        assert attempt["reason"]
        assert "Traceback" not in result.stdout.str()


def test_a_remediator_of_ones_own_gets_feedback(benchmark_folder: Folder) -> None:
    folder = benchmark_folder(CPU)
    folder.makeconftest(
        """
        class Slow:
            uses_model = False

            def remediate(self, incident, feedback=None):
                assert incident.target == "hello-service"
                assert "chaos" not in (incident.report + incident.context).lower()
                if feedback is None:
                    return "- hosts: localhost\\n  gather_facts: false\\n  tasks: [{debug: {msg: no idea yet}}]"
                assert "no idea yet" in feedback.output and feedback.recovered is False and feedback.attempt == 1
                command = (
                    f"kubectl -n {incident.namespace} exec deploy/{incident.target} -c {incident.target} -- "
                    "sh -c 'pkill stress-ng'"
                )
                return f"- hosts: localhost\\n  gather_facts: false\\n  tasks: [{{shell: \\"{command}\\"}}]"


        def pytest_microremed_register(registry):
            registry.remediator("slow", lambda context: Slow())


        def pytest_microremed_result(config, case, result):
            print(f"told of {case.id}: {result.outcome}")
        """
    )
    result = folder.runpytest_subprocess("--remediator=slow", "-v", "-s")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*RECOVERED (2 attempts*told of easy-001-*: recovered"])
    result = folder.runpytest_subprocess("--remediator=slow", "--microremed-t-max=0")
    result.assert_outcomes(failed=1)


def test_a_remediator_that_raises_has_failed(benchmark_folder: Folder) -> None:
    folder = benchmark_folder(CPU)
    folder.makeconftest(
        """
        class Broken:
            uses_model = False
            def remediate(self, incident):
                raise KeyError("oops")

        def pytest_microremed_register(registry):
            registry.remediator("broken", lambda context: Broken())
        """
    )
    result = folder.runpytest_subprocess("--remediator=broken")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*attempt 1 of 1: the remediator raised KeyError*oops*"])
