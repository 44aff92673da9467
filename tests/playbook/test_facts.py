"""Facts cost a process one gathering more at most, and are of the moment where that matters."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pytest_microremed.playbook import runner as runner_module
from pytest_microremed.playbook.facts import Facts
from pytest_microremed.playbook.runner import Run

PLAYBOOK = """\
- hosts: localhost
  tasks:
    - ansible.builtin.debug:
        msg: "on {{ ansible_facts.system }} at {{ ansible_date_time.epoch }} in {{ ansible_env.HOME }}"
"""


@pytest.fixture(autouse=True)
def first_of_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "_facts", Facts())


def test_the_second_playbook_that_gathers_finds_the_facts_there(run: Callable[[str], Run]) -> None:
    first, before, second = run(PLAYBOOK), int(time.time()), run(PLAYBOOK)
    assert "TASK [Gathering Facts]" in first.output
    assert second.exit_code == 0, second.output
    assert "TASK [Gathering Facts]" not in second.output
    words = second.output[second.output.index("on Linux at ") :].split('"')[0].split()
    assert int(words[3]) >= before
    assert words[5] == "/box/home"


def fill(facts: Facts, folder: Path, name: str, gather: Callable[[], Mapping[str, str]]) -> list[Path]:
    facts.fill(folder / name, {"HOME": f"/{name}"}, gather)
    return list((folder / name).iterdir())


def test_one_gathering_serves_all_from_the_second_on(tmp_path: Path) -> None:
    payload = json.dumps({"ansible_date_time": {"epoch": "0", "tz": "UTC"}, "ansible_env": {"HOME": "/gatherer"}})
    calls: list[str] = []

    def gather() -> Mapping[str, str]:
        calls.append("gather")
        return {"s1_localhost": json.dumps({"__payload__": payload})}

    facts = Facts()
    assert fill(facts, tmp_path, "first", gather) == []
    assert [p.name for p in fill(facts, tmp_path, "second", gather)] == ["s1_localhost"]
    (third,) = fill(facts, tmp_path, "third", gather)
    assert calls == ["gather"]
    content = json.loads(json.loads(third.read_text())["__payload__"])
    assert content["ansible_env"]["HOME"] == "/third"
    assert int(content["ansible_date_time"]["epoch"]) > 0
    assert content["ansible_date_time"]["tz"] == "UTC"


@pytest.mark.parametrize("text", ["no json", "[]", "{}", '{"__payload__": "{}"}', '{"__payload__": 1}'])
def test_a_cache_of_another_form_is_left_out(tmp_path: Path, text: str) -> None:
    facts = Facts()
    fill(facts, tmp_path, "first", dict)
    assert fill(facts, tmp_path, "second", lambda: {"localhost": text}) == []
