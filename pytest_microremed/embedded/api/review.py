"""Reviews: who am I, what may I, whose token is this (authentication.k8s.io and authorization.k8s.io)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytest_microremed.embedded.api import registry
from pytest_microremed.embedded.api.access import Attributes
from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.errors import ApiError, bad_request
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.tokens import AUDIENCE, Identity


def review(api: Api, resource: Resource, namespace: str, body: Object, identity: Identity) -> Object:
    """The review with its status. Raises ApiError 400 for one without a question."""
    spec: dict[str, Any] = body.get("spec") or {}
    answer = _ANSWERS[resource]
    return {
        "kind": resource.kind,
        "apiVersion": resource.api_version,
        "metadata": {"creationTimestamp": None},
        **({"spec": spec} if spec else {}),
        "status": answer(api, spec, namespace, identity),
    }


def _self_access(api: Api, spec: Object, namespace: str, identity: Identity) -> Object:
    return {"allowed": api.authorizer.allows(identity, _asked(spec, namespace))}


def _subject_access(api: Api, spec: Object, namespace: str, identity: Identity) -> Object:
    subject = Identity(spec.get("user", ""), spec.get("uid", ""), tuple(spec.get("groups") or ()))
    return {"allowed": api.authorizer.allows(subject, _asked(spec, namespace))}


def _rules(api: Api, spec: Object, namespace: str, identity: Identity) -> Object:
    rules = list(api.authorizer.rules(identity, spec.get("namespace", "")))
    return {
        "resourceRules": [dict(rule) for rule in rules if rule.get("resources")],
        "nonResourceRules": [dict(rule) for rule in rules if rule.get("nonResourceURLs")],
        "incomplete": False,
    }


def _self_subject(api: Api, spec: Object, namespace: str, identity: Identity) -> Object:
    return {"userInfo": identity.to_object()}


def _token(api: Api, spec: Object, namespace: str, identity: Identity) -> Object:
    try:
        owner = api.tokens.identify(spec.get("token", ""))
    except ApiError:
        return {"user": {}, "error": "invalid bearer token"}
    return {"authenticated": True, "user": owner.to_object(), "audiences": [AUDIENCE]}


def _asked(spec: Object, namespace: str) -> Attributes:
    if path := spec.get("nonResourceAttributes"):
        return Attributes(path.get("verb", ""), path=path.get("path", ""))
    about = spec.get("resourceAttributes")
    if not about:
        raise bad_request("exactly one of nonResourceAttributes or resourceAttributes must be specified")
    return Attributes(
        about.get("verb", ""),
        about.get("group", ""),
        about.get("resource", ""),
        about.get("subresource", ""),
        about.get("namespace") or namespace,
        about.get("name", ""),
    )


_ANSWERS: dict[Resource, Callable[[Api, Object, str, Identity], Object]] = {
    registry.SELF_SUBJECT_ACCESS_REVIEWS: _self_access,
    registry.LOCAL_SUBJECT_ACCESS_REVIEWS: _subject_access,
    registry.SUBJECT_ACCESS_REVIEWS: _subject_access,
    registry.SELF_SUBJECT_RULES_REVIEWS: _rules,
    registry.SELF_SUBJECT_REVIEWS: _self_subject,
    registry.TOKEN_REVIEWS: _token,
}
