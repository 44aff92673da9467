"""Defaults of custom resources: the `default` values of their definition's schema (structural schemas)."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def default_custom(value: Any, schema: Mapping[str, Any]) -> Any:
    """The value with the defaults of the fields it lacks, at every depth. A forbidden null counts as lacking."""
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        values = schema.get("additionalProperties")
        filled = {}
        for key, item in value.items():
            inner = properties.get(key, values if isinstance(values, Mapping) else {})
            if item is None and "default" in inner and not inner.get("nullable"):
                item = copy.deepcopy(inner["default"])
            filled[key] = default_custom(item, inner)
        for key, inner in properties.items():
            if key not in filled and "default" in inner:
                filled[key] = default_custom(copy.deepcopy(inner["default"]), inner)
        return filled
    if isinstance(value, list):
        items = schema.get("items", {})
        return [default_custom(item, items) for item in value]
    return value
