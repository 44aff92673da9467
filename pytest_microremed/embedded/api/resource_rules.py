"""Rules of the compute resources that containers ask for."""

from __future__ import annotations

from pytest_microremed.embedded.api.causes import NEGATIVE, Causes, all_invalid, invalid_value, required
from pytest_microremed.embedded.api.name_rules import label_key
from pytest_microremed.embedded.api.quantity import canonical_quantity, parse_quantity
from pytest_microremed.embedded.api.store import Object

_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_OTHER_STANDARD = (
    "pods", "services", "replicationcontrollers", "secrets", "configmaps", "persistentvolumeclaims",
    "storage",
    "resourcequotas", "services.nodeports", "services.loadbalancers",
)  # fmt: skip
_STANDARD_PREFIXES = ("requests.", "limits.", "hugepages-")
_HUGE_PAGES = "hugepages-"


def resource_causes(resources: Object, path: str) -> Causes:
    limits, requests = resources.get("limits") or {}, resources.get("requests") or {}
    for name, quantity in limits.items():
        yield from _quantity_causes(name, quantity, f"{path}.limits[{name}]")
    for name, quantity in requests.items():
        yield from _quantity_causes(name, quantity, f"{path}.requests[{name}]")
        if name in limits:
            yield from _limit_causes(name, quantity, limits[name], f"{path}.requests")
        elif not _may_exceed(name):
            yield required(f"{path}.limits", "Limit must be set for non overcommitable resources")


def _quantity_causes(name: str, quantity: str, path: str) -> Causes:
    yield from all_invalid(path, name, label_key(name))
    if "/" not in name:
        if name not in (*_COMPUTE, *_OTHER_STANDARD) and not name.startswith(_STANDARD_PREFIXES):
            yield invalid_value(path, name, "must be a standard resource type or fully qualified")
        if name not in _COMPUTE and not name.startswith(_HUGE_PAGES):
            yield invalid_value(path, name, "must be a standard resource for containers")
    value = parse_quantity(quantity)
    if value < 0:
        yield invalid_value(path, quantity, NEGATIVE)
    if "/" in name and value != value.to_integral_value():
        yield invalid_value(path, quantity, "must be an integer")


def _limit_causes(name: str, request: str, limit: str, path: str) -> Causes:
    wanted, most = parse_quantity(request), parse_quantity(limit)
    shown = canonical_quantity(request)
    if wanted != most and not _may_exceed(name):
        yield invalid_value(path, shown, f"must be equal to {name} limit of {canonical_quantity(limit)}")
    elif wanted > most:
        detail = f"must be less than or equal to {name} limit of {canonical_quantity(limit)}"
        yield invalid_value(path, shown, detail)


def _may_exceed(name: str) -> bool:
    """Whether limits may exceed requests: for compute resources, not for huge pages and devices."""
    return "/" not in name and not name.startswith(_HUGE_PAGES)
