"""Judges whether a text can be run as a playbook at all, without running anything of it."""

from __future__ import annotations

from typing import Any

import yaml

from pytest_microremed.errors import PlaybookError
from pytest_microremed.playbook.playbook import Playbook

SIZE_LIMIT = 1024 * 1024
"""Bytes. A playbook of a megabyte is no repair but a runaway answer."""

_TASK_LISTS = ("pre_tasks", "tasks", "post_tasks")
_IMPORTS = ("import_playbook", "ansible.builtin.import_playbook")
_ANSIBLE_TAGS = ("!vault", "!vault-encrypted", "!unsafe")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """A safe loader that takes Ansible's tags for what they tag."""


def _untagged(loader: Any, node: yaml.Node) -> Any:
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


for _tag in _ANSIBLE_TAGS:
    _Loader.add_constructor(_tag, _untagged)


def lint(playbook: Playbook) -> None:
    """Raise PlaybookError, with the reason in one sentence, if this is no list of plays with something to
    do."""
    plays = _plays(playbook.text)
    for number, play in enumerate(plays, 1):
        _check_play(number, play)
    if not any(_imported(play) or _has_work(play) for play in plays):
        raise PlaybookError("the playbook has neither tasks nor roles")


def gathers_facts(playbook: Playbook) -> bool:
    """Whether a play gathers facts at its start, as plays do that do not say otherwise."""
    try:
        plays = _plays(playbook.text)
    except PlaybookError:
        return False
    return any(isinstance(play, dict) and play.get("gather_facts", True) is not False for play in plays)


def _plays(text: str) -> list[Any]:
    if not text.strip():
        raise PlaybookError("the playbook is empty")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise PlaybookError(f"the playbook is no text: {error.reason} (character {error.start})") from None
    if size > SIZE_LIMIT:
        raise PlaybookError(f"the playbook has {size} bytes, more than the {SIZE_LIMIT} that are allowed")
    if any(line.startswith(("```", "~~~")) for line in text.splitlines()):
        raise PlaybookError("the playbook is wrapped in a Markdown code fence; only YAML is taken")
    documents = _documents(text)
    if len(documents) > 1:
        raise PlaybookError(f"the playbook has {len(documents)} YAML documents (separated by ---), not one")
    if not documents or documents == [None]:
        raise PlaybookError("the playbook is empty but for comments")
    plays = documents[0]
    if not isinstance(plays, list):
        raise PlaybookError(f"the playbook is {_kind(plays)}, not a list of plays")
    if not plays:
        raise PlaybookError("the playbook is an empty list of plays")
    return plays


def _documents(text: str) -> list[Any]:
    try:
        return list(yaml.load_all(text, _Loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise PlaybookError(f"the playbook is no YAML: {error.problem or error.context}{place}") from None
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n") + 1, error.position - before.rfind("\n")
        what = f"control character (line {line}, column {column})"
        raise PlaybookError(f"the playbook is no YAML: {what}") from None
    except (RecursionError, ValueError, TypeError) as error:
        # Nesting without end, a date such as 2024-13-45, an unhashable key: not all of them are YAMLErrors.
        raise PlaybookError(f"the playbook is no YAML: {' '.join(str(error).split())}") from None


def _check_play(number: int, play: Any) -> None:
    if not isinstance(play, dict):
        raise PlaybookError(f"play {number} is {_kind(play)}, not a mapping with hosts and tasks")
    if _imported(play):
        return
    if not play.get("hosts"):
        raise PlaybookError(f"play {number} names no hosts")
    for name in (*_TASK_LISTS, "handlers", "roles"):
        if play.get(name) is not None and not isinstance(play[name], list):
            raise PlaybookError(f"{name} of play {number} is {_kind(play[name])}, not a list")


def _imported(play: dict[Any, Any]) -> bool:
    return any(name in play for name in _IMPORTS)


def _has_work(play: dict[Any, Any]) -> bool:
    return any(play.get(name) for name in (*_TASK_LISTS, "roles"))


def _kind(value: Any) -> str:
    kinds = {dict: "a mapping", list: "a list", str: "a text", type(None): "nothing"}
    return kinds.get(type(value), f"the value {value!r}")
