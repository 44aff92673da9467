"""Applying one configuration to one object: the merge, what is given up, and the conflicts.

Source: the updater of `sigs.k8s.io/structured-merge-diff`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_microremed.embedded.api.errors import ApiError, Cause, apply_conflict
from pytest_microremed.embedded.api.field_paths import Path, PathSet, encode_fields, format_path, reading_order
from pytest_microremed.embedded.api.managed_fields import (
    Managed,
    Manager,
    Managers,
    find_conflicts,
    manageable,
    release,
)
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.schema import Schema
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.typed_value import compare, field_set, merge, remove_items, with_named_prefixes

Conflict = tuple[Manager, Path]


class ConflictsError(Exception):
    """Fields to be changed that others manage."""

    def __init__(self, conflicts: list[Conflict]) -> None:
        self.conflicts = conflicts
        super().__init__(conflicts)


@dataclass(frozen=True)
class Application:
    """One configuration to be applied to one object."""

    live: Object
    body: Object
    schema: Schema
    resource: Resource
    workflow: Manager

    def run(self, managers: Managers, time: str, *, force: bool) -> tuple[Object, dict[Manager, Managed]]:
        """The new object and its managers. Raises ConflictsError unless forced."""
        before = managers.get(self.workflow)
        applied = field_set(self.body, self.schema)
        fields = manageable(applied, self.resource, self.workflow.subresource)
        now_managed = {**managers, self.workflow: Managed(fields, self.resource.api_version)}
        merged = merge(self.live, self.body, self.schema)
        if before is not None:
            merged = self._without_given_up(merged, before.fields, now_managed)
        changes = compare(self.live, merged, self.schema)
        conflicts = find_conflicts(now_managed, changes, self.workflow)
        if conflicts and not force:
            raise ConflictsError(_listed(conflicts))
        left = release(now_managed, changes, self.workflow)
        if self.workflow in left:
            earlier = before.time if before else None
            changed = merged != self.live
            left[self.workflow] = replace(left[self.workflow], time=time if changed else earlier)
        return merged, left

    def _without_given_up(self, merged: Object, before: PathSet, managers: Managers) -> Object:
        """Remove what this manager applied before and not now, but not what others manage or nobody did."""
        managed = frozenset().union(*(managed.fields for managed in managers.values()))
        owned = with_named_prefixes(managed, self.schema)
        last = with_named_prefixes(before, self.schema)
        everything = with_named_prefixes(field_set(merged, self.schema), self.schema)
        pruned = self._field_set_without(merged, last)
        pruned = self._field_set_without(merged, everything - (pruned | owned))
        given_up = (everything - pruned) & last
        remaining: Object = remove_items(merged, encode_fields(given_up), self.schema)
        return remaining

    def _field_set_without(self, value: Object, unwanted: PathSet) -> PathSet:
        left = remove_items(value, encode_fields(unwanted), self.schema)
        return with_named_prefixes(field_set(left, self.schema), self.schema)


def conflict_error(conflicts: list[Conflict]) -> ApiError:
    """The 409 that lists them, by manager."""
    causes = [
        Cause(format_path(path), f"conflict with {manager}", "FieldManagerConflict") for manager, path in conflicts
    ]
    if len(conflicts) == 1:
        manager, path = conflicts[0]
        message = f"Apply failed with 1 conflict: conflict with {manager}: {format_path(path)}"
        return apply_conflict(message, causes)
    lines = []
    for manager in dict.fromkeys(manager for manager, _ in conflicts):
        lines.append(f"conflicts with {manager}:")
        lines.extend(f"- {format_path(path)}" for other, path in conflicts if other == manager)
    shown = "\n".join(lines)
    return apply_conflict(f"Apply failed with {len(conflicts)} conflicts: {shown}", causes)


def _listed(conflicts: dict[Manager, PathSet]) -> list[Conflict]:
    return [(manager, path) for manager in sorted(conflicts) for path in sorted(conflicts[manager], key=reading_order)]
