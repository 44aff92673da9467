"""The rules of each kind, checked before an object is stored; all that are broken are told."""

from __future__ import annotations

from pytest_microremed.embedded.api.field_check import check_fields
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object

__all__ = ["check_fields", "validate_create", "validate_update"]


def validate_create(resource: Resource, obj: Object) -> None:
    """Raises ApiError 422 for an object that breaks the rules of its kind."""


def validate_update(resource: Resource, obj: Object, old: Object) -> None:
    """Raises ApiError 422 for a change that the rules of the kind do not allow."""
