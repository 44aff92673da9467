"""The columns that a CustomResourceDefinition declares (`additionalPrinterColumns`), read by JSONPath."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pytest_microremed.embedded.api.durations import age
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.table_columns import AGE, NAME, Column

_STEP = re.compile(
    r"""\.(?P<field>[\w-]+)|\[(?P<index>-?\d+)\]|\[['"](?P<quoted>[^'"]+)['"]\]|\[(?P<all>\*)\]"""
    r"""|\[\?\(@\.(?P<key>[\w.]+)\s*==\s*['"](?P<value>[^'"]*)['"]\)\]"""
)


def printer_columns(declared: Sequence[Mapping[str, Any]]) -> tuple[Column, ...]:
    """Name, then the declared columns; without any, Name and Age."""
    if not declared:
        return (NAME, AGE)
    return (NAME, *(_column(each) for each in declared))


def json_path(obj: Any, path: str) -> list[Any]:
    """What a JSONPath selects, made of fields, indexes, `[*]` and filters by equality, as definitions use."""
    found, position = [obj], 0
    while position < len(path):
        step = _STEP.match(path, position)
        if step is None:
            return []
        found = [value for each in found for value in _follow(each, step)]
        position = step.end()
    return found


def _column(declared: Mapping[str, Any]) -> Column:
    path, type_ = declared["jsonPath"], declared["type"]

    def cell(obj: Object, now: datetime) -> Any:
        found = json_path(obj, path)
        if not found:
            return None
        if type_ == "date":
            return _age(found[0], now)
        return found[0] if type_ in ("integer", "number", "boolean") else ",".join(map(_text, found))

    return Column(declared["name"], cell, type_, declared.get("priority", 0))


def _follow(value: Any, step: re.Match[str]) -> list[Any]:
    name = step["field"] or step["quoted"]
    if name:
        found = value.get(name) if isinstance(value, Mapping) else None
        return [] if found is None else [found]
    if not isinstance(value, list):
        return []
    if step["index"]:
        index = int(step["index"])
        return value[index : index + 1] if index >= 0 else value[index:][:1]
    if step["all"]:
        return value
    return [each for each in value if json_path(each, f".{step['key']}") == [step["value"]]]


def _age(value: Any, now: datetime) -> str | None:
    try:
        return age(value, now)
    except (TypeError, ValueError):
        return None  # no time, or one without a zone


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
