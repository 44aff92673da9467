"""The states of a container as its status tells them (core/v1 ContainerState)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""What a runtime gives as the start of a container that never started."""


@dataclass(frozen=True)
class Exit:
    """How pid 1 ended. Without a reason it is Completed or Error, by the code."""

    code: int
    reason: str = ""
    message: str = ""


@dataclass(frozen=True)
class Waiting:
    reason: str
    message: str = ""


@dataclass(frozen=True)
class Running:
    started: datetime


@dataclass(frozen=True)
class Terminated:
    exit_code: int
    reason: str
    message: str
    started: datetime
    finished: datetime
    container_id: str

    @classmethod
    def of(cls, ended: Exit, started: datetime, finished: datetime, container_id: str) -> Terminated:
        reason = ended.reason or ("Completed" if ended.code == 0 else "Error")
        return cls(ended.code, reason, ended.message, started, finished, container_id)


State = Waiting | Running | Terminated
