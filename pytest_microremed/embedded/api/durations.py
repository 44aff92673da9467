"""Durations as kubectl prints them (apimachinery, `duration.HumanDuration`)."""

from __future__ import annotations

from datetime import datetime

UNKNOWN = "<unknown>"
_YEAR_H = 24 * 365


def age(moment: str | None, now: datetime) -> str:
    """How long ago an RFC 3339 time was: `45s`, `3m20s`, `5h`."""
    if not moment:
        return UNKNOWN
    return human_duration((now - datetime.fromisoformat(moment)).total_seconds())


def human_duration(seconds: float) -> str:
    """The two largest units while they tell something, as kubectl shortens them."""
    whole = int(seconds)
    if whole < -1:
        return "<invalid>"
    if whole < 120:
        return f"{max(whole, 0)}s"
    minutes, hours = whole // 60, whole // 3600
    if minutes < 10:
        return _two(minutes, "m", whole % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 24 * 8:
        return _two(hours // 24, "d", hours % 24, "h")
    if hours < 2 * _YEAR_H:
        return f"{hours // 24}d"
    if hours < 8 * _YEAR_H:
        return _two(hours // _YEAR_H, "y", hours // 24 % 365, "d")
    return f"{hours // _YEAR_H}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}" + (f"{small}{small_unit}" if small else "")
