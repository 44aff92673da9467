"""Who may do what: role-based access control over the Roles and bindings in the store (Kubernetes: RBAC)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pytest_microremed.embedded.api.errors import ApiError, forbidden, forbidden_path
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import (
    CLUSTER_ROLE_BINDINGS,
    CLUSTER_ROLES,
    ROLE_BINDINGS,
    ROLES,
    Resource,
)
from pytest_microremed.embedded.api.selectors import matches_labels, selected_name
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.api.tokens import Identity

Rule = Mapping[str, Any]


@dataclass(frozen=True)
class Attributes:
    """What is asked for: an action on a resource, or on a `path` that is none."""

    verb: str
    group: str = ""
    plural: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""
    path: str = ""

    @property
    def resource(self) -> str:
        """`pods/exec`: as rules name it."""
        return f"{self.plural}/{self.subresource}" if self.subresource else self.plural


def request_attributes(info: RequestInfo) -> Attributes:
    """What a request asks for, as authorization sees it."""
    if not info.plural:
        return Attributes(info.verb, path=info.path)
    name = info.name or selected_name(info.param("fieldSelector"))
    namespace = name if info.plural == "namespaces" and info.api_version == "v1" else info.namespace
    group = info.api_version.rpartition("/")[0]
    asked = Attributes(info.verb, group, info.plural, info.subresource, namespace, name)
    if asked.resource == "pods/exec":
        return replace(asked, verb="create")  # also over WebSocket, which starts with a GET (as since 1.35)
    return asked


class Authorizer:
    """Decides by the bindings that are stored at that moment."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def check(self, identity: Identity, asked: Attributes) -> None:
        """Raises ApiError 403 in the API server's words if the identity may not."""
        if not self.allows(identity, asked):
            raise self._refusal(identity, asked)

    def allows(self, identity: Identity, asked: Attributes) -> bool:
        return identity.is_master or any(_allows(rule, asked) for rule in self.rules(identity, asked.namespace))

    def rules(self, identity: Identity, namespace: str) -> Iterator[Rule]:
        """The rules that hold for an identity: cluster-wide ones, and those of a namespace if given."""
        for binding in self._store.list(CLUSTER_ROLE_BINDINGS):
            if _binds(binding, identity, ""):
                yield from self._role_rules(binding, "")
        if namespace:
            for binding in self._store.list(ROLE_BINDINGS, namespace):
                if _binds(binding, identity, namespace):
                    yield from self._role_rules(binding, namespace)

    def _role_rules(self, binding: Object, namespace: str) -> list[Rule]:
        role = self._role(binding, namespace)
        if role is None:
            return []
        rules: list[Rule] = list(role.get("rules") or ())
        for selector in (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ():
            for each in self._store.list(CLUSTER_ROLES):
                if matches_labels(selector, each["metadata"].get("labels") or {}):
                    rules += each.get("rules") or ()
        return rules

    def _role(self, binding: Object, namespace: str) -> Object | None:
        reference = binding["roleRef"]
        if reference["kind"] == "Role":
            return self._store.get(ROLES, namespace, reference["name"])
        return self._store.get(CLUSTER_ROLES, None, reference["name"])

    def _refusal(self, identity: Identity, asked: Attributes) -> ApiError:
        user = f'User "{identity.name}"'
        missing = self._missing_roles(identity, asked.namespace)
        if asked.path:
            return forbidden_path(f'{user} cannot {asked.verb} path "{asked.path}"{missing}')
        where = f'in the namespace "{asked.namespace}"' if asked.namespace else "at the cluster scope"
        what = f'resource "{asked.resource}" in API group "{asked.group}"'
        why = f"{user} cannot {asked.verb} {what} {where}{missing}"
        return forbidden(Resource(asked.group, "", asked.plural, ""), asked.name, why)

    def _missing_roles(self, identity: Identity, namespace: str) -> str:
        """The roles that bindings of this identity name in vain: the usual reason for a refusal."""
        bindings = [(each, "") for each in self._store.list(CLUSTER_ROLE_BINDINGS)]
        if namespace:
            bindings += [(each, namespace) for each in self._store.list(ROLE_BINDINGS, namespace)]
        names = [
            f'{reference["kind"].lower()}.rbac.authorization.k8s.io "{reference["name"]}" not found'
            for each, scope in bindings
            if (reference := each["roleRef"]) and _binds(each, identity, scope) and self._role(each, scope) is None
        ]
        if not names:
            return ""
        return f": RBAC: {names[0]}" if len(names) == 1 else f": RBAC: [{', '.join(names)}]"


def _binds(binding: Object, identity: Identity, namespace: str) -> bool:
    for subject in binding.get("subjects") or ():
        kind, name = subject["kind"], subject["name"]
        if kind == "User" and name == identity.name:
            return True
        if kind == "Group" and name in identity.groups:
            return True
        account = f"system:serviceaccount:{subject.get('namespace') or namespace}:{name}"
        if kind == "ServiceAccount" and account == identity.name:
            return True
    return False


def _allows(rule: Rule, asked: Attributes) -> bool:
    if not _any(rule, "verbs", asked.verb):
        return False
    if asked.path:
        urls = rule.get("nonResourceURLs") or ()
        return any(url == asked.path or (url.endswith("*") and asked.path.startswith(url[:-1])) for url in urls)
    resources = rule.get("resources") or ()
    named = asked.resource in resources or "*" in resources
    named = named or (bool(asked.subresource) and f"*/{asked.subresource}" in resources)
    names = rule.get("resourceNames") or ()
    return named and _any(rule, "apiGroups", asked.group) and (not names or asked.name in names)


def _any(rule: Rule, key: str, wanted: str) -> bool:
    values = rule.get(key) or ()
    return wanted in values or "*" in values
