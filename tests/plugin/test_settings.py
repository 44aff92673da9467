"""Option > environment > ini > default, and the header says which."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_microremed import options
from pytest_microremed.errors import UsageError

Folder = Callable[..., pytest.Pytester]


def config(pytester: pytest.Pytester, *args: str) -> pytest.Config:
    return pytester.parseconfig(*args)


def test_defaults(pytester: pytest.Pytester) -> None:
    settings = options.resolve(config(pytester), {})
    assert (settings.remediator, settings.model, settings.t_max, settings.full) == (None, None, 1, False)
    assert settings.describe("t_max") == "1 (from default)"


def test_option_beats_environment_beats_ini(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmicroremed_remediator = noop\nmicroremed_t_max = 3\nmicroremed_model = a\n")
    environment = {"MICROREMED_REMEDIATOR": "restart", "MICROREMED_MODEL": "b"}
    settings = options.resolve(config(pytester, "--remediator=oracle"), environment)
    assert settings.describe("remediator") == "oracle (from option)"
    assert settings.describe("model") == "b (from environment)"
    assert settings.describe("t_max") == "3 (from ini)"


@pytest.mark.parametrize("text", ["many", "-1", "1.5"])
def test_a_bad_number_names_its_place(pytester: pytest.Pytester, text: str) -> None:
    with pytest.raises(UsageError, match=f"--microremed-t-max: '{text}' is not valid"):
        options.resolve(config(pytester, f"--microremed-t-max={text}"), {})


@pytest.mark.parametrize(("text", "value"), [("1", True), ("no", False), ("TRUE", True)])
def test_a_switch_by_environment(pytester: pytest.Pytester, text: str, value: bool) -> None:
    assert options.resolve(config(pytester), {"MICROREMED_FULL": text}).full is value


def test_an_empty_variable_is_no_value(pytester: pytest.Pytester) -> None:
    assert options.resolve(config(pytester), {"MICROREMED_MODEL": ""}).model is None


def test_help_shows_the_twins(pytester: pytest.Pytester) -> None:
    result = pytester.runpytest("--help")
    result.stdout.fnmatch_lines(["*--remediator=NAME|PATH*", "*microremed_remediator*MICROREMED_REMEDIATOR*"])
