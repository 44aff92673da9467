"""Pod templates: when two are the same, and the hash that names what was made of one."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from typing import Any

TEMPLATE_HASH = "pod-template-hash"
_SAFE = "bcdfghjklmnpqrstvwxz2456789"
"""Letters and digits that form no words (Kubernetes: apimachinery's rand)."""


def same_template(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Equal but for the pod-template-hash, and for fields that one client writes empty and another omits."""
    return one == other or _essence(one) == _essence(other)


def template_hash(template: Mapping[str, Any]) -> str:
    """Ten safe characters, the same in every process."""
    return short_hash(_essence(template))


def short_hash(content: Any) -> str:
    """Ten safe characters for JSON content."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    number = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    characters = []
    for _ in range(10):
        number, index = divmod(number, len(_SAFE))
        characters.append(_SAFE[index])
    return "".join(characters)


def random_suffix() -> str:
    """Five safe characters, as generateName adds them."""
    return "".join(random.choices(_SAFE, k=5))


def _essence(template: Mapping[str, Any]) -> Any:
    meta = template.get("metadata") or {}
    labels = {key: value for key, value in (meta.get("labels") or {}).items() if key != TEMPLATE_HASH}
    return _without_empty({**template, "metadata": {**meta, "labels": labels}})


def _without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        pruned = ((key, _without_empty(item)) for key, item in value.items())
        return {key: item for key, item in pruned if item is not None and item != {} and item != []}
    if isinstance(value, list):
        return [_without_empty(item) for item in value]
    return value
