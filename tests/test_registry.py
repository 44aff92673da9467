"""Names, dotted paths and playbooks become remediators; whatever is wrong with them is one line."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from pytest_microremed.errors import UsageError
from pytest_microremed.incident import Feedback, Incident, Remediator
from pytest_microremed.registry import Registry, RemediatorContext

CONTEXT = RemediatorContext(model="glm-4.5", t_max=1)


class Agent:
    def __init__(self, told: Any = None) -> None:
        self.told = told

    def remediate(self, incident: Incident, feedback: Feedback | None = None) -> str:
        return ""


class Needy(Agent):
    def __init__(self, run: RemediatorContext) -> None:
        super().__init__(run)


class Optional(Agent):
    def __init__(self, context: RemediatorContext | None = None) -> None:
        super().__init__(context)


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`mine`, an importable module with remediators of all kinds."""
    found = ModuleType("mine")
    found.Agent, found.Needy, found.ready = Agent, Needy, Agent("ready")  # type: ignore[attr-defined]
    found.factory = lambda context: Agent(context)  # type: ignore[attr-defined]
    found.number, found.text = 7, lambda: "text"  # type: ignore[attr-defined]
    found.Nested = type("Nested", (), {"Agent": Agent})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "mine", found)
    return found


def resolve(spec: str, registry: Registry | None = None) -> Remediator:
    return (registry or Registry()).resolve(spec)(CONTEXT)


def refusal(spec: str, registry: Registry | None = None) -> str:
    with pytest.raises(UsageError) as caught:
        resolve(spec, registry)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", Registry().names())
def test_the_built_in_ones_are_remediators_without_a_model(name: str) -> None:
    remediator = resolve(name)
    assert isinstance(remediator, Remediator)
    assert getattr(remediator, "uses_model", True) is False


def test_the_names() -> None:
    assert Registry().names() == ["noop", "oracle", "restart"]


@pytest.mark.parametrize(
    ("factory", "told"),
    [
        (Agent, None),
        (Needy, CONTEXT),
        (Optional, CONTEXT),
        (lambda: Agent("nothing"), "nothing"),
        (lambda context: Agent(context), CONTEXT),
        (lambda about: Agent(about.model), "glm-4.5"),
        (lambda **settings: Agent(settings), {}),
    ],
    ids=["class", "class-that-asks", "class-that-can-be-told", "plain", "context", "other-name", "keywords"],
)
def test_a_registered_factory_is_told_of_the_run_if_it_asks(factory: Any, told: Any) -> None:
    registry = Registry()
    registry.remediator("mine", factory)
    assert "mine" in registry.names()
    assert getattr(resolve("mine", registry), "told") == told  # noqa: B009 - the protocol has no such attribute


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("mine:Agent", None),
        ("mine:Needy", CONTEXT),
        ("mine:ready", "ready"),
        ("mine:factory", CONTEXT),
        ("mine:Nested.Agent", None),
    ],
)
@pytest.mark.usefixtures("module")
def test_a_dotted_path_works_as_it_is_and_under_a_name(path: str, told: Any) -> None:
    registry = Registry()
    registry.remediator("named", path)
    for spec in (path, "named"):
        assert getattr(resolve(spec, registry), "told") == told  # noqa: B009


def test_a_registered_path_is_imported_only_when_it_is_chosen() -> None:
    registry = Registry()
    registry.remediator("later", "no_such_package.agent:Agent")
    assert "no_such_package" in refusal("later", registry)


def test_a_name_that_is_taken_names_both(module: ModuleType) -> None:
    registry = Registry()
    registry.remediator("mine", "mine:Agent")
    with pytest.raises(UsageError, match=r"'mine' is registered twice: mine:Agent and .*test_registry:Agent"):
        registry.remediator("mine", Agent)
    with pytest.raises(UsageError, match=r"'oracle' is registered twice: pytest_microremed.*and mine:Agent"):
        registry.remediator("oracle", "mine:Agent")


@pytest.mark.parametrize("name", ["", "a b", "a/b", "mine:Agent", "repair.yml", "http://x"])
def test_a_name_that_could_not_be_chosen(name: str) -> None:
    with pytest.raises(UsageError, match="a name has letters"):
        Registry().remediator(name, Agent)


def test_an_unknown_name_lists_the_known_ones_and_the_closest() -> None:
    registry = Registry()
    registry.remediator("mine", Agent)
    message = refusal("orakel", registry)
    assert "did you mean oracle?" in message
    assert "mine, noop, oracle, restart" in message
    assert "did you mean" not in refusal("zzz")


@pytest.mark.parametrize("spec", ["http://127.0.0.1:80/", "https://agent.example", "cmd:./agent", "grpc://x"])
def test_an_unknown_scheme_says_what_can_be_used(spec: str) -> None:
    message = refusal(spec)
    assert spec in message
    assert "noop, oracle, restart" in message
    assert "pkg.mod:attr" in message


@pytest.mark.usefixtures("module")
@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no_such_package.agent:Agent", "No module named 'no_such_package' (is its folder on"),
        ("mine:Missing", "mine has no Missing"),
        ("mine:Nested.Missing", "mine has no Nested.Missing"),
        ("mine:", "mine has no empty name"),
        ("mine:number", "it has no method remediate, and is no factory"),
        ("mine:text", "gives no object with a method remediate"),
        ("mine:Nested", "gives no object with a method remediate"),
        (":Agent", "importing  raised ValueError"),
        ("mine.Agent", "no remediator 'mine.Agent'"),
    ],
)
def test_a_dotted_path_that_leads_nowhere(spec: str, message: str) -> None:
    assert message in refusal(spec)
    assert spec in refusal(spec)


def test_a_module_that_cannot_be_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_agent.py").write_text("raise RuntimeError('no\\nkey')")
    (tmp_path / "needs_more.py").write_text("import no_such_package")
    monkeypatch.syspath_prepend(tmp_path)
    assert "importing broken_agent raised RuntimeError: no key" in refusal("broken_agent:Agent")
    message = refusal("needs_more:Agent")
    assert "No module named 'no_such_package'" in message
    assert "pythonpath" not in message


def test_a_constructor_that_fails() -> None:
    def factory(context: RemediatorContext) -> Agent:
        raise KeyError("API_KEY")

    registry = Registry()
    registry.remediator("mine", factory)
    assert refusal("mine", registry) == "remediator 'mine' could not be made: KeyError: 'API_KEY'"


def test_a_usage_error_of_a_factory_stays_as_it_is() -> None:
    def factory(context: RemediatorContext) -> Agent:
        raise UsageError("the agent needs --model")

    registry = Registry()
    registry.remediator("mine", factory)
    assert refusal("mine", registry) == "the agent needs --model"


def test_a_playbook_file_and_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repair.yml").write_text("- hosts: localhost")
    (tmp_path / "repairs").mkdir()
    monkeypatch.chdir(tmp_path)
    for spec in ("repair.yml", "./repair.yml", str(tmp_path / "repair.yml"), "repairs", "repairs/"):
        assert isinstance(resolve(spec), Remediator)
    for spec in ("nothing.yml", "nothing.yaml", "no/such/folder"):
        assert "no such playbook file or folder" in refusal(spec)
