"""Objects as server-side apply sees them: which paths they have, how they differ, merge, and lose fields.

The semantics, and the words of the errors, are those of `sigs.k8s.io/structured-merge-diff/typed`: structs
and maps merge by field, keyed lists and sets by item, everything atomic as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from pytest_microremed.embedded.api.field_paths import (
    FieldsV1,
    Path,
    PathSet,
    field_element,
    is_member,
    key_element,
    value_element,
)
from pytest_microremed.embedded.api.schema import Schema

Shape = Literal["leaf", "map", "list"]
_KEY_DEFAULTS = {"protocol": "TCP"}
"""Keys of list items that have a default, so that an item may leave them out."""


class TypedValueError(ValueError):
    """The value does not have the schema's form."""


class _Missing:
    """There is no value, as opposed to null."""


_MISSING = _Missing()


@dataclass
class Comparison:
    """The paths in which two objects differ; a path is in one of them at most."""

    added: set[Path] = field(default_factory=set)
    removed: set[Path] = field(default_factory=set)
    modified: set[Path] = field(default_factory=set)


def field_set(value: Any, schema: Schema) -> PathSet:
    """Every leaf and list item that the object mentions."""
    return frozenset(_fields(value, schema, ()))


def compare(left: Any, right: Any, schema: Schema) -> Comparison:
    """How `right` differs from `left`."""
    comparison = Comparison()
    _compare(left, right, schema, (), comparison)
    return comparison


def merge(left: Any, right: Any, schema: Schema) -> Any:
    """`left` with what `right` mentions set to its values; nothing is removed."""
    shape = _shape(right, schema)
    if shape == "leaf" or left is None or _shape(left, schema) != shape:
        return right
    if shape == "map":
        if right is None:
            return left
        merged = dict(left)
        for key, value in right.items():
            merged[key] = merge(left[key], value, schema.child(key)) if key in left else value
        return merged
    return _merge_lists(left, right or [], schema)


def remove_items(value: Any, unwanted: FieldsV1, schema: Schema) -> Any:
    """The value without the fields and items of the set; what loses all it had becomes null."""
    shape = _shape(value, schema)
    if shape == "leaf":
        return None if isinstance(value, dict | list) else value
    if not value:
        return None
    if shape == "list":
        items = zip(value, list_elements(value, schema), strict=True)
        kept = [_without(item, unwanted.get(element), schema.item) for item, element in items]
        return [item for item in kept if item is not _MISSING] or None
    left = {key: _without(item, unwanted.get(field_element(key)), schema.child(key)) for key, item in value.items()}
    return {key: item for key, item in left.items() if item is not _MISSING} or None


def with_named_prefixes(paths: PathSet, schema: Schema) -> PathSet:
    """The set with the structs on the way to its members, which removal may then empty and drop."""
    prefixes = set()
    for path in paths:
        at: Schema = schema
        for depth, element in enumerate(path[:-1], start=1):
            kind, _, name = element.partition(":")
            if kind == "f" and name in at.properties:
                prefixes.add(path[:depth])
            at = at.child(name) if kind == "f" else at.item
    return paths | prefixes


def list_elements(items: list[Any], schema: Schema) -> list[str]:
    """The path elements of a list's items. Raises TypedValueError for an item without its keys."""
    return [_list_element(item, index, schema) for index, item in enumerate(items)]


def _without(value: Any, unwanted: FieldsV1 | None, schema: Schema) -> Any:
    if unwanted is None:
        return value
    return _MISSING if is_member(unwanted) else remove_items(value, unwanted, schema)


def _shape(value: Any, schema: Schema) -> Shape:
    if schema.type == "any":
        return "map" if isinstance(value, dict) else "leaf"
    if schema.type in ("object", "map") and (value is None or isinstance(value, dict)):
        return "leaf" if schema.atomic else "map"
    if schema.type == "array" and (value is None or isinstance(value, list)):
        return "list" if schema.rule.list_type in ("map", "set") else "leaf"
    return "leaf"


def _list_element(item: Any, index: int, schema: Schema) -> str:
    if schema.rule.list_type == "set":
        if isinstance(item, dict | list) or item is None:
            raise TypedValueError(f"element {index}: associative list without keys has an element that's a map type")
        return value_element(item)
    if not isinstance(item, dict):
        raise TypedValueError(f"element {index}: associative list with keys may not have non-map elements")
    names = schema.rule.map_keys
    keys = {name: item.get(name, _KEY_DEFAULTS.get(name)) for name in names}
    keys = {name: value for name, value in keys.items() if value is not None}
    if not keys:
        listed = " ".join(f'"{name}"' for name in names)
        raise TypedValueError(
            f"element {index}: associative list with keys has an element that omits all key fields [{listed}]"
            " (and doesn't have default values for any key fields)"
        )
    return key_element(keys)


