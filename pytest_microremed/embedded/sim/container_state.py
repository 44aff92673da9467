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

    @classmethod
    def without_start(cls, binary: str) -> Exit:
        """The runtime finds no such program, in containerd's and runc's words."""
        problem = f"stat {binary}: no such file or directory"
        if "/" not in binary:
            problem = "executable file not found in $PATH"
        message = (
            "failed to create containerd task: failed to create shim task: OCI runtime create failed: "
            "runc create failed: unable to start container process: error during container init: "
            f'exec: "{binary}": {problem}: unknown'
        )
        return cls(128, "StartError", message)


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
