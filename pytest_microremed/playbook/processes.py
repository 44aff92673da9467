"""Ends programs together with all that they started.

A playbook may put processes into sessions of their own, where no signal to a process group reaches them
(Ansible itself does so with every task). The environment that a process was started with stays: a marker
variable there, read from /proc, finds them, and their descendants with them. Linux only: elsewhere nothing is
found.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

MARKER = "MICROREMED_BOX"
"""The variable whose value, unique to a box, marks its processes."""

_TERMINATION_S = 2.0
"""From SIGTERM to SIGKILL, and as long again for the kernel to carry the latter out."""
_POLL_S = 0.02


def end_processes(mark: str) -> None:
    """End every process marked with `mark` and its descendants: SIGTERM, after two seconds SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        told: set[int] = set()
        deadline = time.monotonic() + _TERMINATION_S
        while (pids := find_processes(mark)) and time.monotonic() < deadline:
            for pid in pids - told:
                _signal(pid, number)
            told |= pids
            time.sleep(_POLL_S)
        if not pids:
            return


def find_processes(mark: str) -> set[int]:
    """The living processes whose environment holds the mark, and the descendants of these."""
    wanted = f"{MARKER}={mark}".encode()
    pids = {int(path.name) for path in Path("/proc").glob("[0-9]*")}
    found = {pid for pid in pids if wanted in _read(pid, "environ").split(b"\0")}
    if not found:
        return found
    parents = {pid: _parent(pid) for pid in pids}
    while more := {pid for pid in pids - found if parents[pid] in found}:
        found |= more
    return found


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:  # it ended meanwhile, or is another user's
        return b""


def _parent(pid: int) -> int | None:
    """Field 4 of /proc/<pid>/stat (proc(5)); field 2, the command in parentheses, may hold anything."""
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    if len(fields) < 2 or fields[0] == b"Z":
        return None
    return int(fields[1])


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
