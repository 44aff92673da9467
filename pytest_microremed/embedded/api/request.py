"""What a request asks for: its path and query read once into Kubernetes terms (apiserver, `RequestInfo`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import parse_qsl, unquote, urlsplit

from pytest_microremed.embedded.api.errors import bad_request

_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch"}
_NAMESPACE_SUBRESOURCES = ("status", "finalize")


@dataclass(frozen=True)
class RequestInfo:
    """A request in Kubernetes terms. If the path is no resource, `plural` is empty and `verb` the method."""

    verb: str
    path: str
    query: Mapping[str, tuple[str, ...]]
    api_version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    subresource: str = ""

    def param(self, name: str) -> str:
        """The first value of a query parameter, or an empty string."""
        return self.query.get(name, ("",))[0]

    def params(self, name: str) -> tuple[str, ...]:
        return self.query.get(name, ())

    def flag(self, name: str) -> bool:
        return self.param(name).lower() in ("true", "1")

    def integer(self, name: str) -> int | None:
        """A whole number, None if not given. Raises ApiError 400 if it is no number."""
        text = self.param(name)
        try:
            return int(text) if text else None
        except ValueError:
            raise bad_request(f'strconv.ParseInt: parsing "{text}": invalid syntax') from None

    @property
    def dry_run(self) -> bool:
        return "All" in self.params("dryRun")


@lru_cache(maxsize=4096)
def parse_request(method: str, target: str) -> RequestInfo:
    """Read the request line: `target` is the path with its query, still quoted."""
    url = urlsplit(target)
    path = unquote(url.path).rstrip("/") or "/"
    query: dict[str, tuple[str, ...]] = {}
    for key, value in parse_qsl(url.query, keep_blank_values=True):
        query[key] = (*query.get(key, ()), value)
    parts = [part for part in path.split("/") if part]
    if parts[:1] == ["api"] and len(parts) > 2:
        api_version, rest = parts[1], parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        api_version, rest = "/".join(parts[1:3]), parts[3:]
    else:
        return RequestInfo(method.lower(), path, MappingProxyType(query))
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = (*rest[:2], *[""] * (2 - len(rest)), "/".join(rest[2:]))
    return RequestInfo(
        _verb(method, name, query),
        path,
        MappingProxyType(query),
        api_version,
        namespace,
        plural,
        name,
        subresource,
    )


def _verb(method: str, name: str, query: Mapping[str, tuple[str, ...]]) -> str:
    if method in ("GET", "HEAD"):
        if query.get("watch", ("",))[0].lower() in ("true", "1"):
            return "watch"
        return "get" if name else "list"
    if method == "DELETE":
        return "delete" if name else "deletecollection"
    return _VERBS.get(method, method.lower())
