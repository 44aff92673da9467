"""Rules of the metadata of every object, and of label selectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_microremed.embedded.api import resources as r
from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    forbidden_value,
    invalid_value,
    required,
    too_long,
    unchanged,
)
from pytest_microremed.embedded.api.name_rules import (
    dns_1035_label,
    dns_label,
    dns_subdomain,
    label_key,
    label_value,
    path_segment,
)
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object

_NAME_RULES: dict[Resource, Callable[[str], list[str]]] = {
    r.NAMESPACES: dns_label,
    r.SERVICES: dns_1035_label,
    r.ROLES: path_segment,
    r.ROLE_BINDINGS: path_segment,
    r.CLUSTER_ROLES: path_segment,
    r.CLUSTER_ROLE_BINDINGS: path_segment,
}
_ANNOTATIONS_SIZE = 256 * 1024
_OWNER_FIELDS = ("apiVersion", "kind", "name", "uid")


def metadata_causes(resource: Resource, obj: Object) -> Causes:
    meta = obj.get("metadata") or {}
    name = meta.get("name", "")
    if not name:
        yield required("metadata.name", "name or generateName is required")
    else:
        yield from all_invalid("metadata.name", name, _NAME_RULES.get(resource, dns_subdomain)(name))
    yield from label_causes(meta.get("labels"), "metadata.labels")
    yield from _annotation_causes(meta.get("annotations"), "metadata.annotations")
    yield from _owner_causes(meta.get("ownerReferences") or ())
    for finalizer in meta.get("finalizers") or ():
        yield from all_invalid("metadata.finalizers", finalizer, label_key(finalizer))


def metadata_update_causes(resource: Resource, new: Object, old: Object) -> Causes:
    new_meta, old_meta = new.get("metadata") or {}, old.get("metadata") or {}
    if old_meta.get("deletionTimestamp"):
        added = sorted(set(new_meta.get("finalizers") or ()) - set(old_meta.get("finalizers") or ()))
        if added:
            listed = ", ".join(f'"{finalizer}"' for finalizer in added)
            yield forbidden_value(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new finalizers"
                f" []string{{{listed}}}",
            )
    yield from unchanged("metadata.name", new_meta.get("name"), old_meta.get("name"))
    yield from unchanged("metadata.namespace", new_meta.get("namespace"), old_meta.get("namespace"))
    yield from label_causes(new_meta.get("labels"), "metadata.labels")
    yield from _annotation_causes(new_meta.get("annotations"), "metadata.annotations")
    yield from _owner_causes(new_meta.get("ownerReferences") or ())


def label_causes(labels: Mapping[str, str] | None, path: str) -> Causes:
    for key, value in (labels or {}).items():
        yield from all_invalid(path, key, label_key(key))
        yield from all_invalid(path, value, label_value(value))


def selector_causes(selector: Object | None, path: str) -> Causes:
    """A label selector with `matchLabels` and `matchExpressions`."""
    if selector is None:
        return
    yield from label_causes(selector.get("matchLabels"), f"{path}.matchLabels")
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        yield from _expression_causes(expression, f"{path}.matchExpressions[{index}]")


def selects(selector: Object | None, labels: Mapping[str, str]) -> bool:
    """Whether the labels match. No selector selects nothing, an empty one everything."""
    if selector is None:
        return False
    wanted = selector.get("matchLabels") or {}
    if any(labels.get(key) != value for key, value in wanted.items()):
        return False
    return all(_holds(expression, labels) for expression in selector.get("matchExpressions") or ())


def _holds(expression: Object, labels: Mapping[str, str]) -> bool:
    key, values = expression.get("key", ""), expression.get("values") or ()
    operator = expression.get("operator")
    if operator == "In":
        return labels.get(key) in values
    if operator == "NotIn":
        return labels.get(key) not in values
    return (key in labels) == (operator == "Exists")


def _expression_causes(expression: Object, path: str) -> Causes:
    operator, values = expression.get("operator", ""), expression.get("values") or ()
    if operator in ("In", "NotIn"):
        if not values:
            yield required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'")
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
            yield forbidden_value(f"{path}.values", detail)
    else:
        yield invalid_value(f"{path}.operator", operator, "not a valid selector operator")
    key = expression.get("key", "")
    yield from all_invalid(f"{path}.key", key, label_key(key))
    for index, value in enumerate(values):
        yield from all_invalid(f"{path}.values[{index}]", value, label_value(value))


def _annotation_causes(annotations: Mapping[str, str] | None, path: str) -> Causes:
    for key in annotations or {}:
        yield from all_invalid(path, key, label_key(key.lower()))
    if sum(len(key) + len(value) for key, value in (annotations or {}).items()) > _ANNOTATIONS_SIZE:
        yield too_long(path, _ANNOTATIONS_SIZE)


def _owner_causes(owners: Any) -> Causes:
    for index, owner in enumerate(owners):
        for field in _OWNER_FIELDS:
            if not owner.get(field):
                yield required(f"metadata.ownerReferences[{index}].{field}", "must not be empty")
    controllers = [f"{owner.get('kind')}/{owner.get('name')}" for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        detail = (
            'Only one reference can have Controller set to true. Found "true" in references for'
            f" {controllers[0]} and {controllers[1]}"
        )
        yield invalid_value("metadata.ownerReferences", list(owners), detail)
