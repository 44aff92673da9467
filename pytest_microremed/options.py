"""Options, their ini and environment twins, and where each value came from."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from pytest_microremed.errors import UsageError
from pytest_microremed.settings import Settings


@dataclass(frozen=True)
class Option:
    """One setting: `--flag`, ini `microremed_<name>` and environment `MICROREMED_<NAME>` mean the same."""

    name: str
    flag: str
    help: str
    metavar: str = ""
    default: Any = None
    parse: Callable[[str], Any] = str

    @property
    def ini(self) -> str:
        return f"microremed_{self.name}"

    @property
    def env(self) -> str:
        return f"MICROREMED_{self.name.upper()}"


def _count(text: str) -> int:
    number = int(text)
    if number < 0:
        raise ValueError
    return number


def _switch(text: str) -> bool:
    try:
        return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
    except KeyError:
        raise ValueError from None


# Help texts start with a capital letter; a single phrase does not end with a period.
OPTIONS = (
    Option(
        "remediator",
        "--remediator",
        "Who repairs: a name (noop, oracle, restart, …), a dotted path pkg.mod:attr, or a playbook file or folder",
        "NAME|PATH",
    ),
    Option("model", "--model", "Model for remediators that use one", "NAME"),
    Option(
        "t_max",
        "--microremed-t-max",
        "Further attempts after the first, for remediators that take feedback (default: 1, the paper's)",
        "N",
        1,
        _count,
    ),
    Option(
        "full",
        "--microremed-full",
        "Also collect the 421 distinct fault-target pairs of full.yaml (choose them with -k full)",
        default=False,
        parse=_switch,
    ),
    Option("results", "--microremed-results", "Append one JSON object per finished case to this file", "PATH"),
)


def add_options(parser: pytest.Parser) -> None:
    group = parser.getgroup("microremed", "microremed: fault remediation benchmark")
    for option in OPTIONS:
        what: dict[str, Any] = {"action": "store_true", "default": None}
        if option.metavar:
            what = {"metavar": option.metavar, "default": None}
        twins = f" [ini: {option.ini}, env: {option.env}]"
        group.addoption(option.flag, dest=option.ini, help=option.help + twins, **what)
        parser.addini(option.ini, option.help, default=None)


def resolve(config: pytest.Config, environ: Mapping[str, str] = os.environ) -> Settings:
    """Option > environment > ini > default. Raises UsageError naming the place of a malformed value."""
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for option in OPTIONS:
        places = (
            ("option", option.flag, config.getoption(option.ini)),
            ("environment", option.env, environ.get(option.env)),
            ("ini", option.ini, config.getini(option.ini)),
        )
        for source, place, raw in places:
            if raw is None or raw == "":
                continue
            try:
                values[option.name] = raw if isinstance(raw, bool) else option.parse(raw)
            except ValueError:
                raise UsageError(f"{place}: {raw!r} is not valid; {option.help}") from None
            sources[option.name] = source
            break
        else:
            values[option.name] = option.default
            sources[option.name] = "default"
    return Settings(**values, sources=sources)
