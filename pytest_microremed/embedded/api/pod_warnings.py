"""What the API server accepts in pods and templates but warns of: likely mistakes (`pkg/api/pod/warnings.go`)."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_microremed.embedded.api.quantity import parse_quantity
from pytest_microremed.embedded.api.resources import CRON_JOBS, PODS, Resource
from pytest_microremed.embedded.api.store import Object

_BYTES = ("memory", "ephemeral-storage")


def pod_warnings(resource: Resource, obj: Object, old: Object | None = None) -> list[str]:
    """The warnings for a created object, or for an update of `old` that changes its spec."""
    spec = obj.get("spec") or {}
    if resource.custom or (old is not None and old.get("spec") == spec):
        return []
    if resource == PODS:
        return list(_pod(spec, "spec"))
    if resource == CRON_JOBS:
        job = (spec.get("jobTemplate") or {}).get("spec") or {}
        return list(_template(job, "spec.jobTemplate.spec.template"))
    return list(_template(spec, "spec.template"))


def _template(spec: Object, path: str) -> Iterator[str]:
    template = spec.get("template")
    if isinstance(template, dict):
        yield from _pod(template.get("spec") or {}, f"{path}.spec")


def _pod(spec: Object, path: str) -> Iterator[str]:
    for field in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(field) or ()):
            here = f"{path}.{field}[{index}]"
            yield from _hidden_variables(container, here)
            yield from _repeated_ports(container, here)
            yield from _fractional_bytes(container, here)


def _hidden_variables(container: Object, path: str) -> Iterator[str]:
    seen = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name")
        if name in seen:
            what = f'hides previous definition of "{name}", which may be dropped when using apply'
            yield f"{path}.env[{index}]: {what}"
        seen.add(name)


def _repeated_ports(container: Object, path: str) -> Iterator[str]:
    seen: dict[tuple[object, object], int] = {}
    for index, port in enumerate(container.get("ports") or ()):
        key = port.get("containerPort"), port.get("protocol")
        if key in seen:
            yield f"{path}.ports[{index}]: duplicate port definition with {path}.ports[{seen[key]}]"
        seen.setdefault(key, index)


def _fractional_bytes(container: Object, path: str) -> Iterator[str]:
    """`memory: 512m` is half a byte: the suffix of milli, meant as mega."""
    resources = container.get("resources") or {}
    for field in ("limits", "requests"):
        for name, quantity in (resources.get(field) or {}).items():
            value = parse_quantity(quantity)
            if name in _BYTES and value != value.to_integral_value():
                what = f'fractional byte value "{quantity}" is invalid, must be an integer'
                yield f"{path}.resources.{field}[{name}]: {what}"
