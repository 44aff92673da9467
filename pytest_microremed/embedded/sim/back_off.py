"""The doubling waits between a kubelet's attempts (restarts and image pulls)."""

from __future__ import annotations

FIRST_S = 10.0
LONGEST_S = 300.0


class BackOff:
    """10 s, 20 s, 40 s, … 5 min."""

    def __init__(self) -> None:
        self._next_s = FIRST_S

    def take(self) -> float:
        """The wait that is due now; the next one is twice as long."""
        due = self._next_s
        self._next_s = min(2 * due, LONGEST_S)
        return due

    def reset(self) -> None:
        """Begin with the shortest wait again."""
        self._next_s = FIRST_S


def go_duration(seconds: float) -> str:
    """`80` -> `1m20s`: how Go prints a duration."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
