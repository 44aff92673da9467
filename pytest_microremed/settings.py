"""What the user chose for this run, and where each choice came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """The resolved options; `sources` says for each whether it came from option, environment, ini or default."""

    remediator: str | None
    model: str | None
    t_max: int
    full: bool
    results: str | None
    sources: Mapping[str, str]

    def describe(self, name: str) -> str:
        """`oracle (from option)`."""
        return f"{getattr(self, name)} (from {self.sources[name]})"
