"""Which container a request about a pod means, and what the kubelet's refusal looks like to the client."""

from __future__ import annotations

from pytest_microremed.embedded.api.errors import ApiError, bad_request
from pytest_microremed.embedded.api.runtime import RuntimeRefused
from pytest_microremed.embedded.api.store import Object

_REASONS = {400: "BadRequest", 404: "NotFound", 500: "InternalError"}


def chosen_container(pod: Object, name: str) -> str:
    """The named container, or the only one. Raises ApiError 400."""
    spec, pod_name = pod["spec"], pod["metadata"]["name"]
    names = [each["name"] for each in spec["containers"]]
    inits = [each["name"] for each in spec.get("initContainers") or ()]
    if not name and len(names) == 1:
        return str(names[0])
    if not name:
        choice = f"choose one of: [{' '.join(names)}]"
        if inits:
            choice += f" or one of the init containers: [{' '.join(inits)}]"
        raise bad_request(f"a container name must be specified for pod {pod_name}, {choice}")
    if name not in (*names, *inits):
        raise bad_request(f"container {name} is not valid for pod {pod_name}")
    return name


def refusal(error: RuntimeRefused) -> ApiError:
    """The API's error for what a kubelet cannot do."""
    message = str(error)
    if error.status >= 500:
        return ApiError(error.status, "InternalError", f"Internal error occurred: {message}")
    return ApiError(error.status, _REASONS.get(error.status, ""), message)
