"""Tables and partial objects: the forms in which kubectl reads what it prints (Kubernetes API concepts)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.table_columns import built_in_columns


def table(
    api: Api, resource: Resource, objects: Sequence[Object], meta: dict[str, str], include: str
) -> dict[str, Any]:
    """A Table of these objects; `include` is the request's includeObject (Metadata, Object or None)."""
    columns, now = (
        api.custom.columns(resource) if resource.custom else built_in_columns(resource),
        api.store.now(),
    )
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": meta,
        "columnDefinitions": [column.definition() for column in columns],
        "rows": [
            {"cells": [column.cell(obj, now) for column in columns], **_included(obj, include)} for obj in objects
        ],
    }


def partial(obj: Object) -> Object:
    """An object's metadata alone."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj["metadata"]}


def _included(obj: Object, include: str) -> dict[str, Any]:
    if include == "None":
        return {}
    return {"object": obj if include == "Object" else partial(obj)}
