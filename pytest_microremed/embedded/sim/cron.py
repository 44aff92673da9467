"""Schedules in cron's five fields: minute, hour, day of month, month, day of week.

Source: Kubernetes documentation, "CronJob", schedule syntax.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

_MACROS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LAST_YEARS = 5
"""A schedule that names no day within so many years never runs (30 February)."""


@dataclass(frozen=True)
class Schedule:
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    """0 = Sunday."""
    any_day: bool
    any_weekday: bool

    @classmethod
    def parse(cls, text: str) -> Schedule:
        """Raises ValueError for what is not a schedule."""
        fields = _MACROS.get(text.strip(), text).lower().split()
        if len(fields) != 5:
            raise ValueError(f"expected exactly 5 fields, found {len(fields)}: {text!r}")
        minute, hour, day, month, weekday = fields
        return cls(
            _values(minute, 0, 59),
            _values(hour, 0, 23),
            _values(day, 1, 31),
            _values(month, 1, 12, _MONTHS, 1),
            frozenset(value % 7 for value in _values(weekday, 0, 7, _DAYS, 0)),
            day[0] in "*?",
            weekday[0] in "*?",
        )

    def after(self, moment: datetime) -> datetime:
        """The first time of the schedule later than `moment`. Raises ValueError if there is none."""
        last = moment + timedelta(days=366 * _LAST_YEARS)
        candidate = moment.replace(second=0, microsecond=0) + timedelta(minutes=1)
        while candidate < last:
            if candidate.month not in self.months or not self._is_day(candidate):
                candidate = candidate.replace(hour=0, minute=0) + timedelta(days=1)
            elif candidate.hour not in self.hours:
                candidate = candidate.replace(minute=0) + timedelta(hours=1)
            elif candidate.minute not in self.minutes:
                candidate += timedelta(minutes=1)
            else:
                return candidate
        raise ValueError("the schedule names no day that exists")

    def _is_day(self, moment: datetime) -> bool:
        """If both day fields are restricted, either may match."""
        day, weekday = moment.day in self.days, moment.isoweekday() % 7 in self.weekdays
        return day and weekday if self.any_day or self.any_weekday else day or weekday


def _values(text: str, low: int, high: int, names: tuple[str, ...] = (), first: int = 0) -> frozenset[int]:
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        start, _, end = span.partition("-")
        if start in ("*", "?"):
            begin, stop = low, high
        else:
            begin = _number(start, names, first)
            stop = _number(end, names, first) if end else (high if step else begin)
        if not (low <= begin <= stop <= high and (not step or int(step) > 0)):
            raise ValueError(f"not within {low}-{high}: {part!r}")
        values.update(range(begin, stop + 1, int(step or 1)))
    return frozenset(values)


def _number(text: str, names: tuple[str, ...], first: int) -> int:
    return names.index(text) + first if text in names else int(text)
