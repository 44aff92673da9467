"""The layers of the architecture: imports go one way, and heavy or foreign ones only where they belong."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest_microremed

PACKAGE = Path(pytest_microremed.__file__).parent
NAME = "pytest_microremed"

PYTEST_SIDE = {"plugin", "hookspecs", "options", "fixtures", "collection", "controller"}
RECORDS = {"errors", "settings", "clock", "stopwatch", "data", "datafile", "case", "incident", "result", "recorder"}
LAYERS: tuple[set[str], ...] = (
    RECORDS,
    {"embedded"},
    {"cluster"},
    {"systems"},
    {"faults"},
    {"checks", "playbook"},
    {"remediators", "registry"},
    {"testbed", "posing", "briefing", "trial"},
    {"report", "workfolder"},
    {"session"},
    PYTEST_SIDE,
)
HEAVY = {"kubernetes", "ansible_runner", "ansible", "litellm", "aiohttp", "websocket"}


def modules() -> list[Path]:
    return [p for p in sorted(PACKAGE.rglob("*.py")) if p.relative_to(PACKAGE).parts[0] not in ("cases", "data")]


def room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imports(path: Path, *, top_level_only: bool) -> Iterator[str]:
    """Names of imported modules, but for those that only type checkers see."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    hidden = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and isinstance(branch.test, ast.Name) and branch.test.id == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    nodes = tree.body if top_level_only else ast.walk(tree)
    for node in nodes:
        if id(node) in hidden:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            if node.module == NAME:
                yield from (f"{NAME}.{alias.name}" for alias in node.names)


def layer(name: str) -> int:
    return next(i for i, rooms in enumerate(LAYERS) if name in rooms)


def test_imports_go_down() -> None:
    for path in modules():
        for name in imports(path, top_level_only=False):
            theirs = name.split(".")[1] if name.startswith(f"{NAME}.") else "__init__"
            if "__init__" in (theirs, room(path)) or theirs in (room(path), "__version__"):
                continue
            assert layer(theirs) <= layer(room(path)), f"{path} imports {name}, which is above it"


def test_only_the_pytest_side_imports_pytest() -> None:
    for path in modules():
        if room(path) not in PYTEST_SIDE:
            names = imports(path, top_level_only=True)
            assert not [n for n in names if n.split(".")[0] in ("pytest", "_pytest")], path


def test_the_embedded_cluster_stands_alone() -> None:
    for path in modules():
        if room(path) == "embedded":
            foreign = [
                n
                for n in imports(path, top_level_only=False)
                if n.startswith(NAME) and not n.startswith(f"{NAME}.embedded")
            ]
            assert not foreign, f"{path} imports {foreign}"
        elif room(path) != "cluster":
            users = [n for n in imports(path, top_level_only=False) if n.startswith(f"{NAME}.embedded")]
            assert not users, f"{path} imports {users}: only cluster/ starts the embedded cluster"


def test_the_api_server_knows_nothing_of_the_simulation() -> None:
    for path in (PACKAGE / "embedded" / "api").rglob("*.py"):
        assert not [n for n in imports(path, top_level_only=False) if ".embedded.sim" in n], path


def test_the_plugin_is_light() -> None:
    """What pytest loads in everyone's runs must not import what only the benchmark needs."""
    seen: set[str] = set()
    todo = [f"{NAME}.plugin"]
    while todo:
        name = todo.pop()
        if name in seen:
            continue
        seen.add(name)
        path = PACKAGE.joinpath(*name.split(".")[1:])
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if not path.exists():
            continue
        found = list(imports(path, top_level_only=True))
        heavy = [n for n in found if n.split(".")[0] in HEAVY]
        assert not heavy, f"{name} imports {heavy} at module level"
        todo += [n for n in found if n.startswith(NAME)]
