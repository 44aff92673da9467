"""A case: one fault on one workload of one system, frozen in a YAML list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_microremed.datafile import build, read_yaml
from pytest_microremed.errors import UsageError

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet

LEVELS = ("easy", "medium", "hard")
FULL = "full"
"""The level of all distinct fault–target pairs: collected on request only."""


@dataclass(frozen=True)
class Case:
    """One fault–recovery pair. `number` is the line's place in its list, counted from 1."""

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

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Case:
        """Inverse of `to_json`."""
        return cls(**{key: value for key, value in data.items() if key != "id"})


@dataclass(frozen=True)
class _Line:
    """A line of a case list."""

    system: str
    fault: str
    target: str
    variant: str | None = None


def load_list(path: Path) -> list[Case]:
    """The cases of one list; its name is the level. Raises UsageError with file, line number of the list and key."""
    known = (*LEVELS, FULL)
    if path.stem not in known:
        raise UsageError(f"{path}: unknown level {path.stem!r}; known: {', '.join(known)}")
    lines = read_yaml(path)
    if not isinstance(lines, list):
        raise UsageError(f"{path}: must be a list of cases, one a line")
    cases = []
    for number, data in enumerate(lines, 1):
        line = build(_Line, data, path, f"[{number}]")
        cases.append(Case(path.stem, number, line.system, line.fault, line.target, line.variant))
    return cases


def load_folder(folder: Path, *, full: bool = False) -> list[Case]:
    """The cases of all lists (*.yaml) in a folder, by level; those of full.yaml only if asked for."""
    paths = sorted(folder.glob("*.yaml"), key=lambda path: (_rank(path.stem), path))
    return [case for path in paths if full or path.stem != FULL for case in load_list(path)]


def _rank(level: str) -> int:
    return LEVELS.index(level) if level in LEVELS else len(LEVELS)


def to_params(cases: Iterable[Case]) -> list[ParameterSet]:
    """pytest parameters with the case's id, and its place as keywords of the marker `microremed`."""
    import pytest

    return [
        pytest.param(c, id=c.id, marks=pytest.mark.microremed(level=c.level, system=c.system, fault=c.fault))
        for c in cases
    ]


def load_cases(path: str | Path) -> list[ParameterSet]:
    """Parameters for a benchmark function of one's own, from one list::

    @pytest.mark.parametrize("case", load_cases("hard.yaml"))
    def test_mine(case, incident, remediator, trial):
        result = trial.run(incident, remediator)
        assert result.recovered, result.explain()
    """
    return to_params(load_list(Path(path)))
