"""The columns of each kind's table (Kubernetes: `pkg/printers/internalversion`, `AddHandlers`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pytest_microremed.embedded.api import cells, resources
from pytest_microremed.embedded.api.autoscaling_v1 import to_v2
from pytest_microremed.embedded.api.cells import NONE, dig
from pytest_microremed.embedded.api.durations import age
from pytest_microremed.embedded.api.pod_cells import summarize
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.selectors import format_selector
from pytest_microremed.embedded.api.store import Object


@dataclass(frozen=True)
class Column:
    """One column: how it is announced, and its cell for an object at a moment. Priority 1: only `-o wide`."""

    name: str
    cell: Callable[[Object, datetime], Any]
    type: str = "string"
    priority: int = 0

    def definition(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "format": "name" if self.name == "Name" else "",
            "description": "",
            "priority": self.priority,
        }


def _of(name: str, cell: Callable[[Object], Any], type_: str = "string", *, wide: bool = False) -> Column:
    return Column(name, lambda obj, now: cell(obj), type_, 1 if wide else 0)


def _field(name: str, path: str, default: Any = "", type_: str = "string", *, wide: bool = False) -> Column:
    return _of(name, lambda obj: dig(obj, path, default), type_, wide=wide)


def _count(name: str, path: str) -> Column:
    return _field(name, path, 0, "integer")


def _length(name: str, path: str) -> Column:
    return _of(name, lambda obj: len(dig(obj, path, ())), "integer")


NAME = _field("Name", "metadata.name")
AGE = Column("Age", lambda obj, now: age(obj["metadata"].get("creationTimestamp"), now))
CREATED = _field("Created At", "metadata.creationTimestamp")
_CONTAINERS = (
    _of("Containers", cells.container_names, wide=True),
    _of("Images", cells.container_images, wide=True),
)
_SELECTOR = _of("Selector", lambda obj: format_selector(dig(obj, "spec.selector")), wide=True)
_VOLUME_MODE = _field("VolumeMode", "spec.volumeMode", "<unset>", wide=True)


def _ready_of(desired: str) -> Column:
    return _of("Ready", lambda obj: f"{dig(obj, 'status.readyReplicas', 0)}/{dig(obj, desired, 0)}")


def _autoscaler_columns(targets: Callable[[Object], str]) -> tuple[Column, ...]:
    return (
        NAME,
        _of("Reference", cells.scale_target),
        _of("Targets", targets),
        _field("MinPods", "spec.minReplicas", "<unset>"),
        _field("MaxPods", "spec.maxReplicas"),
        _field("Replicas", "status.currentReplicas", 0),
        AGE,
    )


def _binding_columns() -> tuple[Column, ...]:
    role = _of("Role", lambda obj: f"{dig(obj, 'roleRef.kind')}/{dig(obj, 'roleRef.name')}")
    return (
        NAME,
        role,
        AGE,
        _of("Users", lambda obj: cells.subjects(obj, "User"), wide=True),
        _of("Groups", lambda obj: cells.subjects(obj, "Group"), wide=True),
        _of("ServiceAccounts", lambda obj: cells.subjects(obj, "ServiceAccount"), wide=True),
    )


_COLUMNS: dict[Resource, tuple[Column, ...]] = {
    resources.PODS: (
        NAME,
        _of("Ready", lambda obj: summarize(obj).ready),
        _of("Status", lambda obj: summarize(obj).status),
        Column("Restarts", lambda obj, now: summarize(obj).restarts_cell(now)),
        AGE,
        _field("IP", "status.podIP", NONE, wide=True),
        _field("Node", "spec.nodeName", NONE, wide=True),
        _field("Nominated Node", "status.nominatedNodeName", NONE, wide=True),
        _of("Readiness Gates", lambda obj: NONE, wide=True),
    ),
    resources.NODES: (
        NAME,
        _of("Status", cells.node_status),
        _of("Roles", cells.node_roles),
        AGE,
        _field("Version", "status.nodeInfo.kubeletVersion"),
        _of("Internal-IP", lambda obj: cells.node_address(obj, "InternalIP"), wide=True),
        _of("External-IP", lambda obj: cells.node_address(obj, "ExternalIP"), wide=True),
        _field("OS-Image", "status.nodeInfo.osImage", "<unknown>", wide=True),
        _field("Kernel-Version", "status.nodeInfo.kernelVersion", "<unknown>", wide=True),
        _field("Container-Runtime", "status.nodeInfo.containerRuntimeVersion", "<unknown>", wide=True),
    ),
    resources.SERVICES: (
        NAME,
        _field("Type", "spec.type"),
        _field("Cluster-IP", "spec.clusterIP", NONE),
        _of("External-IP", cells.service_external),
        _of("Port(s)", cells.service_ports),
        AGE,
        _of("Selector", lambda obj: cells.labels(dig(obj, "spec.selector")), wide=True),
    ),
    resources.NAMESPACES: (NAME, _field("Status", "status.phase"), AGE),
    resources.EVENTS: (
        Column("Last Seen", cells.event_last_seen),
        _field("Type", "type"),
        _field("Reason", "reason"),
        _of("Object", cells.event_object),
        _field("Subobject", "involvedObject.fieldPath", wide=True),
        _of("Source", cells.event_source, wide=True),
        _of("Message", lambda obj: str(obj.get("message", "")).strip()),
        Column("First Seen", cells.event_first_seen, priority=1),
        _field("Count", "count", 1, wide=True),
        _field("Name", "metadata.name", wide=True),
    ),
    resources.CONFIG_MAPS: (
        NAME,
        _of("Data", lambda obj: len(obj.get("data") or ()) + len(obj.get("binaryData") or ()), "integer"),
        AGE,
    ),
    resources.SECRETS: (NAME, _field("Type", "type"), _length("Data", "data"), AGE),
    resources.SERVICE_ACCOUNTS: (NAME, _length("Secrets", "secrets"), AGE),
    resources.PERSISTENT_VOLUME_CLAIMS: (
        NAME,
        _of("Status", cells.phase),
        _field("Volume", "spec.volumeName"),
        _field("Capacity", "status.capacity.storage"),
        _of("Access Modes", lambda obj: cells.access_modes(dig(obj, "status.accessModes"))),
        _field("StorageClass", "spec.storageClassName"),
        AGE,
        _VOLUME_MODE,
    ),
    resources.PERSISTENT_VOLUMES: (
        NAME,
        _field("Capacity", "spec.capacity.storage"),
        _of("Access Modes", lambda obj: cells.access_modes(dig(obj, "spec.accessModes"))),
        _field("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
        _of("Status", cells.phase),
        _of("Claim", cells.claim_of),
        _field("StorageClass", "spec.storageClassName"),
        _field("Reason", "status.reason"),
        AGE,
        _VOLUME_MODE,
    ),
    resources.RESOURCE_QUOTAS: (
        NAME,
        AGE,
        _of("Request", lambda obj: cells.quota_usage(obj, limits=False)),
        _of("Limit", lambda obj: cells.quota_usage(obj, limits=True)),
    ),
    resources.LIMIT_RANGES: (NAME, CREATED),
    resources.ENDPOINTS: (NAME, _of("Endpoints", cells.endpoint_addresses), AGE),
    resources.ENDPOINT_SLICES: (
        NAME,
        _field("AddressType", "addressType"),
        _of("Ports", lambda obj: cells.joined(each.get("port", "*") for each in obj.get("ports") or ())),
        _of("Endpoints", cells.slice_addresses),
        AGE,
    ),
    resources.DEPLOYMENTS: (
        NAME,
        _ready_of("spec.replicas"),
        _count("Up-to-date", "status.updatedReplicas"),
        _count("Available", "status.availableReplicas"),
        AGE,
        *_CONTAINERS,
        _SELECTOR,
    ),
    resources.REPLICA_SETS: (
        NAME,
        _count("Desired", "spec.replicas"),
        _count("Current", "status.replicas"),
        _count("Ready", "status.readyReplicas"),
        AGE,
        *_CONTAINERS,
        _SELECTOR,
    ),
    resources.STATEFUL_SETS: (NAME, _ready_of("spec.replicas"), AGE, *_CONTAINERS),
    resources.DAEMON_SETS: (
        NAME,
        _count("Desired", "status.desiredNumberScheduled"),
        _count("Current", "status.currentNumberScheduled"),
        _count("Ready", "status.numberReady"),
        _count("Up-to-date", "status.updatedNumberScheduled"),
        _count("Available", "status.numberAvailable"),
        _of("Node Selector", lambda obj: cells.labels(dig(obj, "spec.template.spec.nodeSelector"))),
        AGE,
        *_CONTAINERS,
        _SELECTOR,
    ),
    resources.CONTROLLER_REVISIONS: (
        NAME,
        _of("Controller", cells.controller),
        _count("Revision", "revision"),
        AGE,
    ),
    resources.JOBS: (
        NAME,
        _of("Completions", cells.job_completions),
        Column("Duration", cells.job_duration),
        AGE,
        *_CONTAINERS,
        _SELECTOR,
    ),
    resources.CRON_JOBS: (
        NAME,
        _field("Schedule", "spec.schedule"),
        _field("Timezone", "spec.timeZone", NONE),
        _of("Suspend", lambda obj: str(dig(obj, "spec.suspend", False))),
        _length("Active", "status.active"),
        Column("Last Schedule", cells.last_schedule),
        AGE,
    ),
    resources.NETWORK_POLICIES: (
        NAME,
        _of("Pod-Selector", lambda obj: format_selector(dig(obj, "spec.podSelector"))),
        AGE,
    ),
    resources.INGRESSES: (
        NAME,
        _field("Class", "spec.ingressClassName", NONE),
        _of("Hosts", cells.ingress_hosts),
        _of("Address", cells.ingress_address),
        _of("Ports", lambda obj: "80, 443" if dig(obj, "spec.tls") else "80"),
        AGE,
    ),
    resources.POD_DISRUPTION_BUDGETS: (
        NAME,
        _field("Min Available", "spec.minAvailable", "N/A"),
        _field("Max Unavailable", "spec.maxUnavailable", "N/A"),
        _count("Allowed Disruptions", "status.disruptionsAllowed"),
        AGE,
    ),
    resources.HORIZONTAL_POD_AUTOSCALERS: _autoscaler_columns(cells.metric_targets),
    resources.HORIZONTAL_POD_AUTOSCALERS_V1: _autoscaler_columns(lambda obj: cells.metric_targets(to_v2(obj))),
    resources.STORAGE_CLASSES: (
        NAME,
        _field("Provisioner", "provisioner"),
        _field("ReclaimPolicy", "reclaimPolicy"),
        _field("VolumeBindingMode", "volumeBindingMode"),
        _field("AllowVolumeExpansion", "allowVolumeExpansion", False),
        AGE,
    ),
    resources.PRIORITY_CLASSES: (
        NAME,
        _count("Value", "value"),
        _field("Global-Default", "globalDefault", False, "boolean"),
        AGE,
        _field("PreemptionPolicy", "preemptionPolicy"),
    ),
    resources.LEASES: (NAME, _field("Holder", "spec.holderIdentity"), AGE),
    resources.ROLES: (NAME, CREATED),
    resources.CLUSTER_ROLES: (NAME, CREATED),
    resources.ROLE_BINDINGS: _binding_columns(),
    resources.CLUSTER_ROLE_BINDINGS: _binding_columns(),
    resources.CUSTOM_RESOURCE_DEFINITIONS: (NAME, CREATED),
}  # fmt: skip


def built_in_columns(resource: Resource) -> tuple[Column, ...]:
    return _COLUMNS.get(resource, (NAME, AGE))
