"""The exception tree.

MicroremedError
├── UsageError            what the user wrote is wrong: one line, exit 4, nothing deployed
├── InfrastructureError   what is not the remediator's doing: ERROR, never a failed repair
│   └── ClusterError      the cluster did not do what it was asked
│       └── WaitTimeout   a wait ran out; the message says what was waited for
├── NotPosed              the case could not be put to the remediator (setup: ERROR, not counted)
└── PlaybookError         the remediator's answer is no playbook: a failed attempt, with the reason
"""

from __future__ import annotations


class MicroremedError(Exception):
    """Base of every error of this package; its text is written for users."""


class UsageError(MicroremedError):
    """A name, option or file of the user's is wrong: says what, where, and the way out."""


class InfrastructureError(MicroremedError):
    """Something failed that is not the remediator's doing: the case is an ERROR, never a failed repair."""


class ClusterError(InfrastructureError):
    """The cluster refused or failed."""


class WaitTimeout(ClusterError):
    """A wait reached its limit."""

    def __init__(self, what: str, seconds: float, last: str = "") -> None:
        self.what = what
        self.seconds = seconds
        super().__init__(f"{what}: not so after {seconds:g} s" + (f" (last seen: {last})" if last else ""))


class NotPosed(MicroremedError):
    """The case could not be posed: deployment, control check or injection failed."""


class PlaybookError(MicroremedError):
    """The remediator's answer cannot be run as a playbook."""
