"""Reading the benchmark's YAML files strictly: what is wrong becomes one UsageError line with file, key and
known keys.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

import yaml

from pytest_microremed.errors import UsageError


class _DataclassInstance(Protocol):
    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]


D = TypeVar("D", bound=_DataclassInstance)


SafeLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""YAML's safe loader, the fast one where PyYAML was built with it."""


class _StrictLoader(SafeLoader):  # type: ignore[misc]
    """YAML's loader keeps the last of two equal keys silently; here a key given twice is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if key_node.tag == "tag:yaml.org,2002:merge":
                continue
            key = self.construct_object(key_node, deep=True)
            if key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} is given twice", key_node.start_mark)
            seen.add(key)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


_StrictLoader.add_constructor("tag:yaml.org,2002:map", lambda loader, node: loader.construct_mapping(node, deep=True))


def read_yaml(path: Path) -> Any:
    """The contents of a YAML file; UsageError if it cannot be read, is no YAML, or gives a key twice."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _StrictLoader)  # noqa: S506  a SafeLoader
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise UsageError(f"{path}:{line} is no YAML: {getattr(error, 'problem', None) or error}") from None


def build(cls: type[D], data: Any, path: Path, where: str = "") -> D:
    """A dataclass from a mapping of its fields, nested ones and all; `where` is the key that `data` is the
    value of.

    Fields may be str, int, float, bool, Any, Literal, X | None, tuple[X, ...], Mapping[str, X] or dict[str,
    X], and dataclasses. UsageError names the file, the key and, for an unknown key, the known ones. No value
    is converted, but an int is good enough for a float: YAML's `no`, `1.20` and `08` are to be quoted where a
    string is meant.
    """
    if not isinstance(data, Mapping):
        raise _wrong(path, where, "a mapping", data)
    hints = _hints(cls)
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
    for key in data:
        if key not in fields:
            raise UsageError(f"{path}: {_join(where, key)}: unknown key; known: {', '.join(sorted(fields))}")
    for name, field in fields.items():
        required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        if required and name not in data:
            raise UsageError(f"{path}: {_join(where, name)}: missing")
    return cls(**{key: _value(hints[key], value, path, _join(where, key)) for key, value in data.items()})


@functools.cache
def _hints(cls: type) -> dict[str, Any]:
    return typing.get_type_hints(cls)


def _value(hint: Any, value: Any, path: Path, where: str) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if origin in (typing.Union, types.UnionType):
        if value is None and type(None) in args:
            return None
        (hint,) = (arg for arg in args if arg is not type(None))
        return _value(hint, value, path, where)
    if origin is typing.Literal:
        if value not in args:
            raise UsageError(f"{path}: {where}: {value!r} is none of {', '.join(map(str, args))}")
        return value
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong(path, where, "a list", value)
        return tuple(_value(args[0], item, path, f"{where}[{n}]") for n, item in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            raise _wrong(path, where, "a mapping", value)
        for key in value:
            if not isinstance(key, str):
                raise _wrong(path, _join(where, key), "a key that is a string", key)
        return {key: _value(args[1], item, path, _join(where, key)) for key, item in value.items()}
    if dataclasses.is_dataclass(hint):
        return build(hint, value, path, where)  # type: ignore[arg-type]
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise _wrong(
            path,
            where,
            {str: "a string", int: "an integer", float: "a number", bool: "true or false"}[hint],
            value,
        )
    return value


def _wrong(path: Path, where: str, expected: str, value: Any) -> UsageError:
    place = f"{where}: " if where else ""
    return UsageError(f"{path}: {place}must be {expected}, not {value!r:.60}")


def _join(where: str, key: object) -> str:
    return f"{where}.{key}" if where else str(key)
