"""Go's notations of durations and sizes, as Chaos Mesh's fields use them."""

from __future__ import annotations

import re

_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)")
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgtp]?)(i?)b?", re.IGNORECASE)


def duration_seconds(text: str) -> float:
    """`1h30m`, `500ms`, `0`. Raises ValueError."""
    if text == "0":
        return 0.0
    if not text or _DURATION.sub("", text.lstrip("+-")):
        raise ValueError(f'time: invalid duration "{text}"')
    total = sum(float(number) * _SECONDS[unit] for number, unit in _DURATION.findall(text))
    return -total if text.startswith("-") else total


def size_bytes(text: str, whole: int) -> int:
    """`1280MiB`, `256MB`, `1G`, or a percentage of `whole`. Raises ValueError."""
    if text.endswith("%"):
        return int(whole * float(text[:-1]) / 100)
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"invalid size: '{text}'")
    base = 1024 if match[3] else 1000
    return int(float(match[1]) * base ** " kmgtp".index(match[2].lower() or " "))
