"""Rules of probes and lifecycle hooks."""

from __future__ import annotations

from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    forbidden_value,
    invalid_value,
    not_negative,
    one_of,
    required,
)
from pytest_microremed.embedded.api.name_rules import port_name, port_number
from pytest_microremed.embedded.api.store import Object

_PERIODS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_SCHEMES = ("HTTP", "HTTPS")


def probe_causes(probe: Object, name: str, path: str) -> Causes:
    """A probe; `name` is the container's field that holds it."""
    yield from handler_causes(probe, path)
    for period in _PERIODS:
        yield from not_negative(f"{path}.{period}", probe.get(period))
    grace = probe.get("terminationGracePeriodSeconds")
    if name == "readinessProbe":
        if grace is not None:
            detail = "must not be set for readinessProbes"
            yield invalid_value(f"{path}.terminationGracePeriodSeconds", grace, detail)
        return
    if grace is not None and grace <= 0:
        yield invalid_value(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0")
    if probe.get("successThreshold", 1) != 1:
        yield invalid_value(f"{path}.successThreshold", probe["successThreshold"], "must be 1")


def lifecycle_causes(lifecycle: Object, path: str) -> Causes:
    for hook in ("postStart", "preStop"):
        if hook in lifecycle:
            yield from handler_causes(lifecycle[hook], f"{path}.{hook}")


def handler_causes(handler: Object, path: str) -> Causes:
    """What a probe or hook does: exactly one thing."""
    given = [name for name in _HANDLERS if name in handler]
    if not given:
        yield required(path, "must specify a handler type")
    for name in given[1:]:
        yield forbidden_value(f"{path}.{name}", "may not specify more than 1 handler type")
    for name in given[:1]:
        here, action = f"{path}.{name}", handler[name]
        if name == "exec" and not action.get("command"):
            yield required(f"{here}.command")
        elif name == "httpGet":
            if not action.get("path"):
                yield required(f"{here}.path")
            yield from port_causes(action.get("port"), f"{here}.port")
            yield from one_of(f"{here}.scheme", action.get("scheme"), _SCHEMES)
        elif name in ("tcpSocket", "grpc"):
            yield from port_causes(action.get("port"), f"{here}.port")


def port_causes(port: int | str | None, path: str) -> Causes:
    """A port by number or name; none counts as 0, as in Go."""
    if isinstance(port, str):
        yield from all_invalid(path, port, port_name(port))
    else:
        yield from all_invalid(path, port or 0, port_number(port or 0))
