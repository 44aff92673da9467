"""A case: one fault on one workload of one system, frozen in a YAML file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet


@dataclass(frozen=True)
class Case:
    """One fault–recovery pair. `number` is the line's place in its file, counted from 1."""

    level: str
    number: int
    system: str
    fault: str
    target: str
    variant: str | None = None
    """Which member of a fault family (pod-config-error); None where the fault has none."""

    @property
    def id(self) -> str:
        """`hard-017-online-boutique-network-loss-cartservice`: unique, stable, and only `[a-z0-9-]` for `-k`."""
        return f"{self.level}-{self.number:03}-{self.system}-{self.fault}-{self.target}"

    def to_json(self) -> dict[str, Any]:
        return {"id": self.id, **asdict(self)}


def load_cases(path: str | Path) -> list[ParameterSet]:
    """The parameters of a benchmark function; see the plugin side for its use. Placeholder until the loader lands."""
    raise NotImplementedError
