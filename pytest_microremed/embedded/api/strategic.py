"""Strategic merge patch: a merge that knows which lists have keys, with directives that start with `$`.

The semantics are those of the API server's library (`k8s.io/apimachinery/pkg/util/strategicpatch`), with its
order of merged items and its error texts. `kubectl patch --local` runs that library: tests compare with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_microremed.embedded.api.go_format import format_value, go_type
from pytest_microremed.embedded.api.schema import Schema

Map = dict[str, Any]

_PATCH = "$patch"
_RETAIN_KEYS = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE = "$deleteFromPrimitiveList/"


class StrategicPatchError(ValueError):
    """The patch makes no sense, in the words of the API server's library.

    Attributes:
        malformed: the server blames the client for it (400) and not itself (500).
    """

    def __init__(self, message: str, *, malformed: bool = False) -> None:
        self.malformed = malformed
        super().__init__(message)


def strategic_merge(original: Map, patch: Map, schema: Schema) -> Map:
    """`original` with `patch` merged into it; neither is changed.

    Raises:
        StrategicPatchError: a directive, or an item of a keyed list, is malformed.
    """
    if _PATCH in patch:
        return _directed_map(patch)
    merged = _retained(original, patch)
    ordered = _merge_ordered_lists(merged, patch, schema)
    for key, value in patch.items():
        if key == _RETAIN_KEYS or key.startswith(_ORDER) or key in ordered:
            continue
        if key.startswith(_DELETE):
            _delete_from_list(merged, key.removeprefix(_DELETE), value, schema)
        elif value is None:
            merged.pop(key, None)
        elif key not in merged or not _same_type(merged[key], value):
            merged.pop(key, None)
            if not _is_directed(value):
                merged[key] = _without_directives(_without_nulls(value))
        elif isinstance(value, dict):
            field = _field(schema, key)
            replaced = "replace" in field.rule.patch_strategies
            merged[key] = value if replaced else strategic_merge(merged[key], value, field)
        elif isinstance(value, list):
            merged[key] = _merge_list(merged[key], value, _field(schema, key))
        else:
            merged[key] = value
    return merged


def _directed_map(patch: Map) -> Map:
    directive = patch[_PATCH]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _PATCH}
    if directive == "delete":
        return {}
    raise _unknown_directive(directive, patch)


def _retained(original: Map, patch: Map) -> Map:
    """What `$retainKeys`, where the patch has it, leaves of a union such as a volume's source."""
    if _RETAIN_KEYS not in patch:
        return dict(original)
    retained = patch[_RETAIN_KEYS]
    if not isinstance(retained, list):
        raise StrategicPatchError("invalid patch format of retainKeys", malformed=True)
    for key, value in patch.items():
        directive = key == _RETAIN_KEYS or key.startswith((_DELETE, _ORDER))
        if not directive and value is not None and key not in retained:
            raise StrategicPatchError("invalid patch format of retainKeys", malformed=True)
    return {key: value for key, value in original.items() if key in retained}


def _merge_ordered_lists(merged: Map, patch: Map, schema: Schema) -> set[str]:
    """Merge the lists for which the patch sets an order, into `merged`; returns their names."""
    names = set()
    for directive, order in patch.items():
        if not directive.startswith(_ORDER):
            continue
        name = directive.removeprefix(_ORDER)
        field = _field(schema, name)
        live, changes = _list_or_error(merged, name), _list_or_error(patch, name)
        order = _list_or_error(patch, directive)
        key = field.rule.patch_key
        _check_order(changes, order, key)
        if name not in merged and name not in patch:
            continue
        names.add(name)
        if name not in patch:
            items = live
        elif name not in merged:
            items = _without_directives(changes)
        else:
            items = _merge_list(live, changes, field)
        _check_same_type(live, changes)
        merged[name] = _arrange(items, order, live, key)
    return names


def _check_order(changes: Sequence[Any], order: Sequence[Any], key: str) -> None:
    """The items of the patch must be among those of the order, and in the same order."""
    kept = [item for item in changes if not _is_directed(item, "delete")] if key else list(changes)
    if not order or not kept:
        return
    ranks = iter([_identity(item, key) for item in order])
    if not all(any(rank == _identity(item, key) for rank in ranks) for item in kept):
        shown, wanted = format_value(list(changes)), format_value(list(order))
        message = f"The order in patch list:\n{shown}\n doesn't match $setElementOrder list:\n{wanted}\n"
        raise StrategicPatchError(message)


def _delete_from_list(merged: Map, name: str, unwanted: Any, schema: Schema) -> None:
    if isinstance(unwanted, list) and isinstance(merged.get(name), list):
        field = _field(schema, name)
        if "merge" not in field.rule.patch_strategies:
            merged[name] = unwanted
        elif any(isinstance(item, dict) for item in (*merged[name], *unwanted)):
            merged[name] = _merge_list(merged[name], unwanted, field)
        else:
            gone = [_identity(item, "") for item in unwanted]
            merged[name] = [item for item in merged[name] if _identity(item, "") not in gone]


