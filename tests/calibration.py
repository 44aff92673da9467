"""The benchmark calibrates itself: `oracle` must recover every case and `noop` none, with no case lost on the way.

    python tests/calibration.py oracle noop            # all 456 cases each
    python tests/calibration.py oracle --full          # the 421 distinct pairs
    python tests/calibration.py noop -k easy           # further arguments go to pytest

Prints one line a run, and exits 1 where a run is not what it must be.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
EXPECTED = {"oracle": "recovered", "noop": "not recovered"}
WORKERS = "2"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("remediators", nargs="+", choices=sorted(EXPECTED))
    parser.add_argument("--full", action="store_true", help="the 421 distinct pairs instead of the levels")
    parser.add_argument("-k", dest="words", default="", help="as pytest's")
    options = parser.parse_args()
    selection = ["--microremed-full", "-k", "full"] if options.full else ["-k", options.words] if options.words else []
    return max(calibrate(name, selection) for name in options.remediators)


def calibrate(remediator: str, selection: list[str]) -> int:
    """Run the cases with one remediator; 0 if every one of them came out as it must."""
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.jsonl"
        start = time.monotonic()
        command = [
            sys.executable,
            "-m",
            "pytest",
            "cases",
            "-n",
            WORKERS,
            "-q",
            "--no-header",
            "--tb=no",
            "-p",
            "no:cacheprovider",
        ]
        run = subprocess.run(
            [*command, f"--remediator={remediator}", f"--microremed-results={results}", *selection],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        minutes = (time.monotonic() - start) / 60
        lines = results.read_text().splitlines() if results.exists() else []
    records = [json.loads(line) for line in lines]
    expected = collected(selection)
    outcomes = collections.Counter(record["outcome"] for record in records)
    good = len(records) == expected and outcomes == {EXPECTED[remediator]: expected}
    counts = ", ".join(f"{n} {outcome}" for outcome, n in outcomes.items())
    print(
        f"{remediator}: {counts} of {expected} in {minutes:.1f} min: {'as it must be' if good else 'WRONG'}",
        flush=True,
    )
    if not good:
        for record in records:
            if record["outcome"] != EXPECTED[remediator]:
                print(f"  {record['case']['id']}: {record['outcome']}: {record['reason']}")
        print(run.stdout[-3000:], run.stderr[-3000:])
    return 0 if good else 1


def collected(selection: list[str]) -> int:
    """How many cases the selection holds."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "cases",
        "--collect-only",
        "-q",
        "-p",
        "no:cacheprovider",
        *selection,
    ]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return sum("::" in line for line in run.stdout.splitlines())


if __name__ == "__main__":
    sys.exit(main())
