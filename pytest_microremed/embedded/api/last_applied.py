"""The annotation of client-side `kubectl apply`: how its users come over to server-side apply, and may go back."""

from __future__ import annotations

import json

from pytest_microremed.embedded.api.field_paths import PathSet
from pytest_microremed.embedded.api.go_format import format_json
from pytest_microremed.embedded.api.schema import Schema
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.typed_value import compare, field_set

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def unchanged_since_last_applied(live: Object, schema: Schema) -> PathSet:
    """What client-side apply set and nobody has changed: server-side apply may take it over."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED, "")
    try:
        last = json.loads(text)
        if last.get("apiVersion") != live["apiVersion"]:
            return frozenset()
        changes = compare(last, live, schema)
        return field_set(last, schema) - changes.modified - changes.added - changes.removed
    except (ValueError, AttributeError):
        return frozenset()


def with_last_applied(obj: Object, body: Object) -> Object:
    """The object with the annotation, where it has one, in step with the configuration that was applied."""
    meta = obj.get("metadata", {})
    annotations = meta.get("annotations") or {}
    if not annotations.get(LAST_APPLIED):
        return obj
    applied_meta = {**(body.get("metadata") or {})}
    if applied_meta.get("annotations"):
        own = {key: value for key, value in applied_meta["annotations"].items() if key != LAST_APPLIED}
        applied_meta["annotations"] = own
    text = format_json({**body, "metadata": applied_meta}) + "\n"
    return {**obj, "metadata": {**meta, "annotations": {**annotations, LAST_APPLIED: text}}}
