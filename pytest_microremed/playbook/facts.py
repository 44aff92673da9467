"""Facts of the host, gathered once for all boxes of this process.

Gathering takes as long as all else that a small playbook does, and most plays that gather do not look at
what they get. Every box begins with a copy, so that what one playbook writes into its cache no other one
reads.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pytest_microremed.playbook.playbook import Playbook

GATHER = Playbook("- hosts: localhost\n  gather_facts: true\n")

_LOCAL_FORMATS = {
    "year": "%Y",
    "month": "%m",
    "weekday": "%A",
    "weekday_number": "%w",
    "weeknumber": "%W",
    "day": "%d",
    "hour": "%H",
    "minute": "%M",
    "second": "%S",
    "epoch": "%s",
    "epoch_int": "%s",
    "date": "%Y-%m-%d",
    "time": "%H:%M:%S",
    "iso8601_basic": "%Y%m%dT%H%M%S%f",
    "iso8601_basic_short": "%Y%m%dT%H%M%S",
}
_UTC_FORMATS = {"iso8601": "%Y-%m-%dT%H:%M:%SZ", "iso8601_micro": "%Y-%m-%dT%H:%M:%S.%fZ"}
"""Keys of the fact `ansible_date_time` (module ansible.builtin.setup) and what they hold."""


class Facts:
    """The content of a fact cache (plugin ansible.builtin.jsonfile)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wanted = 0
        self._files: Mapping[str, str] = {}

    def fill(self, folder: Path, environment: Mapping[str, str], gather: Callable[[], Mapping[str, str]]) -> None:
        """Put the facts into the cache `folder` of a box with that environment, as of now.

        `gather` runs the playbook GATHER and returns the files of its cache. The first playbook of a process
        gathers for itself, since that costs less than a run more; from the second on they share.
        """
        with self._lock:
            self._wanted += 1
            if self._wanted == 2:
                self._files = gather()
        folder.mkdir(mode=0o700)
        for name, text in self._files.items():
            if (refreshed := _refresh(text, environment)) is not None:
                (folder / name).write_text(refreshed, encoding="utf-8")


def _refresh(text: str, environment: Mapping[str, str]) -> str | None:
    """The facts with this box's environment, and the time of now: playbooks stamp restarts with it.

    None if the file has another form than that of ansible-core 2.19; the playbook then gathers for itself.
    """
    try:
        content: dict[str, Any] = json.loads(text)
        facts = json.loads(content["__payload__"])
        facts["ansible_date_time"].update(_date_time())
        facts["ansible_env"].update(environment)
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return json.dumps({**content, "__payload__": json.dumps(facts)})


def _date_time() -> dict[str, str]:
    now = time.time()
    local, utc = datetime.fromtimestamp(now), datetime.fromtimestamp(now, UTC)
    return {key: local.strftime(form) for key, form in _LOCAL_FORMATS.items()} | {
        key: utc.strftime(form) for key, form in _UTC_FORMATS.items()
    }
