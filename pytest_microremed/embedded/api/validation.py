"""The rules of each kind, checked before an object is stored; all that are broken are told."""

from __future__ import annotations

from collections.abc import Callable

from pytest_microremed.embedded.api import resources as r
from pytest_microremed.embedded.api.autoscaling_v1 import to_v2
from pytest_microremed.embedded.api.causes import Causes
from pytest_microremed.embedded.api.config_rules import (
    claim_causes,
    claim_update_causes,
    config_map_causes,
    config_update_causes,
    secret_causes,
)
from pytest_microremed.embedded.api.custom_rules import custom_causes
from pytest_microremed.embedded.api.defaults import apply_defaults
from pytest_microremed.embedded.api.errors import Cause, invalid
from pytest_microremed.embedded.api.field_check import check_fields
from pytest_microremed.embedded.api.metadata_rules import metadata_causes, metadata_update_causes
from pytest_microremed.embedded.api.pod_rules import pod_causes, pod_update_causes
from pytest_microremed.embedded.api.policy_rules import (
    autoscaler_causes,
    binding_causes,
    binding_update_causes,
    budget_causes,
    role_causes,
)
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.service_rules import (
    ingress_causes,
    network_policy_causes,
    service_causes,
    service_update_causes,
)
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.workload_rules import (
    cron_job_causes,
    daemon_set_causes,
    deployment_causes,
    job_causes,
    job_update_causes,
    replica_set_causes,
    selector_update_causes,
    stateful_set_causes,
    stateful_set_update_causes,
)

__all__ = ["check_fields", "validate_create", "validate_update"]

_RULES: dict[Resource, Callable[[Object], Causes]] = {
    r.PODS: pod_causes,
    r.DEPLOYMENTS: deployment_causes,
    r.REPLICA_SETS: replica_set_causes,
    r.STATEFUL_SETS: stateful_set_causes,
    r.DAEMON_SETS: daemon_set_causes,
    r.JOBS: job_causes,
    r.CRON_JOBS: cron_job_causes,
    r.SERVICES: service_causes,
    r.INGRESSES: ingress_causes,
    r.NETWORK_POLICIES: network_policy_causes,
    r.CONFIG_MAPS: config_map_causes,
    r.SECRETS: secret_causes,
    r.PERSISTENT_VOLUME_CLAIMS: claim_causes,
    r.HORIZONTAL_POD_AUTOSCALERS: autoscaler_causes,
    r.HORIZONTAL_POD_AUTOSCALERS_V1: lambda obj: autoscaler_causes(to_v2(obj)),
    r.POD_DISRUPTION_BUDGETS: budget_causes,
    r.ROLES: role_causes,
    r.CLUSTER_ROLES: role_causes,
    r.ROLE_BINDINGS: binding_causes,
    r.CLUSTER_ROLE_BINDINGS: binding_causes,
}
_UPDATE_RULES: dict[Resource, Callable[[Object, Object], Causes]] = {
    r.PODS: pod_update_causes,
    r.DEPLOYMENTS: selector_update_causes,
    r.REPLICA_SETS: selector_update_causes,
    r.STATEFUL_SETS: stateful_set_update_causes,
    r.DAEMON_SETS: selector_update_causes,
    r.JOBS: job_update_causes,
    r.SERVICES: service_update_causes,
    r.CONFIG_MAPS: config_update_causes,
    r.SECRETS: config_update_causes,
    r.PERSISTENT_VOLUME_CLAIMS: claim_update_causes,
    r.ROLE_BINDINGS: binding_update_causes,
    r.CLUSTER_ROLE_BINDINGS: binding_update_causes,
}
_JUDGED_BY_CHANGES = (r.PODS, r.PERSISTENT_VOLUME_CLAIMS)
"""Of these an update is judged by what it changes, not by what was there before."""


def validate_create(resource: Resource, obj: Object) -> None:
    """Raises ApiError 422 for an object that breaks the rules of its kind."""
    _refuse(resource, obj, [*metadata_causes(resource, obj), *_kind_causes(resource, obj)])


def validate_update(resource: Resource, obj: Object, old: Object) -> None:
    """Raises ApiError 422 for a change that breaks the rules of the kind, or that they do not allow."""
    old = apply_defaults(resource, old)  # what controllers store has none, and that is no change
    causes = [*metadata_update_causes(resource, obj, old)]
    if resource not in _JUDGED_BY_CHANGES:
        causes.extend(_kind_causes(resource, obj))
    update_rule = _UPDATE_RULES.get(resource)
    if update_rule:
        causes.extend(update_rule(obj, old))
    _refuse(resource, obj, causes)


def _kind_causes(resource: Resource, obj: Object) -> Causes:
    if resource.custom:
        yield from custom_causes(obj, resource.schema or {})
    elif resource in _RULES:
        yield from _RULES[resource](obj)


def _refuse(resource: Resource, obj: Object, causes: list[Cause]) -> None:
    if causes:
        raise invalid(resource.group, resource.kind, obj["metadata"].get("name", ""), causes)
