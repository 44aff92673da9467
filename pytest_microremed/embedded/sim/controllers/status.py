"""Writing status: whole, only when it differs, with condition lists kept as the API conventions want them.

Source: Kubernetes API conventions, "Typical status properties".
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypeAlias

from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object, Store, timestamp

Condition: TypeAlias = dict[str, Any]


def write_status(store: Store, resource: Resource, obj: Object, status: Object) -> Object:
    """Put `status` in place of the object's; nothing happens if the object has gone or has it already."""
    meta = obj["metadata"]
    current = store.get(resource, meta.get("namespace"), meta["name"])
    if current is None or current["metadata"]["uid"] != meta["uid"] or current.get("status") == status:
        return obj
    return store.update(resource, {**current, "status": status})


def counts(**numbers: int) -> dict[str, int]:
    """The numbers that are not zero: the API leaves zero counts out."""
    return {name: number for name, number in numbers.items() if number}


def conditions_of(obj: Object) -> list[Condition]:
    return list(obj.get("status", {}).get("conditions") or ())


def find_condition(conditions: list[Condition], type_: str) -> Condition | None:
    return next((condition for condition in conditions if condition["type"] == type_), None)


def without_condition(conditions: list[Condition], type_: str) -> list[Condition]:
    return [condition for condition in conditions if condition["type"] != type_]


def condition(now: datetime, type_: str, status: str, reason: str, message: str, **more: Any) -> Condition:
    """A condition that came about now."""
    return {
        "type": type_,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": timestamp(now),
        **more,
    }


def with_condition(conditions: list[Condition], new: Condition) -> list[Condition]:
    """The list with `new` at its end; an old one of the same status and reason stays, with its message."""
    old = find_condition(conditions, new["type"])
    if old and (old["status"], old.get("reason")) == (new["status"], new.get("reason")):
        return conditions
    if old and old["status"] == new["status"]:
        new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    return [*without_condition(conditions, new["type"]), new]
