"""Hooks that pytest-microremed adds for conftests and other plugins."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_microremed.case import Case
    from pytest_microremed.registry import Registry
    from pytest_microremed.result import CaseResult


@pytest.hookspec(historic=True)
def pytest_microremed_register(registry: Registry) -> None:
    """Add remediators under names of your own.

    The factory is called only when its name is chosen; a dotted path is imported only then. With `pytest -n`, the
    conftest must be an initial one (the root's or the benchmark folder's), because the controller checks the name::

        def pytest_microremed_register(registry):
            registry.remediator("mine", "my_package.agent:MyRemediator")
    """


@pytest.hookspec
def pytest_microremed_result(config: pytest.Config, case: Case, result: CaseResult) -> None:
    """Called once for each finished case, on the controller (never in a pytest-xdist worker)::

    def pytest_microremed_result(config, case, result):
        print(case.id, result.outcome, result.seconds)
    """
