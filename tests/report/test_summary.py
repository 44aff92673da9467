"""The figures: RA over posed cases, coverage beside it, means that say when they are incomplete."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_microremed.report.properties import publish, read
from pytest_microremed.report.summary import grouped, rates, wilson
from pytest_microremed.report.terminal import lines
from pytest_microremed.result import Attempt, CaseResult, Outcome, Tokens, Verdict


def result(outcome: Outcome = "recovered", number: int = 1, **fields: Any) -> CaseResult:
    case = {
        "id": f"easy-{number:03}",
        "level": "easy",
        "number": number,
        "system": "shop",
        "fault": "cpu-stress",
    }
    verdict = Verdict(outcome == "recovered", outcome == "recovered", True, True, "because")
    return CaseResult(case, "oracle", outcome, "because", verdict, **{"cluster": "embedded", **fields})


def test_what_was_not_posed_is_coverage_and_not_a_failure() -> None:
    r = rates([result(), result("not recovered"), result("not posed"), result("crashed")])
    assert (r.cases, r.posed, r.recovered, r.not_recovered, r.not_posed, r.crashed) == (4, 2, 1, 1, 1, 1)
    assert r.ra == 0.5


def test_nothing_posed_has_no_rate() -> None:
    r = rates([result("not posed")])
    assert r.ra is None
    assert r.interval is None
    assert r.arl.value is None


def test_latency_is_thinking_probing_and_running_only() -> None:
    seconds = {"deploy": 9.0, "think": 1.0, "probe": 2.0, "execute": 3.0, "verify": 60.0, "restore": 5.0}
    assert rates([result(seconds=seconds)]).arl.value == 6.0


def test_unknown_token_counts_are_not_zero() -> None:
    known = result(tokens=Tokens(prompt=100, completion=20))
    unknown = result(tokens=Tokens(prompt=None, completion=None))
    r = rates([known, unknown])
    assert r.atc.value == 120
    assert not r.atc.complete
    assert any("~120" in line for line in lines([known, unknown]))
    assert rates([result()]).atc.value is None


def test_clean_is_stricter_than_recovered() -> None:
    harmed = Verdict(True, True, True, True, "ok", collateral=("Service/web: removed",))
    interrupted = Verdict(True, True, True, True, "ok", disruption_s=4.0)
    excused = Verdict(True, True, True, True, "ok", disruption_s=4.0, down_at_start=True)
    results = [
        result(),
        *(CaseResult(result().case, "x", "recovered", "", v) for v in (harmed, interrupted, excused)),
    ]
    r = rates(results)
    assert (r.recovered, r.clean) == (4, 2)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_holds_the_rate(pair: tuple[int, int]) -> None:
    successes, trials = pair
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1


def test_the_interval_is_the_published_one() -> None:
    low, high = wilson(11, 23)
    assert (round(low, 2), round(high, 2)) == (0.29, 0.67)


def test_groups_keep_their_order() -> None:
    assert list(grouped([result(number=1), result(number=2)], "system")) == ["shop"]


def test_the_section_names_every_case_that_does_not_count() -> None:
    text = "\n".join(lines([result(), result("not posed", 2, model="m"), result("crashed", 3)]))
    assert "1 recovered, 0 not recovered, 1 not posed, 1 crashed of 3" in text
    assert "not posed: easy-002: because" in text
    assert "crashed: easy-003: because" in text


def test_a_result_survives_json_and_the_properties_of_a_report() -> None:
    attempt = Attempt("- hosts: all", True, 0, "out", True, "fine", {"think": 0.5})
    original = result(attempts=(attempt,), tokens=Tokens(1, 2), seconds={"think": 0.5}, versions={"python": "3"})
    assert CaseResult.from_json(json.loads(json.dumps(original.to_json()))) == original
    properties: list[tuple[str, object]] = [("microremed.case", "easy-001")]
    publish(properties, result("not posed"))
    publish(properties, original)
    assert read(properties) == original
    assert all(type(value) is str for _, value in properties)
    names = [name for name, _ in properties]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("outcome", ["not posed", "crashed"])
def test_no_latency_without_a_trial(outcome: Outcome) -> None:
    assert result(outcome, seconds={"think": 1.0}).latency is None
