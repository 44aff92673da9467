"""Bearer tokens, and who they stand for (Kubernetes: authentication, TokenRequest)."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pytest_microremed.embedded.api.errors import Cause, invalid, unauthorized
from pytest_microremed.embedded.api.resources import SERVICE_ACCOUNTS
from pytest_microremed.embedded.api.store import Object, Store, timestamp

MASTERS = "system:masters"
AUTHENTICATED = "system:authenticated"
_DEFAULT_LIFETIME_S = 3600
_SHORTEST_LIFETIME_S = 600
AUDIENCE = "https://kubernetes.default.svc.cluster.local"
_SERVICE_ACCOUNT_PREFIX = "system:serviceaccount:"


@dataclass(frozen=True)
class Identity:
    """A user as authorization sees it (`user.Info`)."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict, hash=False)

    @property
    def is_master(self) -> bool:
        """May do everything, whatever the roles say."""
        return MASTERS in self.groups

    def to_object(self) -> Object:
        """The UserInfo of reviews."""
        info: Object = {"username": self.name}
        if self.uid:
            info["uid"] = self.uid
        info["groups"] = list(self.groups)
        if self.extra:
            info["extra"] = {key: list(values) for key, values in self.extra.items()}
        return info


def service_account_identity(namespace: str, name: str, uid: str = "") -> Identity:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}", AUTHENTICATED)
    return Identity(f"{_SERVICE_ACCOUNT_PREFIX}{namespace}:{name}", uid, groups)


def named_identity(name: str, groups: tuple[str, ...] = ()) -> Identity:
    """The identity of an impersonated user, with the groups that its name implies."""
    namespace, _, account = name.removeprefix(_SERVICE_ACCOUNT_PREFIX).partition(":")
    if name.startswith(_SERVICE_ACCOUNT_PREFIX) and account:
        implied = service_account_identity(namespace, account).groups
        return Identity(name, groups=groups or implied)
    return Identity(name, groups=tuple(dict.fromkeys((*groups, AUTHENTICATED))))


@dataclass(frozen=True)
class _Issued:
    namespace: str
    account: str
    uid: str
    expires: datetime


class Tokens:
    """Opaque random tokens: the administrator's, and those requested for service accounts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.admin = secrets.token_urlsafe(32)
        self._admin_identity = Identity("kubernetes-admin", groups=(MASTERS, AUTHENTICATED))
        self._issued: dict[str, _Issued] = {}

    def issue(self, account: Object, seconds: int) -> tuple[str, datetime]:
        """A new token for a ServiceAccount object, and when it expires."""
        meta = account["metadata"]
        token, expires = secrets.token_urlsafe(32), self._store.now() + timedelta(seconds=seconds)
        self._issued[token] = _Issued(meta["namespace"], meta["name"], meta["uid"], expires)
        return token, expires

    def now(self) -> datetime:
        return self._store.now()

    def identify(self, token: str) -> Identity:
        """Who a token stands for. Raises ApiError 401: unknown, expired, or its service account has gone."""
        if token == self.admin:
            return self._admin_identity
        issued = self._issued.get(token)
        if issued is None or issued.expires <= self._store.now():
            raise unauthorized()
        account = self._store.get(SERVICE_ACCOUNTS, issued.namespace, issued.account)
        if account is None or account["metadata"]["uid"] != issued.uid:
            raise unauthorized()
        return service_account_identity(issued.namespace, issued.account, issued.uid)


def request_token(tokens: Tokens, account: Object, body: Object) -> Object:
    """Answer a TokenRequest for a ServiceAccount. Raises ApiError 422 for a lifetime under ten minutes."""
    spec = body.get("spec") or {}
    seconds = spec.get("expirationSeconds") or _DEFAULT_LIFETIME_S
    if seconds < _SHORTEST_LIFETIME_S:
        message = f"Invalid value: {seconds}: may not specify a duration less than 10 minutes"
        cause = Cause("spec.expirationSeconds", message)
        raise invalid("authentication.k8s.io", "TokenRequest", account["metadata"]["name"], [cause])
    token, expires = tokens.issue(account, seconds)
    meta = account["metadata"]
    return {
        "kind": "TokenRequest",
        "apiVersion": "authentication.k8s.io/v1",
        "metadata": {
            "name": meta["name"],
            "namespace": meta["namespace"],
            "creationTimestamp": timestamp(tokens.now()),
        },
        "spec": {"audiences": spec.get("audiences") or [AUDIENCE], "expirationSeconds": seconds},
        "status": {"token": token, "expirationTimestamp": timestamp(expires)},
    }
