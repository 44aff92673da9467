"""How a result travels: as `user_properties` of pytest's reports, through pytest-xdist and into JUnit."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pytest_microremed.result import CaseResult

RESULT = "microremed"
"""The whole record as JSON text; the other properties are scalars for dashboards."""

Properties = list[tuple[str, object]]


def identify(properties: Properties, case_id: str) -> None:
    """Name the case at collection, so that it is known even if its worker dies."""
    properties.append(("microremed.case", case_id))


def publish(properties: Properties, result: CaseResult) -> None:
    """Put the result, or a later version of it, into the properties. Plain strings only: they cross execnet."""
    fresh: Properties = [
        (RESULT, json.dumps(result.to_json(), ensure_ascii=False)),
        ("microremed.outcome", result.outcome),
        ("microremed.remediator", result.remediator),
        ("microremed.attempts", str(len(result.attempts))),
        ("microremed.seconds", f"{sum(result.seconds.values()):.3f}"),
        ("microremed.cluster", result.cluster),
    ]
    if result.model:
        fresh.append(("microremed.model", result.model))
    names = {name for name, _ in fresh}
    properties[:] = [p for p in properties if p[0] not in names] + fresh


def read(properties: Sequence[tuple[str, object]]) -> CaseResult | None:
    """The result, if one was published."""
    for name, value in properties:
        if name == RESULT:
            return CaseResult.from_json(json.loads(str(value)))
    return None


def case_id(properties: Sequence[tuple[str, object]]) -> str | None:
    return next((str(value) for name, value in properties if name == "microremed.case"), None)
