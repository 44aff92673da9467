"""What users install: the wheel carries the cases and the data, and runs without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's contents, as in site-packages."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "-w", str(folder)]
    subprocess.run([*command, str(ROOT)], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    site = folder / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


def test_nothing_but_the_package_is_at_the_top(unpacked: Path) -> None:
    names = {path.name for path in unpacked.iterdir() if not path.name.endswith(".dist-info")}
    assert names == {"pytest_microremed"}
    assert (unpacked / "pytest_microremed" / "cases" / "hard.yaml").is_file()
    assert (unpacked / "pytest_microremed" / "data" / "systems" / "train-ticket" / "system.yaml").is_file()
    assert (unpacked / "pytest_microremed" / "py.typed").is_file()


def test_the_benchmark_runs_from_it(unpacked: Path, tmp_path: Path) -> None:
    words = "easy-024-simple-micro"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--pyargs",
        "pytest_microremed.cases",
        "-k",
        words,
        "-p",
        "no:cacheprovider",
    ]
    environment = {**os.environ, "PYTHONPATH": str(unpacked)}
    run = subprocess.run(
        [*command, "--remediator=oracle"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "oracle on embedded: 1 recovered" in run.stdout
