"""The terminal section, as lines of text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_microremed.report.summary import GROUPS, Average, Rates, grouped, rates
from pytest_microremed.result import CaseResult

_HEAD = ("", "cases", "posed", "recovered", "RA %", "95 % interval", "clean", "ARL s", "ATC")


def lines(results: Sequence[CaseResult]) -> Iterator[str]:
    """The section's lines: totals, a table by level, system and fault, and the cases that do not count."""
    total = rates(results)
    yield _headline(results, total)
    rows: list[tuple[str, ...]] = [_HEAD]
    for group in GROUPS:
        rows += [_row(f"{group} {value}", r) for value, r in grouped(results, group).items()]
    rows.append(_row("all", total))
    yield from _table(rows)
    if not total.atc.complete:
        yield "ATC: some answers came without a token count; the mean is over those that reported one (marked ~)"
    for result in results:
        if result.outcome in ("not posed", "crashed"):
            yield f"{result.outcome}: {result.case['id']}: {result.reason}"


def _headline(results: Sequence[CaseResult], total: Rates) -> str:
    first = results[0]
    who = first.remediator + (f" with {first.model}" if first.model else "")
    where = ", ".join(dict.fromkeys(r.cluster for r in results if r.cluster)) or "no cluster"
    parts = [
        f"{total.recovered} recovered",
        f"{total.not_recovered} not recovered",
        f"{total.not_posed} not posed",
    ]
    if total.crashed:
        parts.append(f"{total.crashed} crashed")
    return f"{who} on {where}: {', '.join(parts)} of {total.cases}"


def _row(name: str, r: Rates) -> tuple[str, ...]:
    low, high = r.interval or (0.0, 0.0)
    return (
        name,
        str(r.cases),
        str(r.posed),
        str(r.recovered),
        "-" if r.ra is None else f"{100 * r.ra:.1f}",
        "-" if r.interval is None else f"{100 * low:.1f} to {100 * high:.1f}",
        str(r.clean),
        _figure(r.arl, ".1f"),
        _figure(r.atc, ".0f"),
    )


def _figure(average: Average, form: str) -> str:
    if average.value is None:
        return "-"
    return ("" if average.complete else "~") + format(average.value, form)


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)]
        yield "  ".join(cells).rstrip()