def _merge_list(original: list[Any], patch: list[Any], field: Schema) -> list[Any]:
    if "merge" not in field.rule.patch_strategies:
        return patch
    if not original and not patch:
        return original
    if _check_same_type(original, patch) is not dict:
        both = {_identity(item, ""): item for item in reversed([*original, *patch])}
        return _arrange(list(both.values()), patch, original, "")
    key = field.rule.patch_key
    changes = [item for item in patch if _PATCH not in item]
    if _has_replace_directive(patch):
        return _arrange(changes, [], changes, key)
    gone = [_identity(item, key) for item in patch if _PATCH in item]
    live = [item for item in original if key not in item or _identity(item, key) not in gone]
    return _arrange(_merge_items(live, changes, key, field.item), changes, live, key)


def _has_replace_directive(patch: Sequence[Map]) -> bool:
    """Whether one item says that the others replace the list; checks the items' directives on the way."""
    replaces = False
    for item in patch:
        directive = item.get(_PATCH)
        if directive == "replace":
            replaces = True
        elif directive == "merge":
            raise StrategicPatchError("merging lists cannot yet be specified in the patch")
        elif directive is not None and directive != "delete":
            raise _unknown_directive(directive, item)
    return replaces


def _merge_items(live: list[Map], changes: Sequence[Map], key: str, item_schema: Schema) -> list[Map]:
    merged = list(live)
    for change in changes:
        identity = _identity(change, key)
        for position, item in enumerate(merged):
            if key in item and _identity(item, key) == identity:
                merged[position] = strategic_merge(item, change, item_schema)
                break
        else:
            merged.append(change)
    return merged


def _arrange(items: list[Any], wanted: Sequence[Any], live: Sequence[Any], key: str) -> list[Any]:
    """`items` in the order of `wanted`, with those it does not name where `live` had them.

    The two ordered halves merge like sorted lists; of a pair that `live` does not order the wanted is first.
    """
    wanted_ranks = _ranks(wanted, key)
    live_ranks = _ranks([item for item in live if not key or key in item], key)
    named = [item for item in items if _identity(item, key) in wanted_ranks]
    named.sort(key=lambda item: wanted_ranks[_identity(item, key)])
    others = [item for item in items if _identity(item, key) not in wanted_ranks]
    others.sort(key=lambda item: live_ranks.get(_identity(item, key), -1))
    arranged = []
    while named and others:
        named_rank = live_ranks.get(_identity(named[0], key))
        other_rank = live_ranks.get(_identity(others[0], key))
        other_first = named_rank is not None and other_rank is not None and other_rank < named_rank
        arranged.append((others if other_first else named).pop(0))
    return [*arranged, *named, *others]


def _ranks(items: Sequence[Any], key: str) -> dict[tuple[type, Any], int]:
    ranks: dict[tuple[type, Any], int] = {}
    for rank, item in enumerate(items):
        ranks.setdefault(_identity(item, key), rank)
    return ranks


def _identity(item: Any, key: str) -> tuple[type, Any]:
    """What an item is known by: its merge key's value, or itself, and the type: `1` is not `true`."""
    if not key:
        return type(item), item
    if not isinstance(item, dict):
        raise StrategicPatchError("value for key 0 is not a map.")
    if key not in item:
        message = f"map: {format_value(item)} does not contain declared merge key: {key}"
        raise StrategicPatchError(message)
    return type(item[key]), item[key]


def _check_same_type(*lists: Sequence[Any]) -> type:
    kinds = {type(item) for items in lists for item in items}
    if not kinds:
        raise StrategicPatchError("no elements in any of the given slices")
    if len(kinds) > 1:
        shown = format_value([list(items) for items in lists])
        raise StrategicPatchError(f"list element types are not identical: {shown}")
    if kinds == {list}:
        raise StrategicPatchError("lists of lists are not supported")
    return kinds.pop()


def _field(schema: Schema, key: str) -> Schema:
    if schema.type == "object" and not schema.open and key not in schema.properties:
        raise StrategicPatchError(f'unable to find api field in struct {schema.go_name} for the json field "{key}"')
    return schema.child(key)


def _list_or_error(holder: Map, key: str) -> list[Any]:
    value = holder.get(key, [])
    if not isinstance(value, list):
        received = go_type(value)
        raise StrategicPatchError(f"expected a []interface {{}}, but received a {received}")
    return value


def _unknown_directive(directive: Any, item: Map) -> StrategicPatchError:
    return StrategicPatchError(f"unknown patch type: {format_value(directive)} in map: {format_value(item)}")


def _is_directed(value: Any, directive: str | None = None) -> bool:
    return isinstance(value, dict) and _PATCH in value and directive in (None, value[_PATCH])


def _same_type(left: Any, right: Any) -> bool:
    return type(left) is type(right)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _without_directives(value: Any) -> Any:
    """A value that there is nothing to merge with: maps that carry `$patch` mean nothing in it."""
    if isinstance(value, dict):
        return {key: _without_directives(item) for key, item in value.items() if not _is_directed(item)}
    if isinstance(value, list):
        return [_without_directives(item) for item in value if not _is_directed(item)]
    return value
