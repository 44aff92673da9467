"""Remediators by name, dotted path or playbook file."""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_microremed.errors import MicroremedError, UsageError
from pytest_microremed.incident import Remediator

_BUILT_IN = {
    "noop": "pytest_microremed.remediators.noop:Noop",
    "oracle": "pytest_microremed.remediators.oracle:Oracle",
    "restart": "pytest_microremed.remediators.restart:Restart",
}
_FORMS = "a dotted path pkg.mod:attr, or a playbook file or folder"
_SCHEME = re.compile(r"(?:[a-z][a-z0-9+.-]*://|cmd:)")


@dataclass(frozen=True)
class RemediatorContext:
    """What a factory is told of the run."""

    model: str | None
    """The value of `--model`."""
    t_max: int
    """Further attempts after the first."""


Factory = Callable[[RemediatorContext], Remediator]
"""Makes the remediator of a run. Raises UsageError if it is asked for the impossible."""


class Registry:
    """The remediators that can be chosen. The built-in ones are there from the start."""

    def __init__(self) -> None:
        self._entries: dict[str, Callable[..., Any] | str] = dict(_BUILT_IN)

    def remediator(self, name: str, factory: Callable[..., Any] | str) -> None:
        """Give a name to a factory, a class, or the dotted path of one, imported only when it is chosen.

        A factory or class is called with a RemediatorContext if its first parameter has no default or is
        named `context`, else with nothing. Raises UsageError if the name is taken or could not be chosen.
        """
        if not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name) or _is_path(name):
            raise UsageError(f"remediator {name!r} of {_origin(factory)}: a name has letters, digits, - and _")
        if name in self._entries:
            first = _origin(self._entries[name])
            raise UsageError(f"remediator {name!r} is registered twice: {first} and {_origin(factory)}")
        self._entries[name] = factory

    def names(self) -> list[str]:
        """The names that `resolve` takes."""
        return sorted(self._entries)

    def resolve(self, spec: str) -> Factory:
        """The factory of a name, dotted path `pkg.mod:attr`, playbook file or folder. Raises UsageError."""
        if spec in self._entries:
            entry = self._entries[spec]
            made_from = _load(entry) if isinstance(entry, str) else entry
            return functools.partial(_make, spec, made_from)
        if _SCHEME.match(spec):
            raise UsageError(f"remediator {spec!r}: only {', '.join(self.names())}, {_FORMS} can be used")
        if _is_path(spec):
            from pytest_microremed.remediators.script import Script

            return lambda context: Script(Path(spec))
        if ":" in spec:
            return functools.partial(_make, spec, _load(spec))
        close = difflib.get_close_matches(spec, self.names(), n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UsageError(f"no remediator {spec!r}: {hint}known: {', '.join(self.names())}, {_FORMS}")


def _is_path(spec: str) -> bool:
    return spec.endswith((".yml", ".yaml", ".yml.j2")) or "/" in spec or Path(spec).is_dir()


def _origin(entry: Callable[..., Any] | str) -> str:
    if isinstance(entry, str):
        return entry
    return f"{getattr(entry, '__module__', '?')}:{getattr(entry, '__qualname__', repr(entry))}"


def _load(path: str) -> Any:
    """What a dotted path names."""
    module_name, _, names = path.partition(":")
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        hint = " (is its folder on the ini option pythonpath, or on PYTHONPATH?)"
        own = module_name.split(".")[0] == (error.name or "").split(".")[0]
        raise UsageError(f"remediator {path!r}: {error}{hint if own else ''}") from error
    except Exception as error:
        raise UsageError(f"remediator {path!r}: importing {module_name} raised {_describe(error)}") from error
    for name in names.split("."):
        if not hasattr(found, name):
            raise UsageError(f"remediator {path!r}: {module_name} has no {names or 'empty name'}")
        found = getattr(found, name)
    if not callable(found) and not hasattr(found, "remediate"):
        raise UsageError(f"remediator {path!r}: it has no method remediate, and is no factory")
    return found


def _make(spec: str, found: Any, context: RemediatorContext) -> Remediator:
    """The remediator that a class, a factory or a ready object stands for."""
    made = found
    if inspect.isclass(found) or not hasattr(found, "remediate"):
        try:
            made = found(context) if _takes_context(found) else found()
        except MicroremedError:
            raise
        except Exception as error:
            raise UsageError(f"remediator {spec!r} could not be made: {_describe(error)}") from error
    if not callable(getattr(made, "remediate", None)):
        raise UsageError(f"remediator {spec!r}: {_origin(found)} gives no object with a method remediate")
    return made  # type: ignore[no-any-return]


def _takes_context(factory: Callable[..., Any]) -> bool:
    try:
        parameters = list(inspect.signature(factory).parameters.values())
    except ValueError:  # some built-in types have none
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return bool(positional) and (positional[0].default is inspect.Parameter.empty or positional[0].name == "context")


def _describe(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
