"""Rules of configuration and storage: ConfigMaps, Secrets, claims."""

from __future__ import annotations

import base64

from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    forbidden_value,
    invalid_value,
    not_supported,
    required,
    too_long,
    unchanged,
)
from pytest_microremed.embedded.api.name_rules import config_key
from pytest_microremed.embedded.api.pod_rules import differences
from pytest_microremed.embedded.api.quantity import parse_quantity
from pytest_microremed.embedded.api.store import Object

_MOST_BYTES = 2**20
_SET_ONCE = "field is immutable when `immutable` is set"
_SECRET_KEYS = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}
_ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")


def config_map_causes(obj: Object) -> Causes:
    data, binary = obj.get("data") or {}, obj.get("binaryData") or {}
    for key in data:
        yield from all_invalid(f"data[{key}]", key, config_key(key))
        if key in binary:
            yield invalid_value(f"data[{key}]", key, "duplicate of key present in binaryData")
    for key in binary:
        yield from all_invalid(f"binaryData[{key}]", key, config_key(key))
    size = sum(len(value.encode()) for value in data.values())
    if size + sum(len(base64.b64decode(value)) for value in binary.values()) > _MOST_BYTES:
        yield too_long("", _MOST_BYTES)


def secret_causes(obj: Object) -> Causes:
    data = obj.get("data") or {}
    for key in data:
        yield from all_invalid(f"data[{key}]", key, config_key(key))
    if sum(len(base64.b64decode(value)) for value in data.values()) > _MOST_BYTES:
        yield too_long("data", _MOST_BYTES)
    for key in _SECRET_KEYS.get(obj.get("type", ""), ()):
        if key not in data:
            yield required(f"data[{key}]")


def config_update_causes(new: Object, old: Object) -> Causes:
    """What is marked immutable stays so, with all its data; a Secret's type never changes."""
    if "type" in old:
        yield from unchanged("type", new.get("type"), old["type"])
    if not old.get("immutable"):
        return
    if not new.get("immutable"):
        yield forbidden_value("immutable", _SET_ONCE)
    for field in ("data", "binaryData"):
        if new.get(field) != old.get(field):
            yield forbidden_value(field, _SET_ONCE)


def claim_causes(obj: Object) -> Causes:
    spec = obj.get("spec") or {}
    modes = spec.get("accessModes") or ()
    if not modes:
        yield required("spec.accessModes", "at least 1 access mode is required")
    for mode in modes:
        if mode not in _ACCESS_MODES:
            yield not_supported("spec.accessModes", mode, _ACCESS_MODES)
    storage = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    path = "spec.resources[storage]"
    if storage is None:
        yield required(path)
    elif parse_quantity(storage) <= 0:
        yield invalid_value(path, storage, "must be greater than zero")


def claim_update_causes(new: Object, old: Object) -> Causes:
    """Of a claim only the size may grow, once it is bound."""
    new_spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    allowed = {**new_spec, "resources": old_spec.get("resources")}
    if "volumeName" in new_spec and not old_spec.get("volumeName"):
        allowed.pop("volumeName")
    if allowed != old_spec:
        detail = (
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound"
            " claims\n"
        )
        yield forbidden_value("spec", detail + "\n".join(differences(old_spec, allowed, "")))
    sizes = [
        parse_quantity(((spec.get("resources") or {}).get("requests") or {}).get("storage", 0))
        for spec in (new_spec, old_spec)
    ]
    if sizes[0] < sizes[1]:
        detail = "field can not be less than status.capacity"
        yield forbidden_value("spec.resources.requests.storage", detail)
