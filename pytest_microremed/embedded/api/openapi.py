"""The OpenAPI v3 documents that clients read the types from: `kubectl explain`, `apply` and `diff`.

One document for each API version, with the types that its resources reach. Built when first asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from typing import Any

from pytest_microremed.embedded.api.openapi_types import TypeWriter, definition_name
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.schema import schema_of

_PATCHES = (
    "application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)  # fmt: skip
_WRITE_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation")
_documents: dict[str, bytes] = {}
"""By fingerprint, for the life of the process: few, as definitions hardly change."""


def index(resources: Iterable[Resource]) -> bytes:
    """What is served at `/openapi/v3`: the documents, with a hash that changes when their content does."""
    by_version: dict[str, list[Resource]] = {}
    for resource in resources:
        by_version.setdefault(resource.api_version, []).append(resource)
    paths = {}
    for api_version, served in by_version.items():
        path = _root(api_version).removeprefix("/")
        url = f"/openapi/v3/{path}?hash={fingerprint(served)}"
        paths[path] = {"serverRelativeURL": url}
    return json.dumps({"paths": paths}).encode()


def document(resources: Sequence[Resource]) -> bytes:
    """The document of one API version, from all of its resources."""
    key = fingerprint(resources)
    if key not in _documents:
        _documents[key] = json.dumps(_document(resources)).encode()
    return _documents[key]


def fingerprint(resources: Iterable[Resource]) -> str:
    """A hash of all that the document of these resources is made of; an ETag."""
    parts = [version("kubernetes")]
    for resource in resources:
        parts.append(repr(resource))
        parts.append(json.dumps(resource.schema, sort_keys=True) if resource.schema else "")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest().upper()


def _document(resources: Sequence[Resource]) -> dict[str, Any]:
    writer = TypeWriter()
    paths: dict[str, Any] = {}
    for resource in resources:
        try:
            schema = schema_of(resource)
        except LookupError:
            continue  # metrics: the client has no model of them
        kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
        name = definition_name(resource.group, schema)
        writer.add_kind(name, schema, kind)
        paths.update(_paths(resource, name, kind))
    return {
        "openapi": "3.0.0",
        "info": {"title": "Kubernetes", "version": "unversioned"},
        "paths": paths,
        "components": {"schemas": writer.definitions},
    }


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _paths(resource: Resource, name: str, kind: dict[str, str]) -> dict[str, Any]:
    """The two paths by which clients find a resource's type, and what its writes accept."""
    collection = f"{_root(resource.api_version)}{'/namespaces/{namespace}' if resource.namespaced else ''}"
    collection = f"{collection}/{resource.plural}"
    reference = {"schema": {"$ref": f"#/components/schemas/{name}"}}
    parameters = [{"name": parameter, "in": "query", "schema": {"type": "string"}} for parameter in _WRITE_PARAMETERS]
    patches = [patch for patch in _PATCHES if not (resource.custom and "strategic" in patch)]
    answer = {"200": {"description": "OK", "content": {"application/json": reference}}}

    def operation(action: str, **more: Any) -> dict[str, Any]:
        return {
            "x-kubernetes-action": action,
            "x-kubernetes-group-version-kind": kind,
            "responses": answer,
            **more,
        }

    body = {"content": {"application/json": reference}}
    patch_body = {"content": {patch: {"schema": {"type": "object"}} for patch in patches}}
    return {
        collection: {
            "get": operation("list"),
            "post": operation("post", parameters=parameters, requestBody=body),
        },
        f"{collection}/{{name}}": {
            "get": operation("get"),
            "put": operation("put", parameters=parameters, requestBody=body),
            "patch": operation("patch", parameters=parameters, requestBody=patch_body),
            "delete": operation("delete"),
        },
    }
