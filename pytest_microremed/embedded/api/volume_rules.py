"""Rules of the volumes of a pod."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    duplicate,
    forbidden_value,
    invalid_value,
    required,
)
from pytest_microremed.embedded.api.name_rules import dns_label
from pytest_microremed.embedded.api.store import Object

_NEEDED = {
    "secret": "secretName",
    "configMap": "name",
    "persistentVolumeClaim": "claimName",
    "hostPath": "path",
    "csi": "driver",
}
"""What the source of a volume must name."""
_HIGHEST_MODE = 0o777


def volume_causes(volumes: Sequence[Object], path: str) -> Causes:
    names = set()
    for index, volume in enumerate(volumes):
        here = f"{path}[{index}]"
        yield from _source_causes(volume, here)
        name = volume.get("name", "")
        if name:
            yield from all_invalid(f"{here}.name", name, dns_label(name))
        else:
            yield required(f"{here}.name")
        if name in names:
            yield duplicate(f"{here}.name", name)
        names.add(name)


def volume_names(volumes: Sequence[Object], path: str) -> set[str]:
    """The volumes that containers may mount: those that are well formed."""
    sound = [volume for volume in volumes if not any(_source_causes(volume, path)) and volume.get("name")]
    return {volume["name"] for volume in sound}


def _source_causes(volume: Object, path: str) -> Causes:
    sources = [field for field, value in volume.items() if isinstance(value, dict)]
    if not sources:
        yield required(path, "must specify a volume type")
    for source in sources[1:]:
        yield forbidden_value(f"{path}.{source}", "may not specify more than 1 volume type")
    for source in sources[:1]:
        content = volume[source]
        needed = _NEEDED.get(source)
        if needed and not content.get(needed):
            yield required(f"{path}.{source}.{needed}")
        if source == "hostPath" and ".." in content.get("path", "").split("/"):
            yield invalid_value(f"{path}.hostPath.path", content["path"], "must not contain '..'")
        mode = content.get("defaultMode")
        if mode is not None and not 0 <= mode <= _HIGHEST_MODE:
            detail = "must be a number between 0 and 0777 (octal), both inclusive"
            yield invalid_value(f"{path}.{source}.defaultMode", mode, detail)
        if source in ("secret", "configMap"):
            yield from _item_causes(content.get("items") or (), f"{path}.{source}.items")


def _item_causes(items: Sequence[Object], path: str) -> Causes:
    for index, item in enumerate(items):
        here = f"{path}[{index}]"
        for field in ("key", "path"):
            if not item.get(field):
                yield required(f"{here}.{field}")
        if item.get("path", "").startswith("/"):
            yield invalid_value(f"{here}.path", item["path"], "must be a relative path")
