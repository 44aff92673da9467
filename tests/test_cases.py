"""The frozen case lists: counts, composition by fault (papers: table of levels), ids and errors."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pytest_microremed.case import Case, load_folder, load_list
from pytest_microremed.data import cases_dir
from pytest_microremed.errors import UsageError
from pytest_microremed.faults.fault import load_fault
from pytest_microremed.systems.system import load_system

SYSTEMS = ("online-boutique", "simple-micro", "train-ticket")
MIX = {
    "easy": {"cpu-stress": 6, "memory-stress": 5, "network-loss": 6, "network-delay": 6},
    "medium": {
        "cpu-stress": 12,
        "memory-stress": 12,
        "disk-io": 8,
        "network-loss": 7,
        "network-delay": 5,
        "pod-fail": 5,
    },
    "hard": {
        "cpu-stress": 8,
        "memory-stress": 8,
        "disk-io": 14,
        "network-loss": 11,
        "network-delay": 11,
        "pod-fail": 14,
        "pod-config-error": 14,
    },
}


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return load_folder(cases_dir(), full=True)


def test_counts(cases: list[Case]) -> None:
    assert Counter(c.level for c in cases) == {"easy": 69, "medium": 147, "hard": 240, "full": 421}


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("level", MIX)
def test_composition_by_fault(cases: list[Case], level: str, system: str) -> None:
    assert Counter(c.fault for c in cases if (c.level, c.system) == (level, system)) == MIX[level]


def test_full_is_every_distinct_pair(cases: list[Case]) -> None:
    full = [c for c in cases if c.level == "full"]
    pairs = {(c.system, c.target, c.fault) for c in full}
    assert len(pairs) == 421
    services = {s: {c.target for c in full if c.system == s} for s in SYSTEMS}
    assert {s: len(names) for s, names in services.items()} == {
        "online-boutique": 12,
        "simple-micro": 2,
        "train-ticket": 47,
    }
    assert [p for p in pairs if p[1] == "nacosdb-mysql"] == [("train-ticket", "nacosdb-mysql", "disk-io")]


def test_ids_are_unique_and_stable(cases: list[Case]) -> None:
    ids = [c.id for c in cases]
    assert len(set(ids)) == len(ids)
    assert "hard-017-online-boutique-network-loss-cartservice" in ids
    assert set("".join(ids)) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


def test_every_case_can_be_posed(cases: list[Case]) -> None:
    for case in cases:
        load_fault(case.fault).check_variant(load_system(case.system).workload(case.target), case.variant)


def test_every_member_of_the_configuration_family_occurs(cases: list[Case]) -> None:
    variants = Counter(c.variant for c in cases if c.fault == "pod-config-error" and c.level == "hard")
    assert set(variants) == {"resource-limits", "environment-variable", "dependency-address"}
    assert all(c.variant is None for c in cases if c.fault != "pod-config-error")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "- {system: s, fault: f, target: t, colour: red}",
            "[1].colour: unknown key; known: fault, system, target, variant",
        ),
        ("- {system: s, fault: f}", "[1].target: missing"),
        ("- {system: s, fault: 7, target: t}", "[1].fault: must be a string, not 7"),
        ("system: s", "must be a list of cases"),
        ("- {system: s", "is no YAML"),
    ],
)
def test_a_malformed_list_is_one_line_with_file_and_key(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "hard.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_list(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_level_names_the_known_ones(tmp_path: Path) -> None:
    path = tmp_path / "brutal.yaml"
    path.write_text("[]")
    with pytest.raises(UsageError, match="unknown level 'brutal'; known: easy, medium, hard, full"):
        load_list(path)
