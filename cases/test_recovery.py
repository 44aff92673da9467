"""The benchmark: one test for each case of the lists beside this file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_microremed import Incident, Remediator, Trial


@pytest.mark.microremed
def test_recovery(incident: Incident, remediator: Remediator, trial: Trial) -> None:
    result = trial.run(incident, remediator)
    assert result.recovered, result.explain()
