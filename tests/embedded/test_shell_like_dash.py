"""The simulated shell prints what a real one prints, and ends as it ends: generated scripts, against dash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.embedded.nodes import in_container
from tests.embedded.shell_scripts import Scripts

pytestmark = pytest.mark.skipif(
    Path("/bin/sh").resolve().name != "dash", reason="needs dash as /bin/sh to compare with"
)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_same_output_and_exit_code(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    script = Scripts(seed).script()
    real = subprocess.run(
        ["/bin/sh", "-c", script],
        cwd=tmp_path_factory.mktemp("sh"),
        capture_output=True,
        timeout=20,
        check=False,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
    )
    simulated = in_container(f"cd /mnt; {script}", image="debian:12")
    assert (simulated.out, simulated.code) == (real.stdout.decode("latin-1"), real.returncode), script
