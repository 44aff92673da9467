"""Request bodies: JSON, YAML and Kubernetes protobuf into objects."""

from __future__ import annotations

import json
from typing import Any

from pytest_microremed.embedded.api.errors import bad_request, unsupported_media_type

PROTOBUF = "application/vnd.kubernetes.protobuf"
_YAML = ("application/yaml", "application/apply-patch+yaml")
_ACCEPTED = ("application/json", "application/yaml", PROTOBUF)


def decode(content_type: str, data: bytes) -> Any:
    """Read a body (an object, or the list of a JSON Patch). Raises ApiError 400 and 415."""
    if content_type == PROTOBUF:
        from pytest_microremed.embedded.api.protobuf import decode as decode_protobuf

        return decode_protobuf(data)
    if content_type in _YAML:
        return _yaml(data)
    if content_type.endswith("json") or content_type in ("", "application/octet-stream"):
        try:
            return json.loads(data)
        except ValueError as error:
            raise bad_request(f"error decoding body: {error}") from None
    raise unsupported_media_type(_ACCEPTED)


def decode_object(content_type: str, data: bytes) -> dict[str, Any]:
    """Read a body that must be an object. Raises ApiError 400 and 415."""
    value = decode(content_type, data)
    if not isinstance(value, dict):
        raise bad_request("couldn't get version/kind; json parse error: the body is not an object")
    return value


def _yaml(data: bytes) -> Any:
    import yaml

    class Loader(yaml.CSafeLoader):
        """Like Kubernetes, leaves dates as text."""

    Loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }
    try:
        return yaml.load(data, Loader)  # noqa: S506 - a safe loader
    except yaml.YAMLError as error:
        raise bad_request(f"error converting YAML to JSON: {error}") from None
