"""How the lists and maps of the built-in types merge: what the client's model classes do not say.

A field is named by its Go type and JSON name, `Container.env`. Sources: the tags `patchStrategy`,
`patchMergeKey`, `listType`, `listMapKey`, `mapType` and `structType` of the types in the Kubernetes API
reference. A list that is not named here is atomic: patches replace it, and server-side apply owns it, as a
whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class MergeRule:
    """How one field merges, in server-side apply and in strategic merge patches."""

    list_type: str = ""
    """`map`, `set` or `atomic` for lists; empty for fields of other types."""
    map_keys: tuple[str, ...] = ()
    """What tells the items of a `map` list apart in server-side apply."""
    patch_key: str = ""
    """What tells the items apart in a strategic merge patch: one key, even where apply has two."""
    patch_strategies: tuple[str, ...] = ()
    """Of `merge`, `retainKeys` and `replace`."""


def _keyed(*keys: str, retain: bool = False) -> MergeRule:
    return MergeRule("map", keys, keys[0], ("merge", "retainKeys") if retain else ("merge",))


def _apply_only(*keys: str) -> MergeRule:
    return MergeRule("map", keys)


def _patch_only(key: str) -> MergeRule:
    return MergeRule("atomic", (), key, ("merge",))


ATOMIC = MergeRule("atomic")
_SET = MergeRule("set")
_CONDITIONS = _keyed("type")

MERGE_RULES: Mapping[str, MergeRule] = {
    "Container.env": _keyed("name"),
    "Container.ports": _keyed("containerPort", "protocol"),
    "Container.volumeDevices": _keyed("devicePath"),
    "Container.volumeMounts": _keyed("mountPath"),
    "ContainerRestartRuleOnExitCodes.values": _SET,
    "ContainerStatus.allocatedResourcesStatus": _keyed("name"),
    "ContainerStatus.volumeMounts": _keyed("mountPath"),
    "CustomResourceDefinitionStatus.conditions": _apply_only("type"),
    "DaemonSetStatus.conditions": _CONDITIONS,
    "DeploymentSpec.strategy": MergeRule(patch_strategies=("retainKeys",)),
    "DeploymentStatus.conditions": _CONDITIONS,
    "Endpoint.addresses": _SET,
    "EphemeralContainer.env": _keyed("name"),
    "EphemeralContainer.ports": _keyed("containerPort", "protocol"),
    "EphemeralContainer.volumeDevices": _keyed("devicePath"),
    "EphemeralContainer.volumeMounts": _keyed("mountPath"),
    "HorizontalPodAutoscalerStatus.conditions": _CONDITIONS,
    "JobSchedulingConfiguration.resourceClaims": _keyed("name"),
    "JobStatus.conditions": _patch_only("type"),
    "JSONSchemaProps.x-kubernetes-validations": _keyed("rule"),
    "NamespaceStatus.conditions": _CONDITIONS,
    "NodeAllocatableResourceClaimStatus.containers": _SET,
    "NodeAllocatableResourceClaimStatus.mapping": _keyed("name"),
    "NodeAllocatableResourceClaimStatus.overhead": _keyed("name"),
    "NodePodPreemptionPolicy.disableResizePreemption": _SET,
    "NodeSpec.podCIDRs": MergeRule("set", (), "", ("merge",)),
    "NodeStatus.addresses": _keyed("type"),
    "NodeStatus.conditions": _CONDITIONS,
    "ObjectMeta.finalizers": MergeRule("set", (), "", ("merge",)),
    "ObjectMeta.ownerReferences": _keyed("uid"),
    "PersistentVolumeClaimStatus.conditions": _CONDITIONS,
    "PodDisruptionBudgetSpec.selector": MergeRule(patch_strategies=("replace",)),
    "PodDisruptionBudgetStatus.conditions": _CONDITIONS,
    "PodFailurePolicyOnExitCodesRequirement.values": _SET,
    "PodSpec.containers": _keyed("name"),
    "PodSpec.ephemeralContainers": _keyed("name"),
    "PodSpec.evictionResponders": _keyed("name"),
    "PodSpec.hostAliases": _keyed("ip"),
    "PodSpec.imagePullSecrets": _keyed("name"),
    "PodSpec.initContainers": _keyed("name"),
    "PodSpec.resourceClaims": _keyed("name", retain=True),
    "PodSpec.schedulingGates": _keyed("name"),
    "PodSpec.topologySpreadConstraints": _keyed("topologyKey", "whenUnsatisfiable"),
    "PodSpec.volumes": _keyed("name", retain=True),
    "PodStatus.conditions": _CONDITIONS,
    "PodStatus.hostIPs": _patch_only("ip"),
    "PodStatus.nodeAllocatableResourceClaimStatuses": _keyed("resourceClaimName"),
    "PodStatus.podIPs": _keyed("ip"),
    "PodStatus.resourceClaimStatuses": _keyed("name", retain=True),
    "PodStatus.volumeHealth": _apply_only("name"),
    "PodVolumeHealth.healthConditions": _keyed("status", "reason"),
    "ReplicaSetStatus.conditions": _CONDITIONS,
    "ResourceRequirements.claims": _apply_only("name"),
    "ResourceStatus.resources": _apply_only("resourceID"),
    "ServiceAccount.secrets": _keyed("name"),
    "ServiceSpec.ports": _keyed("port", "protocol"),
    "ServiceStatus.conditions": _CONDITIONS,
    "StatefulSetStatus.conditions": _CONDITIONS,
    "UncountedTerminatedPods.failed": _SET,
    "UncountedTerminatedPods.succeeded": _SET,
    "VolumeHealthStatus.healthConditions": _keyed("status", "reason"),
    "VolumeMount.bindMountOptions": _SET,
}

ATOMIC_TYPES = frozenset(
    {
        "ConfigMapKeySelector", "EndpointAddress", "EndpointPort", "EvictionResponder", "FileKeySelector",
        "LabelSelector", "LocalObjectReference", "NodeSelector", "NodeSelectorTerm", "ObjectFieldSelector",
        "ObjectReference", "OwnerReference", "ResourceFieldSelector", "RoleRef", "ScopeSelector",
        "SecretKeySelector", "SecretReference", "ServiceBackendPort", "Subject", "TopologySelectorTerm",
        "TypedLocalObjectReference",
    }
)  # fmt: skip
"""Structures that server-side apply owns as a whole."""

ATOMIC_FIELDS = frozenset({"PodSpec.nodeSelector", "ServiceSpec.selector"})
"""Maps with free keys that server-side apply owns as a whole."""

GRANULAR_FIELDS = frozenset({"PersistentVolumeSpec.claimRef"})
"""Fields whose type is atomic elsewhere."""
