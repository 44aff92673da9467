"""A benchmark of one's own in a temporary folder, to run the plugin on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

TEST = """
import pytest

@pytest.mark.microremed
def test_mine(incident, remediator, trial):
    result = trial.run(incident, remediator)
    assert result.recovered, result.explain()
"""
CPU = "- {system: simple-micro, fault: cpu-stress, target: hello-service}"
POD = "- {system: simple-micro, fault: pod-fail, target: time-service}"


@pytest.fixture
def benchmark_folder(pytester: pytest.Pytester) -> Callable[..., pytest.Pytester]:
    """Makes a folder with `test_mine.py` and one list, `easy.yaml`, of the given lines."""

    def make(*lines: str) -> pytest.Pytester:
        pytester.makepyfile(test_mine=TEST)
        pytester.path.joinpath("easy.yaml").write_text("\n".join(lines or (CPU,)) + "\n")
        return pytester

    return make
