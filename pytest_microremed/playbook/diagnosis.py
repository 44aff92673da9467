"""Reads from ansible-playbook's output what became of the plays (callback plugin ansible.builtin.default)."""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass

_TASK = re.compile(r"^(?:TASK|RUNNING HANDLER) \[(?P<name>.*?)\] \**$")
_FAILURE = re.compile(r"^(?:fatal|failed): \[[^]]*\].*? => (?P<result>\{.*)$")
_RECAP = re.compile(r"^PLAY RECAP \**$")
_SUMS = re.compile(r"^\S+ +: (?P<sums>ok=\d+ .*)$")
_NO_HOST = "skipping: no hosts matched"
_PATTERN = re.compile(r"Could not match supplied host pattern, ignoring: (?P<pattern>.*)")
_ERROR = re.compile(r"^(?:\[ERROR\]|ERROR!?): (?P<message>.*)$")

_LINE_LIMIT = 300
"""Characters of a reason."""


@dataclass(frozen=True)
class Diagnosis:
    """Whether any play found a host, and one line on what failed or was done."""

    ran: bool
    reason: str


def diagnose(output: str, exit_code: int) -> Diagnosis:
    """What an ended run's output says."""
    lines = output.splitlines()
    sums = _sums(lines)
    unmatched = _unmatched(lines) if _NO_HOST in lines else ""
    if exit_code == 0 and unmatched and not sums:
        return Diagnosis(False, f"{unmatched}; the inventory has localhost, in the group k3s_control_plane")
    if exit_code == 0:
        done = ", ".join(f"{name} {count}" for name, count in sums.items() if count != "0")
        reason = f"the playbook ended well ({done})" if done else "the playbook ended well"
        return Diagnosis(True, f"{reason}, but {unmatched}" if unmatched else reason)
    if exit_code < 0:
        return Diagnosis(True, f"ansible-playbook was ended by signal {-exit_code}")
    what = _failed_task(lines) or _first_error(lines) or "no reason in the output"
    return Diagnosis(True, _one_line(f"exit code {exit_code}: {what}"))


def _sums(lines: list[str]) -> dict[str, str]:
    """The counts of the recap, which only hosts of a play are in; without one it is empty."""
    starts = [n for n, line in enumerate(lines) if _RECAP.match(line)]
    if not starts:
        return {}
    for line in lines[starts[-1] + 1 :]:
        if match := _SUMS.match(line):
            return dict(pair.split("=", 1) for pair in match["sums"].split())
    return {}


def _unmatched(lines: list[str]) -> str:
    patterns = sorted({match["pattern"] for line in lines if (match := _PATTERN.search(line))})
    return f"a play matched no host (hosts: {', '.join(patterns)})" if patterns else "a play matched no host"


def _failed_task(lines: list[str]) -> str | None:
    """Name and message of the last task that failed for good."""
    task, found = "", None
    for line, following in itertools.pairwise([*lines, ""]):
        if match := _TASK.match(line):
            task = match["name"]
        elif (match := _FAILURE.match(line)) and following.strip() != "...ignoring":
            found = f"task [{task}] failed: {_message(match['result'])}"
    return found


def _message(result: str) -> str:
    """The message of a task's result, and the first line of its standard error, which says more."""
    try:
        fields = json.loads(result)
    except ValueError:
        return result
    message = str(fields.get("msg") or fields.get("censored") or "no message")
    complaint = str(fields.get("stderr") or fields.get("module_stderr") or "").strip()
    if complaint and complaint not in message:
        message += f": {complaint.splitlines()[0]}"
    return message


def _first_error(lines: list[str]) -> str | None:
    return next((match["message"] for line in lines if (match := _ERROR.match(line))), None)


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LINE_LIMIT else line[: _LINE_LIMIT - 1] + "…"
