"""Discovery: which groups, versions and resources there are, in the legacy and the aggregated form (v2)."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.encoding import dump
from pytest_microremed.embedded.api.errors import unknown_path
from pytest_microremed.embedded.api.negotiation import Form
from pytest_microremed.embedded.api.registry import Registry
from pytest_microremed.embedded.api.resources import Resource

VERSION = "v1.37.0"
AGGREGATED_JSON = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_CHANGE = ("get", "patch", "update")


def version_info() -> dict[str, str]:
    """The answer at `/version`. The server is no build of Kubernetes: it says whose behaviour it follows."""
    major, minor, _ = VERSION.removeprefix("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "gitVersion": f"{VERSION}+embedded",
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "2026-08-26T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "linux/amd64",
    }


class Discovery:
    """Discovery documents, encoded once until a custom resource comes or goes."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._revision = -1
        self._documents: dict[tuple[str, Form], bytes] = {}

    def document(self, path: str, form: Form) -> bytes:
        """The document at `/api`, `/apis`, `/api/VERSION`, `/apis/GROUP[/VERSION]`. Raises ApiError 404."""
        if self._revision != self._registry.revision:
            self._documents.clear()
            self._revision = self._registry.revision
        known = self._documents.get((path, form))
        if known is None:
            known = self._documents[path, form] = dump(self._build(path, form))
        return known

    def _build(self, path: str, form: Form) -> dict[str, Any]:
        if path in ("/api", "/apis") and form is Form.DISCOVERY:
            return self._aggregated(core=path == "/api")
        if path == "/api":
            addresses = [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1"}]
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": addresses}
        groups = self._groups()
        if path == "/apis":
            items = [_group(name, versions) for name, versions in groups.items() if name]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": items}
        name = path.removeprefix("/apis/")
        if path.startswith("/apis/") and name in groups:
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(name, groups[name])}
        return self._resource_list(path.split("/", 2)[2] if path.count("/") > 1 else path)

    def _groups(self) -> dict[str, list[str]]:
        groups: dict[str, list[str]] = {}
        for api_version in self._registry.api_versions():
            groups.setdefault(api_version.rpartition("/")[0], []).append(api_version)
        return groups

    def _resource_list(self, api_version: str) -> dict[str, Any]:
        resources = self._registry.of(api_version)
        if not resources:
            raise unknown_path()
        items = [entry for resource in resources for entry in _entries(resource)]
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": api_version,
            "resources": items,
        }

    def _aggregated(self, *, core: bool) -> dict[str, Any]:
        items = [
            {
                "metadata": {"name": name} if name else {"creationTimestamp": None},
                "versions": [
                    {
                        "version": api_version.rpartition("/")[2],
                        "freshness": "Current",
                        "resources": [_aggregated_entry(each) for each in self._registry.of(api_version)],
                    }
                    for api_version in versions
                ],
            }
            for name, versions in self._groups().items()
            if (not name) is core
        ]
        return {
            "kind": "APIGroupDiscoveryList",
            "apiVersion": "apidiscovery.k8s.io/v2",
            "metadata": {},
            "items": items,
        }


def _group(name: str, api_versions: list[str]) -> dict[str, Any]:
    versions = [{"groupVersion": each, "version": each.rpartition("/")[2]} for each in api_versions]
    return {"name": name, "versions": versions, "preferredVersion": versions[0]}


def _subresource(resource: Resource, name: str) -> tuple[tuple[str, str, str], tuple[str, ...]]:
    """Group, version and kind of a subresource, and its verbs."""
    own = (resource.group, resource.version, resource.kind)
    return {
        "scale": (("autoscaling", "v1", "Scale"), _CHANGE),
        "log": (own, ("get",)),
        "exec": (("", "v1", "PodExecOptions"), ("create", "get")),
        "eviction": (("policy", "v1", "Eviction"), ("create",)),
        "token": (("authentication.k8s.io", "v1", "TokenRequest"), ("create",)),
        "finalize": (own, ("update",)),
    }.get(name, (own, _CHANGE))


def _entries(resource: Resource) -> list[dict[str, Any]]:
    entry: dict[str, Any] = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    entries = [entry]
    for name in resource.subresources:
        (group, version, kind), verbs = _subresource(resource, name)
        sub = {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            "kind": kind,
            "verbs": list(verbs),
        }
        if (group, version) != (resource.group, resource.version):
            sub |= {"group": group, "version": version}
        entries.append(sub)
    return entries


def _aggregated_entry(resource: Resource) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.singular,
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    subresources = []
    for name in resource.subresources:
        (group, version, kind), verbs = _subresource(resource, name)
        response = {"group": group, "version": version, "kind": kind}
        subresources.append({"subresource": name, "responseKind": response, "verbs": list(verbs)})
    if subresources:
        entry["subresources"] = subresources
    return entry
