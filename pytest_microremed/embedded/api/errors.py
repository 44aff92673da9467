"""The errors of the Kubernetes API, worded as the API server words them (apimachinery, `pkg/api/errors`).

Clients show these texts to people and to models, and some clients decide by `reason`, so both are kept exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pytest_microremed.embedded.api.resources import Resource


@dataclass(frozen=True)
class Cause:
    """One field that is wrong: `reason` such as FieldValueRequired, `message` without the field's path."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"

    def __str__(self) -> str:
        return f"{self.field}: {self.message}" if self.field else self.message

    def to_object(self) -> dict[str, str]:
        cause = {"reason": self.reason, "message": self.message, "field": self.field}
        return {key: value for key, value in cause.items() if value}


class ApiError(Exception):
    """A request that the API refuses: HTTP code, machine-readable reason, message and details."""

    def __init__(self, code: int, reason: str, message: str, details: dict[str, Any] | None = None) -> None:
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}
        super().__init__(message)

    def status(self) -> dict[str, Any]:
        """The metav1.Status object that a client receives."""
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        return {**status, "details": self.details, "code": self.code}


def not_found(resource: Resource, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{resource.qualified} "{name}" not found', _details(resource, name))


def already_exists(resource: Resource, name: str) -> ApiError:
    message = f'{resource.qualified} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(resource, name))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def conflict(resource: Resource, name: str, why: str = MODIFIED, causes: Sequence[Cause] = ()) -> ApiError:
    """409: a stale resourceVersion (the default text), or a precondition that does not hold."""
    message = f'Operation cannot be fulfilled on {resource.qualified} "{name}": {why}'
    return ApiError(409, "Conflict", message, _details(resource, name, causes))


def apply_conflict(message: str, causes: Sequence[Cause]) -> ApiError:
    """409 of server-side apply: fields that other managers own (causes of reason FieldManagerConflict)."""
    return ApiError(409, "Conflict", message, {"causes": [cause.to_object() for cause in causes]})


def invalid(group: str, kind: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """422: the object breaks rules of its kind; every broken one is listed."""
    texts = list(dict.fromkeys(str(cause) for cause in causes))
    what = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    qualified = f"{kind}.{group}" if group else kind
    message = f'{qualified} "{name}" is invalid' + (f": {what}" if texts else "")
    details = {"name": name, "group": group, "kind": kind, "causes": [cause.to_object() for cause in causes]}
    return ApiError(422, "Invalid", message, {key: value for key, value in details.items() if value})


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")


def forbidden(resource: Resource, name: str, why: str, causes: Sequence[Cause] = ()) -> ApiError:
    what = f'{resource.qualified} "{name}"' if name else resource.qualified
    return ApiError(403, "Forbidden", f"{what} is forbidden: {why}", _details(resource, name, causes))


def forbidden_path(why: str) -> ApiError:
    """403 for a path that is no resource (`/metrics`)."""
    return ApiError(403, "Forbidden", f"forbidden: {why}")


def unknown_path() -> ApiError:
    """404 for a path that no resource is served at."""
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def method_not_allowed() -> ApiError:
    """405 for an HTTP method that the path does not take."""
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message)


def not_acceptable(media_types: Sequence[str]) -> ApiError:
    message = f"only the following media types are accepted: {', '.join(media_types)}"
    return ApiError(406, "NotAcceptable", message)


def unsupported_media_type(media_types: Sequence[str]) -> ApiError:
    known = ", ".join(media_types)
    message = f"the body of the request was in an unknown format - accepted media types include: {known}"
    return ApiError(415, "UnsupportedMediaType", message)


def expired(message: str) -> ApiError:
    """410: a resourceVersion that the server no longer remembers."""
    return ApiError(410, "Expired", message)


def too_many_requests(message: str, causes: Sequence[Cause] = ()) -> ApiError:
    details = {"causes": [cause.to_object() for cause in causes]} if causes else {}
    return ApiError(429, "TooManyRequests", message, details)


def internal(message: str) -> ApiError:
    details = {"causes": [{"message": message}]}
    return ApiError(500, "InternalError", f"Internal error occurred: {message}", details)


def _details(resource: Resource, name: str, causes: Sequence[Cause] = ()) -> dict[str, Any]:
    details: dict[str, Any] = {
        "name": name,
        "group": resource.group,
        "kind": resource.plural,
        "causes": [cause.to_object() for cause in causes],
    }
    return {key: value for key, value in details.items() if value}
