"""Watches processes of a box from outside, whatever process namespace they are in."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable
from pathlib import Path

_counter = itertools.count()
LIMIT_S = 60.0


def unique_seconds() -> str:
    """An argument for sleep(1) by which its process is recognised: more than a day, and no other has it."""
    return f"{100_000 + os.getpid()}.{next(_counter):04}"


def runs(argument: str) -> bool:
    """Whether a process has this argument."""
    return any(argument.encode() in _command(path) for path in Path("/proc").glob("[0-9]*"))


def _command(path: Path) -> list[bytes]:
    try:
        return (path / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def wait_until(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < deadline, f"not so after {LIMIT_S:g} s: {what}"
        time.sleep(0.05)
