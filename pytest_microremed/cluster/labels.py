"""The labels by which the harness knows its own objects again."""

from __future__ import annotations

from collections.abc import Mapping

from pytest_microremed.cluster.kinds import Obj

MANAGED_BY: Mapping[str, str] = {"app.kubernetes.io/managed-by": "pytest-microremed"}
"""On everything that the harness creates."""
PART_OF = "app.kubernetes.io/part-of"
"""Names the system that an object belongs to."""


def is_ours(obj: Obj) -> bool:
    """Whether the harness has created the object."""
    labels = obj["metadata"].get("labels") or {}
    return all(labels.get(key) == value for key, value in MANAGED_BY.items())
