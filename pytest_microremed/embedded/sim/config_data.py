"""Contents of ConfigMaps and Secrets as bytes."""

from __future__ import annotations

import base64
import binascii

from pytest_microremed.embedded.api.store import Object


def decoded_data(obj: Object) -> dict[str, bytes]:
    """Values by key, of a ConfigMap (data, binaryData) or a Secret."""
    if obj["kind"] == "Secret":
        return {key: _decode(value) for key, value in (obj.get("data") or {}).items()}
    plain = {key: value.encode() for key, value in (obj.get("data") or {}).items()}
    return plain | {key: _decode(value) for key, value in (obj.get("binaryData") or {}).items()}


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text or "", validate=False)
    except binascii.Error:
        return b""
