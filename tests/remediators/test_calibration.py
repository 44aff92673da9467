"""The remediators that need no model, and the playbooks that they answer with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from pytest_microremed.case import Case
from pytest_microremed.errors import UsageError
from pytest_microremed.faults.fault import known_faults
from pytest_microremed.incident import Incident, ProbeResult
from pytest_microremed.playbook.lint import gathers_facts, lint
from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.remediators.noop import Noop
from pytest_microremed.remediators.oracle import Oracle
from pytest_microremed.remediators.restart import Restart
from pytest_microremed.remediators.script import Script
from pytest_microremed.systems.system import Workload, load_system

PLAY = "- hosts: localhost\n  gather_facts: false\n  tasks:\n    - command: {}\n"
CASE = Case("hard", 17, "online-boutique", "network-loss", "cartservice")


def no_probe(commands: Sequence[str]) -> ProbeResult:
    raise AssertionError("these remediators do not look")


def incident(target: str = "cartservice", namespace: str = "shop") -> Incident:
    return Incident(namespace, target, "Network Loss", "report", "context", no_probe)


@pytest.fixture
def workload() -> Workload:
    return load_system("online-boutique").workload("cartservice")


@pytest.mark.parametrize("remediator", [Noop(), Restart()], ids=["noop", "restart"])
def test_noop_and_restart_need_nothing_but_the_incident(remediator: Noop | Restart) -> None:
    playbook = Playbook(remediator.remediate(incident()))
    lint(playbook)
    assert not gathers_facts(playbook)
    assert remediator.attempts == 1
    assert not remediator.uses_model


def test_noop_runs_no_command() -> None:
    (play,) = yaml.safe_load(Noop().remediate(incident()))
    assert [set(task) - {"name"} for task in play["tasks"]] == [{"ansible.builtin.debug"}]


def test_restart_names_the_target_and_its_namespace() -> None:
    text = Restart().remediate(incident("web", "store"))
    assert "metadata.name=web" in text
    assert "--namespace=store" in text


@pytest.mark.parametrize("fault", known_faults())
@pytest.mark.parametrize("target", ["cartservice", "redis-cart"])
def test_every_fault_has_a_reference_playbook(fault: str, target: str) -> None:
    oracle, workload = Oracle(), load_system("online-boutique").workload(target)
    case = Case("full", 1, "online-boutique", fault, target)
    oracle.check(case, workload)
    oracle.prepare(case, workload)
    playbook = Playbook(oracle.remediate(incident(target, "store")))
    lint(playbook)
    assert target in playbook.text
    assert "store" in playbook.text
    assert "online-boutique" not in playbook.text, "the namespace is the incident's"
    assert "<%" not in playbook.text


def answer(script: Script, workload: Workload, case: Case = CASE) -> str:
    script.check(case, workload)
    script.prepare(case, workload)
    return script.remediate(incident())


def test_a_file_serves_all_cases(tmp_path: Path, workload: Workload) -> None:
    file = tmp_path / "repair.yml"
    file.write_text(PLAY.format("'{{ a }} [[ -f x ]] {% raw %}'"))
    assert answer(Script(file), workload) == file.read_text(), "Ansible's braces and the shell's brackets stay"


def test_a_template_knows_the_case(tmp_path: Path, workload: Workload) -> None:
    file = tmp_path / "repair.yml"
    variables = [
        "namespace",
        "target",
        "kind",
        "container",
        "system",
        "fault",
        "variant",
        "workload.cpu_limit",
    ]
    file.write_text(
        "<%# why %>\n<% if kind == 'Deployment' %>\n" + " ".join(f"<%= {v} %>" for v in variables) + "\n<% endif %>\n"
    )
    values = [
        "shop",
        "cartservice",
        "Deployment",
        workload.container,
        CASE.system,
        CASE.fault,
        "None",
        workload.cpu_limit,
    ]
    assert answer(Script(file), workload) == " ".join(values) + "\n"


@pytest.mark.parametrize("suffix", [".yml", ".yml.j2"])
def test_in_a_folder_the_most_specific_file_counts(tmp_path: Path, workload: Workload, suffix: str) -> None:
    script = Script(tmp_path)
    for name in ("default", "network-loss", "online-boutique-network-loss", CASE.id):
        (tmp_path / f"{name}{suffix}").write_text(name)
        assert answer(script, workload) == name
    other = Case("hard", 1, "train-ticket", "pod-fail", "cartservice")
    assert answer(script, workload, other) == "default"


def test_a_folder_without_a_file_for_the_case_names_what_it_looked_for(tmp_path: Path, workload: Workload) -> None:
    (tmp_path / "pod-fail.yml").write_text(PLAY)
    with pytest.raises(UsageError) as caught:
        Script(tmp_path).check(CASE, workload)
    for name in (f"{CASE.id}.yml", "online-boutique-network-loss.yml", "network-loss.yml", "default.yml"):
        assert name in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n<%= tarjet %>", "'tarjet' is undefined; known: container, fault, kind, namespace"),
        ("a\n<% if %>", "line 2: "),
        ("<%= workload.colour %>", "has no attribute 'colour'"),
    ],
)
def test_a_broken_template_is_the_users_mistake(tmp_path: Path, workload: Workload, text: str, message: str) -> None:
    file = tmp_path / "repair.yml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        Script(file).check(CASE, workload)
    assert str(caught.value).startswith(f"{file}: ")
    assert message in str(caught.value)


def test_an_unreadable_file(tmp_path: Path, workload: Workload) -> None:
    file = tmp_path / "repair.yml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(UsageError, match="cannot be read"):
        Script(file).check(CASE, workload)


def test_a_file_that_is_changed_is_read_again(tmp_path: Path, workload: Workload) -> None:
    file = tmp_path / "repair.yml"
    script = Script(tmp_path / "repair.yml") if file.write_text("one") else None
    assert script is not None
    assert answer(script, workload) == "one"
    file.write_text("another")
    assert answer(script, workload) == "another"


def test_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such playbook file or folder"):
        Script(tmp_path / "nothing.yml")
