"""Sets of field paths, and the form that `metadata.managedFields` keeps them in (FieldsV1).

A path is a tuple of elements in FieldsV1's own notation: `f:name` a field, `k:{"name":"web"}` the item of
a keyed list, `v:"x"` the item of a set. A set of paths is a plain frozenset. Source:
`sigs.k8s.io/structured-merge-diff/fieldpath`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, TypeAlias

from pytest_microremed.embedded.api.go_format import format_json

Path: TypeAlias = tuple[str, ...]
PathSet: TypeAlias = frozenset[Path]
FieldsV1: TypeAlias = dict[str, Any]

_SELF = "."
_KINDS = {"f": 0, "k": 1, "v": 2, "i": 3}


def field_element(name: str) -> str:
    return f"f:{name}"


def key_element(keys: dict[str, Any]) -> str:
    return f"k:{format_json(keys)}"


def value_element(value: Any) -> str:
    return f"v:{format_json(value)}"


def encode_fields(paths: Iterable[Path]) -> FieldsV1:
    """The set as FieldsV1: a tree, where `.` marks an inner node that is itself a member."""
    members = frozenset(paths)
    tree: FieldsV1 = {}
    for path in sorted(members, key=_tree_order):
        node = tree
        for depth, element in enumerate(path):
            if depth and path[:depth] in members:
                node.setdefault(_SELF, {})
            node = node.setdefault(element, {})
    return tree


def decode_fields(fields: FieldsV1) -> PathSet:
    """The set that a FieldsV1 tree stands for."""
    return frozenset(_walk(fields, ()))


def is_member(node: FieldsV1) -> bool:
    """Whether a node of the tree is itself in the set, and not only a step to what is."""
    return not node or _SELF in node


def reading_order(path: Path) -> tuple[Any, ...]:
    """Sort key of the order in which conflicts are listed: at each level the leaves, then what is deeper."""
    return tuple((int(depth < len(path) - 1), _element_order(element)) for depth, element in enumerate(path))


def format_path(path: Path) -> str:
    """The path as messages show it: `.spec.template.spec.containers[name="web"].image`."""
    return "".join(_format_element(element) for element in path)


def _walk(fields: FieldsV1, path: Path) -> Iterable[Path]:
    for element, node in fields.items():
        if element == _SELF:
            continue
        here = (*path, element)
        if is_member(node):
            yield here
        yield from _walk(node, here)


def _format_element(element: str) -> str:
    kind, _, text = element.partition(":")
    if kind == "f":
        return f".{text}"
    if kind == "k":
        return f"[{','.join(f'{name}={format_json(value)}' for name, value in json.loads(text).items())}]"
    return f"[={text}]" if kind == "v" else f"[{text}]"


def _tree_order(path: Path) -> tuple[Any, ...]:
    return tuple(_element_order(element) for element in path)


@lru_cache(maxsize=4096)
def _element_order(element: str) -> tuple[Any, ...]:
    """Fields by name, then items by keys or value; numbers sort as numbers and before text."""
    kind, _, text = element.partition(":")
    if kind == "f":
        return 0, text
    content = json.loads(text)
    parts = content.items() if isinstance(content, dict) else [("", content)]
    return _KINDS[kind], tuple((name, isinstance(value, str), value) for name, value in parts)
