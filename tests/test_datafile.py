"""Data files are read strictly: whatever is wrong is one line with file and key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from pytest_microremed.datafile import build, read_yaml
from pytest_microremed.errors import UsageError

FILE = Path("thing.yaml")


@dataclass(frozen=True)
class Part:
    size: float
    colour: Literal["red", "blue"] = "red"


@dataclass(frozen=True)
class Thing:
    name: str
    parts: tuple[Part, ...] = ()
    by_name: Mapping[str, Part] = field(default_factory=dict)
    count: int | None = None
    loud: bool = False
    free: Any = None


def test_nested_values_become_dataclasses() -> None:
    data = {
        "name": "x",
        "parts": [{"size": 1}, {"size": 2.5, "colour": "blue"}],
        "by_name": {"p": {"size": 3}},
        "count": None,
        "loud": True,
        "free": [1],
    }
    assert build(Thing, data, FILE) == Thing("x", (Part(1.0), Part(2.5, "blue")), {"p": Part(3.0)}, None, True, [1])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "thing.yaml: must be a mapping, not []"),
        ({}, "thing.yaml: name: missing"),
        (
            {"name": "x", "nmae": 1},
            "thing.yaml: nmae: unknown key; known: by_name, count, free, loud, name, parts",
        ),
        ({"name": 1}, "thing.yaml: name: must be a string, not 1"),
        ({"name": None}, "thing.yaml: name: must be a string, not None"),
        ({"name": "x", "count": True}, "thing.yaml: count: must be an integer, not True"),
        ({"name": "x", "count": "3"}, "thing.yaml: count: must be an integer, not '3'"),
        ({"name": "x", "loud": 1}, "thing.yaml: loud: must be true or false, not 1"),
        ({"name": "x", "parts": {}}, "thing.yaml: parts: must be a list, not {}"),
        ({"name": "x", "parts": [{"size": 1}, {}]}, "thing.yaml: parts[1].size: missing"),
        ({"name": "x", "parts": [{"size": "1"}]}, "thing.yaml: parts[0].size: must be a number, not '1'"),
        (
            {"name": "x", "by_name": {"p": {"size": 1, "colour": "green"}}},
            "thing.yaml: by_name.p.colour: 'green' is none of red, blue",
        ),
        ({"name": "x", "by_name": []}, "thing.yaml: by_name: must be a mapping, not []"),
        ({"name": "x", "by_name": {1: {}}}, "thing.yaml: by_name.1: must be a key that is a string, not 1"),
    ],
)
def test_what_is_wrong_is_named(data: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        build(Thing, data, FILE)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("a: 1\nb: ]\n", ": line 2 is no YAML: "),
        ("a: 1\nb: 2\na: 3\n", ": line 3 is no YAML: key 'a' is given twice"),
        ("a: {b: 1, b: 2}", ": line 1 is no YAML: key 'b' is given twice"),
        ("a: !!python/object/apply:os.getcwd []", "could not determine a constructor for the tag"),
    ],
)
def test_what_is_no_yaml_is_one_line(tmp_path: Path, text: str, end: str) -> None:
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    with pytest.raises(UsageError) as caught:
        read_yaml(path)
    assert str(caught.value).startswith(str(path))
    assert end in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"gone\.yaml: cannot be read"):
        read_yaml(tmp_path / "gone.yaml")


def test_merge_keys_may_be_overridden(tmp_path: Path) -> None:
    path = tmp_path / "merge.yaml"
    path.write_text("base: &base {a: 1, b: 2}\nmine:\n  <<: *base\n  b: 3\n")
    assert read_yaml(path)["mine"] == {"a": 1, "b": 3}
