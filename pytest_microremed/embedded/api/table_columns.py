"""The columns of each kind's table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object


@dataclass(frozen=True)
class Column:
    """One column: how it is announced, and its cell for an object at a moment."""

    name: str
    cell: Callable[[Object, datetime], Any]
    type: str = "string"
    priority: int = 0

    def definition(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "format": "name" if self.name == "Name" else "",
            "description": "",
            "priority": self.priority,
        }


def columns_of(resource: Resource) -> list[Column]:
    return [
        Column("Name", lambda obj, now: obj["metadata"]["name"]),
        Column("Created At", lambda obj, now: obj["metadata"]["creationTimestamp"]),
    ]
