"""Texts that are no playbook are refused with one clear sentence, and nothing of them is run."""

from __future__ import annotations

import pytest

from pytest_microremed.errors import PlaybookError
from pytest_microremed.playbook.lint import SIZE_LIMIT, gathers_facts, lint
from pytest_microremed.playbook.playbook import Playbook

TASKS = "tasks: [{debug: {msg: hello}}]"
LARGE = "# " + "x" * SIZE_LIMIT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "is empty"),
        (" \n\t\n", "is empty"),
        ("# only a comment\n", "is empty but for comments"),
        ("---\n", "is empty but for comments"),
        ("- hosts: [a\n  tasks:", "is no YAML: .*line 2, column 8"),
        ("- hosts: a\n\ttasks: 1", "is no YAML: .*line 2, column 1"),
        ("- hosts: {{ target }}\n", "is no YAML: .*line 1, column 11"),
        ("- hosts: a\n  vars: {day: 2024-13-45}", "is no YAML: month must be in 1..12"),
        ("- hosts: a\n  vars: {a: !ruby x}", "is no YAML: .*!ruby.*line 2"),
        ("- hosts: a\n  name: b\x07ell", r"is no YAML: control character \(line 2, column 10\)"),
        ("[" * 100_000, "is no YAML: "),
        ("\ud800", "is no text"),
        ("```yaml\n- hosts: a\n```\n", "Markdown"),
        (f"Here you are:\n\n```\n- hosts: a\n  {TASKS}\n```\n", "Markdown"),
        (f"- hosts: a\n  {TASKS}\n---\n- hosts: b\n", "2 YAML documents"),
        ("hosts: a\ntasks: []", "is a mapping, not a list of plays"),
        ("I cannot help with that.", "is a text, not a list of plays"),
        ("42", "is the value 42, not a list of plays"),
        ("[]", "is an empty list"),
        ("- just a text", "play 1 is a text"),
        (f"- hosts: a\n  {TASKS}\n- 7", "play 2 is the value 7"),
        (f"- {TASKS}", "play 1 names no hosts"),
        (f"- hosts:\n  {TASKS}", "play 1 names no hosts"),
        ("- hosts: a\n  tasks: {debug: {}}", "tasks of play 1 is a mapping, not a list"),
        ("- hosts: a\n  roles: web", "roles of play 1 is a text, not a list"),
        ("- hosts: a\n  tasks: []\n  handlers: [{debug: {}}]", "neither tasks nor roles"),
        (LARGE, f"more than the {SIZE_LIMIT} that are allowed"),
    ],
)
def test_refused(text: str, reason: str) -> None:
    with pytest.raises(PlaybookError, match=reason) as caught:
        lint(Playbook(text))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        f"- hosts: a\n  {TASKS}",
        f"---\n- hosts: a\n  {TASKS}\n...\n",
        f"- hosts: a\n- hosts: b\n  {TASKS}",
        "- hosts: a\n  roles: [web]",
        "- hosts: a\n  pre_tasks: [{debug: {}}]",
        "- import_playbook: other.yml",
        "- ansible.builtin.import_playbook: other.yml",
        f"- hosts: a\n  vars: {{x: !unsafe '{{{{ y', z: !vault 'abc'}}\n  {TASKS}",
        f"- hosts: a\n  vars: {{x: !unsafe [a], y: !unsafe {{b: c}}}}\n  {TASKS}",
        f"- hosts: a\n  vars:\n    x: &x [1]\n    y: *x\n  {TASKS}",
        "- hosts: a\n  tasks:\n    - copy:\n        content: |\n          ```\n          code\n",
        f"- hosts: café ☸\n  {TASKS}",
    ],
)
def test_taken(text: str) -> None:
    lint(Playbook(text))


@pytest.mark.parametrize(
    ("line", "gathers"),
    [("", True), ("gather_facts: true", True), ("gather_facts: false", False), ("gather_facts: no", False)],
)
def test_plays_gather_facts_unless_they_say_no(line: str, gathers: bool) -> None:
    assert gathers_facts(Playbook(f"- hosts: a\n  {TASKS}\n  {line}\n")) is gathers


def test_what_is_no_playbook_gathers_nothing() -> None:
    assert not gathers_facts(Playbook("- [hosts"))
