"""Impersonation: `kubectl --as`, for those who may (Kubernetes: user impersonation)."""

from __future__ import annotations

from multidict import CIMultiDictProxy

from pytest_microremed.embedded.api.access import Attributes, Authorizer
from pytest_microremed.embedded.api.tokens import Identity, named_identity


def acting_identity(authorizer: Authorizer, identity: Identity, headers: CIMultiDictProxy[str]) -> Identity:
    """Who the request is made as: the token's identity, or the one it impersonates. Raises ApiError 403."""
    name = headers.get("Impersonate-User", "")
    if not name:
        return identity
    groups = tuple(headers.getall("Impersonate-Group", ()))
    account = name.removeprefix("system:serviceaccount:").split(":")
    if name.startswith("system:serviceaccount:") and len(account) == 2:
        asked = Attributes("impersonate", "", "serviceaccounts", namespace=account[0], name=account[1])
    else:
        asked = Attributes("impersonate", "", "users", name=name)
    authorizer.check(identity, asked)
    for group in groups:
        authorizer.check(identity, Attributes("impersonate", "", "groups", name=group))
    return named_identity(name, groups)
