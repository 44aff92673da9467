"""Until the schema modules are all there: the simplest behaviour that lets plain JSON objects be written."""

from __future__ import annotations

import importlib
from types import SimpleNamespace
from typing import Any

from pytest_microremed.embedded.api.errors import unknown_path


def _module(name: str, **fallback: Any) -> Any:
    try:
        return importlib.import_module(f"pytest_microremed.embedded.api.{name}")
    except ModuleNotFoundError:
        return SimpleNamespace(**fallback)


def _merge(content_type: str, current: Any, body: Any, resource: Any) -> Any:
    if not isinstance(body, dict) or not isinstance(current, dict):
        return body
    merged = {key: _merge(content_type, current.get(key), value, resource) for key, value in body.items()}
    return {key: value for key, value in {**current, **merged}.items() if value is not None}


def _no_schema(*args: Any) -> Any:
    raise unknown_path()


apply = _module("apply", track_update=lambda current, new, *args, **kwargs: new,
                server_side_apply=lambda current, body, *args: _merge("", current or {}, body, None))  # fmt: skip
defaults = _module("defaults", apply_defaults=lambda resource, obj: obj)
patch = _module("patch", apply_patch=_merge)
validation = _module("validation", check_fields=lambda resource, obj, mode: (obj, []),
                     validate_create=lambda *args: None, validate_update=lambda *args: None)  # fmt: skip
openapi = _module("openapi", index=_no_schema, document=_no_schema)
