"""JSON lines: one object per finished case, written as it finishes."""

from __future__ import annotations

import json
from pathlib import Path

from pytest_microremed.errors import UsageError
from pytest_microremed.result import CaseResult


class JsonLines:
    """Appends results to a file; each line is complete, also when the run is killed after it."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> None:
        """Raises UsageError where the file could not be written."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.open("a", encoding="utf-8").close()
        except OSError as error:
            raise UsageError(f"--microremed-results: cannot write {self.path}: {error.strerror}") from None

    def write(self, result: CaseResult) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result.to_json(), ensure_ascii=False) + "\n")
