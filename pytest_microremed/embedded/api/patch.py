"""The four ways to patch an object, chosen by the request's content type."""

from __future__ import annotations

import json
from typing import Any

from pytest_microremed.embedded.api.errors import ApiError, bad_request, unsupported_media_type
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.schema import schema_of
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.strategic import StrategicPatchError, strategic_merge

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"
_UNFIT = "the server rejected our request due to an error in our request"
PATCH_TYPES = (JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH)


def apply_patch(content_type: str, current: Object, body: bytes, resource: Resource) -> Object:
    """`current` as the patch in `body` makes it; server-side apply is not one of these (see `apply.py`).

    Raises:
        ApiError: 415 for a type that the resource does not take, 400 for a body that cannot be read, 422 for
            a JSON patch that does not fit the object.
    """
    media_type = content_type.partition(";")[0].strip()
    if media_type == JSON_PATCH:
        return _json_patch(current, body)
    if media_type == MERGE_PATCH:
        merged: Object = merge_patch(current, _read_object(body))
        return merged
    if media_type == STRATEGIC_PATCH and not resource.custom:
        return _strategic_patch(current, _read_object(body), resource)
    raise unsupported_media_type([name for name in PATCH_TYPES if name != STRATEGIC_PATCH or not resource.custom])


def merge_patch(target: Any, patch: Any) -> Any:
    """JSON merge patch (RFC 7386): maps merge, null removes, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    merged = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def _strategic_patch(current: Object, patch: Object, resource: Resource) -> Object:
    try:
        return strategic_merge(current, patch, schema_of(resource))
    except StrategicPatchError as error:
        if error.malformed:
            raise bad_request(str(error)) from error
        raise ApiError(500, "", str(error)) from error


def _json_patch(current: Object, body: bytes) -> Object:
    import jsonpatch
    import jsonpointer

    operations = _read(body)
    if not isinstance(operations, list):
        raise bad_request("json: cannot unmarshal object into Go value of type jsonpatch.Patch")
    try:
        patched = jsonpatch.apply_patch(current, operations)
    except (jsonpatch.JsonPatchException, jsonpointer.JsonPointerException) as error:
        raise ApiError(422, "Invalid", _UNFIT) from error
    if not isinstance(patched, dict):
        raise bad_request("the patch leaves no object")
    return patched


def _read_object(body: bytes) -> Object:
    patch = _read(body)
    if not isinstance(patch, dict):
        raise bad_request("invalid JSON document")
    return patch


def _read(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise bad_request(f"error decoding patch: {error}") from error
