"""Label and field selectors: which objects a list, watch or deletion is about."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from pytest_microremed.embedded.api.errors import ApiError, bad_request
from pytest_microremed.embedded.api.resources import (
    EVENTS,
    JOBS,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SECRETS,
    SERVICES,
    Resource,
)
from pytest_microremed.embedded.api.store import Object

Predicate = Callable[[Object], bool]

_LABEL_KEY = re.compile(r"([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")
_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)")
_EQUALITY = re.compile(r"([^=!\s]+)\s*(==|=|!=)\s*(\S*)")
_INEQUALITY = re.compile(r"(\S+?)\s*([<>])\s*(-?\d+)")

_FIELDS: dict[Resource, tuple[str, ...]] = {
    PODS: (
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName",
        "spec.hostNetwork", "status.phase", "status.podIP", "status.nominatedNodeName",
    ),
    EVENTS: (
        "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
        "involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath", "reason",
        "reportingComponent", "source", "type",
    ),
    SECRETS: ("type",),
    NAMESPACES: ("status.phase",),
    NODES: ("spec.unschedulable",),
    REPLICA_SETS: ("status.replicas",),
    JOBS: ("status.successful",),
    SERVICES: ("spec.clusterIP", "spec.type"),
}  # fmt: skip
"""Beside metadata.name and metadata.namespace (each resource's `AddFieldLabelConversionFunc`)."""

_ZERO = {
    "spec.hostNetwork": "false",
    "spec.unschedulable": "false",
    "status.replicas": "0",
    "status.successful": "0",
}
"""How the API server writes a field that is not set, where it is no string."""


@lru_cache(maxsize=1024)
def label_selector(text: str) -> Predicate:
    """Read a label selector (equality- and set-based). Raises ApiError 400."""
    requirements = [_label_requirement(part.strip()) for part in _split(text) if part.strip()]
    return lambda obj: _all(requirements, obj["metadata"].get("labels") or {})


def matches_labels(selector: Mapping[str, Any] | None, labels: Mapping[str, str]) -> bool:
    """Does a LabelSelector object (matchLabels, matchExpressions) select these labels? An empty one does."""
    if selector is None:
        return False
    if any(labels.get(key) != value for key, value in (selector.get("matchLabels") or {}).items()):
        return False
    for expression in selector.get("matchExpressions") or ():
        value, values = labels.get(expression["key"]), expression.get("values") or ()
        holds = {
            "In": value is not None and value in values,
            "NotIn": value is None or value not in values,
            "Exists": value is not None,
            "DoesNotExist": value is None,
        }[expression["operator"]]
        if not holds:
            return False
    return True


def format_selector(selector: Mapping[str, Any] | None) -> str:
    """A LabelSelector object as text (metav1.FormatLabelSelector)."""
    selector = selector or {}
    parts = [f"{key}={value}" for key, value in sorted((selector.get("matchLabels") or {}).items())]
    for expression in selector.get("matchExpressions") or ():
        key, values = expression["key"], ",".join(sorted(expression.get("values") or ()))
        parts.append(
            {
                "In": f"{key} in ({values})",
                "NotIn": f"{key} notin ({values})",
                "Exists": key,
                "DoesNotExist": f"!{key}",
            }[expression["operator"]]
        )
    return ",".join(parts) or "<none>"


def field_selector(resource: Resource, text: str) -> Predicate:
    """Read a field selector of this resource. Raises ApiError 400 for a field that cannot be selected by."""
    requirements = []
    for part in filter(None, text.split(",")):
        match = re.fullmatch(r"([^=!]+)(==|=|!=)(.*)", part)
        if match is None:
            raise bad_request(f"invalid field selector: '{part}'; can't understand '{part}'")
        field, operator, value = match.groups()
        _check_field(resource, field)
        requirements.append((field, operator != "!=", value))
    return lambda obj: all((field_value(obj, field) == value) is wanted for field, wanted, value in requirements)


def selected_name(text: str) -> str:
    """The name that a field selector pins (`metadata.name=x`), or an empty string: RBAC looks at it."""
    match = re.search(r"(?:^|,)metadata\.name==?([^,]+)", text)
    return match.group(1) if match else ""


def field_value(obj: Object, field: str) -> str:
    """A field as the API server compares it: as text."""
    value: Any = obj
    for key in ("source.component" if field == "source" else field).split("."):
        value = value.get(key) if isinstance(value, dict) else None
    if value is None:
        return _ZERO.get(field, "")
    return str(value).lower() if isinstance(value, bool) else str(value)


def _check_field(resource: Resource, field: str) -> None:
    if field in ("metadata.name", "metadata.namespace") or field in _FIELDS.get(resource, ()):
        return
    if resource in _FIELDS:
        raise bad_request(f"field label not supported: {field}")
    raise bad_request(f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"')


def _split(text: str) -> list[str]:
    """At the commas that are not inside parentheses."""
    return re.split(r",(?![^(]*\))", text)


def _label_requirement(text: str) -> Callable[[Mapping[str, str]], bool]:
    if match := _SET.fullmatch(text):
        key, operator, listed = match.groups()
        values = {value.strip() for value in listed.split(",")}
        _check_key(key, text)
        if operator == "in":
            return lambda labels: labels.get(key) in values
        return lambda labels: labels.get(key) not in values
    if match := _EQUALITY.fullmatch(text):
        key, operator, value = match.groups()
        _check_key(key, text)
        if operator == "!=":
            return lambda labels: labels.get(key) != value
        return lambda labels: labels.get(key) == value
    if match := _INEQUALITY.fullmatch(text):
        key, operator, number = match.groups()
        _check_key(key, text)
        limit = int(number)
        return lambda labels: _compares(labels.get(key), operator, limit)
    absent = text.startswith("!")
    key = text.removeprefix("!").strip()
    _check_key(key, text)
    return lambda labels: (key in labels) is not absent


def _compares(value: str | None, operator: str, limit: int) -> bool:
    if value is None or not re.fullmatch(r"-?\d+", value):
        return False
    return int(value) > limit if operator == ">" else int(value) < limit


def _check_key(key: str, text: str) -> None:
    if not _LABEL_KEY.fullmatch(key):
        raise _unparsable(text)


def _unparsable(text: str) -> ApiError:
    return bad_request(f"unable to parse requirement: found '{text}', expected: !, identifier, or 'end of string'")


def _all(requirements: list[Callable[[Mapping[str, str]], bool]], labels: Mapping[str, str]) -> bool:
    return all(requirement(labels) for requirement in requirements)
