"""What `-k` and `-m` select, and that collection is light."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def collect(*args: str) -> list[str]:
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "--collect-only",
            "-q",
            "-p",
            "no:cacheprovider",
            str(ROOT / "cases"),
            *args,
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    return [line for line in run.stdout.splitlines() if "::" in line]


@pytest.mark.parametrize(("word", "count"), [("easy", 69), ("medium", 147), ("hard", 240), ("full", 0)])
def test_a_level_word_selects_exactly_its_level(word: str, count: int) -> None:
    ids = collect("-k", word)
    assert len(ids) == count
    assert all(f"[{word}-" in i for i in ids)


def test_full_is_collected_on_request() -> None:
    ids = collect("--microremed-full", "-k", "full")
    assert len(ids) == 421


def test_words_combine() -> None:
    ids = collect("-k", "hard and online-boutique and network-loss")
    assert len(ids) == 11
    assert any("hard-017-online-boutique-network-loss-cartservice" in i for i in ids)


def test_the_marker_selects_exactly() -> None:
    assert len(collect("-m", "microremed(fault='disk-io', system='train-ticket', level='hard')")) == 14


@pytest.mark.parametrize("args", [("--collect-only", "cases"), ("--help",), ("--version",), ("--fixtures", "cases")])
def test_looking_imports_nothing_heavy(args: tuple[str, ...]) -> None:
    """Plugins load in everyone's runs: what only a benchmark needs must wait for one."""
    code = (
        "import sys, pytest\n"
        f"pytest.main(['-q', '-p', 'no:cacheprovider', *{args!r}])\n"
        "heavy = {'kubernetes', 'ansible_runner', 'ansible', 'litellm', 'aiohttp'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.returncode == 0, run.stdout[-500:] + run.stderr[-2000:]