def _fields(value: Any, schema: Schema, path: Path) -> Iterator[Path]:
    shape = _shape(value, schema)
    if shape == "leaf":
        yield path
    elif shape == "map":
        for key, item in (value or {}).items():
            here = (*path, field_element(key))
            yield from _fields(item, schema.child(key), here)
            if item is None or item == {} or key not in schema.properties:
                yield here
    else:
        elements = list_elements(value or [], schema)
        for item, element in zip(value or [], elements, strict=True):
            yield (*path, element)
            if elements.count(element) == 1:
                yield from _fields(item, schema.item, (*path, element))


def _compare(left: Any, right: Any, schema: Schema, path: Path, result: Comparison) -> None:
    present = left if right is _MISSING else right
    shape = _shape(present, schema)
    mixed = _MISSING not in (left, right) and _shape(left, schema) != shape
    if shape == "leaf" or mixed or not any(_has_content(side) for side in (left, right)):
        _compare_leaves(left, right, path, result)
        return
    if shape == "map":
        old, new = _or_empty(left, {}), _or_empty(right, {})
        for key in {**old, **new}:
            here = (*path, field_element(key))
            field_schema = schema.child(key)
            _compare(old.get(key, _MISSING), new.get(key, _MISSING), field_schema, here, result)
    else:
        _compare_lists(_or_empty(left, []), _or_empty(right, []), schema, path, result)
    if left is _MISSING:
        result.added.add(path)
    elif right is _MISSING:
        result.removed.add(path)


def _compare_leaves(left: Any, right: Any, path: Path, result: Comparison) -> None:
    if left is _MISSING:
        result.added.add(path)
    elif right is _MISSING:
        result.removed.add(path)
    elif left != right:
        result.modified.add(path)


def _compare_lists(old: list[Any], new: list[Any], schema: Schema, path: Path, result: Comparison) -> None:
    """Item by item; items that share an element, which updates may store, count as one whole."""
    before, after = _by_element(old, schema), _by_element(new, schema)
    for element in {**before, **after}:
        here = (*path, element)
        olds, news = before.get(element, []), after.get(element, [])
        if len(olds) <= 1 and len(news) <= 1:
            left, right = (*olds, _MISSING)[0], (*news, _MISSING)[0]
            _compare(left, right, schema.item, here, result)
        elif len(olds) > 1 and len(news) > 1:
            if olds != news:
                result.modified.add(here)
        elif len(olds) > 1:
            for item in news:
                _compare(_MISSING, item, schema.item, here, result)
            result.removed.add(here)
        else:
            for item in olds:
                _compare(item, _MISSING, schema.item, here, result)
            result.added.add(here)


def _by_element(items: list[Any], schema: Schema) -> dict[str, list[Any]]:
    grouped: dict[str, list[Any]] = {}
    for item, element in zip(items, list_elements(items, schema), strict=True):
        grouped.setdefault(element, []).append(item)
    return grouped


def _merge_lists(left: list[Any], right: list[Any], schema: Schema) -> list[Any]:
    """Items of both: shared ones in the order of `right`, those of `left` alone where they were."""
    old, new = list_elements(left, schema), list_elements(right, schema)
    before, after = _by_element(left, schema), dict(zip(new, right, strict=True))
    shared = iter([element for element in new if element in before])
    wanted = next(shared, None)
    merged: list[Any] = []
    done: set[str] = set()

    def take(element: str) -> None:
        olds = before.get(element, [])
        only = olds[0] if len(olds) == 1 else None
        merged.append(merge(only, after[element], schema.item))
        done.add(element)

    at_old = at_new = 0
    while at_old < len(old) or at_new < len(new):
        if at_old < len(old) and at_new < len(new):
            element = old[at_old]
            if element == new[at_new]:
                take(element)
                at_old, at_new, wanted = at_old + 1, at_new + 1, next(shared, None)
                continue
            if element in after and wanted not in (None, element):
                at_old += 1
                continue
        if at_old < len(old):
            element = old[at_old]
            if element not in after:
                merged.append(left[at_old])
                at_old += 1
                continue
            if element in done:
                at_old += 1
        if at_new < len(new):
            element = new[at_new]
            take(element)
            at_new += 1
            if element == wanted:
                wanted = next(shared, None)
    return merged


def _has_content(side: Any) -> bool:
    return side is not _MISSING and bool(side)


def _or_empty(side: Any, empty: Any) -> Any:
    return empty if side is _MISSING or side is None else side
