"""Objects as JSON bytes, each version encoded once.

Stored objects never change in place (see store), so the identity of a dict stands for its contents: a GET, a
list and every watch of one version share the same bytes.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.store import Object

_CAPACITY = 2048
"""Versions kept: more than a benchmark system has objects, less than memory would notice."""


def dump(value: Any) -> bytes:
    """Compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


class Encoder:
    """Encodes stored objects, remembering those that it encoded last."""

    def __init__(self) -> None:
        self._known: OrderedDict[int, tuple[Object, bytes]] = OrderedDict()

    def encode(self, obj: Object) -> bytes:
        """A stored object; it must not be changed afterwards."""
        known = self._known.get(id(obj))
        if known is not None and known[0] is obj:
            return known[1]
        data = dump(obj)
        self._known[id(obj)] = (obj, data)
        if len(self._known) > _CAPACITY:
            self._known.popitem(last=False)
        return data

    def encode_list(self, kind: str, api_version: str, version: str, items: Iterable[Object]) -> bytes:
        """A list object of stored objects."""
        head = {"kind": kind, "apiVersion": api_version, "metadata": {"resourceVersion": version}}
        return dump(head)[:-1] + b',"items":[' + b",".join(map(self.encode, items)) + b"]}"

    def encode_event(self, event_type: str, obj: Object) -> bytes:
        """One line of a watch."""
        return b'{"type":"' + event_type.encode() + b'","object":' + self.encode(obj) + b"}\n"
