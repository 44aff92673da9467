"""What the API server fills in where an object says nothing (Kubernetes 1.33, the `SetDefaults_*` functions)."""

from __future__ import annotations

from collections.abc import Callable

from pytest_microremed.embedded.api import resources as r
from pytest_microremed.embedded.api.autoscaling_v1 import default_autoscaler_v1
from pytest_microremed.embedded.api.cluster_defaults import (
    default_binding,
    default_claim,
    default_endpoint_slice,
    default_endpoints,
    default_limit_range,
    default_namespace,
    default_network_policy,
    default_node,
    default_priority_class,
    default_secret,
    default_service,
    default_storage_class,
    default_volume,
)
from pytest_microremed.embedded.api.pod_defaults import default_pod
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.workload_defaults import (
    default_autoscaler,
    default_cron_job,
    default_daemon_set,
    default_deployment,
    default_job,
    default_replica_set,
    default_stateful_set,
)

_DEFAULTS: dict[Resource, Callable[[Object], Object]] = {
    r.PODS: default_pod,
    r.DEPLOYMENTS: default_deployment,
    r.REPLICA_SETS: default_replica_set,
    r.STATEFUL_SETS: default_stateful_set,
    r.DAEMON_SETS: default_daemon_set,
    r.JOBS: default_job,
    r.CRON_JOBS: default_cron_job,
    r.HORIZONTAL_POD_AUTOSCALERS: default_autoscaler,
    r.HORIZONTAL_POD_AUTOSCALERS_V1: default_autoscaler_v1,
    r.SERVICES: default_service,
    r.ENDPOINTS: default_endpoints,
    r.ENDPOINT_SLICES: default_endpoint_slice,
    r.NAMESPACES: default_namespace,
    r.NODES: default_node,
    r.SECRETS: default_secret,
    r.PERSISTENT_VOLUME_CLAIMS: default_claim,
    r.PERSISTENT_VOLUMES: default_volume,
    r.LIMIT_RANGES: default_limit_range,
    r.NETWORK_POLICIES: default_network_policy,
    r.ROLE_BINDINGS: default_binding,
    r.CLUSTER_ROLE_BINDINGS: default_binding,
    r.STORAGE_CLASSES: default_storage_class,
    r.PRIORITY_CLASSES: default_priority_class,
}


def apply_defaults(resource: Resource, obj: Object) -> Object:
    """The object with the server's defaults; `obj` is not changed. A second application changes nothing."""
    if resource.custom:
        from pytest_microremed.embedded.api.custom_defaults import default_custom

        filled: Object = default_custom(obj, resource.schema or {})
        return filled
    default = _DEFAULTS.get(resource)
    return default(obj) if default else obj
