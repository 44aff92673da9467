"""Which fields hold a quantity, a number or a name, a long integer or a microsecond, and which may be empty.

The client's model classes call all of these string, object or int. A field is named by Go type and JSON
name; of a map or list its values have the format. Source: the types in the Kubernetes API reference.
"""

from __future__ import annotations

QUANTITIES = frozenset(
    {
        "ContainerStatus.allocatedResources", "EmptyDirVolumeSource.sizeLimit", "HPAScalingRules.tolerance",
        "LimitRangeItem.default", "LimitRangeItem.defaultRequest", "LimitRangeItem.max",
        "LimitRangeItem.maxLimitRequestRatio", "LimitRangeItem.min", "MetricTarget.averageValue",
        "MetricTarget.value", "MetricValueStatus.averageValue", "MetricValueStatus.value",
        "NodeAllocatableMappedResources.quantity", "NodeAllocatableOverheadResources.perContainer",
        "NodeAllocatableOverheadResources.perPod", "NodeStatus.allocatable", "NodeStatus.capacity",
        "PersistentVolumeClaimStatus.allocatedResources", "PersistentVolumeClaimStatus.capacity",
        "PersistentVolumeSpec.capacity", "PodSpec.overhead", "PodStatus.allocatedResources",
        "ResourceFieldSelector.divisor", "ResourceQuotaSpec.hard", "ResourceQuotaStatus.hard",
        "ResourceQuotaStatus.used", "ResourceRequirements.limits", "ResourceRequirements.requests",
        "VolumeResourceRequirements.limits", "VolumeResourceRequirements.requests",
    }
)  # fmt: skip

INT_OR_STRING = frozenset(
    {
        "HTTPGetAction.port", "NetworkPolicyPort.port", "PodDisruptionBudgetSpec.maxUnavailable",
        "PodDisruptionBudgetSpec.minAvailable", "RollingUpdateDaemonSet.maxSurge",
        "RollingUpdateDaemonSet.maxUnavailable", "RollingUpdateDeployment.maxSurge",
        "RollingUpdateDeployment.maxUnavailable", "RollingUpdateStatefulSetStrategy.maxUnavailable",
        "ServicePort.targetPort", "TCPSocketAction.port",
    }
)  # fmt: skip

INT64 = frozenset(
    {
        "ClusterTrustBundleProjection.user", "Condition.observedGeneration",
        "ConfigMapVolumeSource.defaultUser",
        "ContainerImage.sizeBytes", "ControllerRevision.revision", "CronJobSpec.startingDeadlineSeconds",
        "CustomResourceDefinitionCondition.observedGeneration",
        "CustomResourceDefinitionStatus.observedGeneration", "DaemonSetStatus.observedGeneration",
        "DeleteOptions.gracePeriodSeconds", "DeploymentStatus.observedGeneration",
        "DownwardAPIVolumeFile.user", "DownwardAPIVolumeSource.defaultUser",
        "HorizontalPodAutoscalerCondition.observedGeneration",
        "HorizontalPodAutoscalerStatus.observedGeneration", "JobSpec.activeDeadlineSeconds",
        "JSONSchemaProps.maxItems", "JSONSchemaProps.maxLength", "JSONSchemaProps.maxProperties",
        "JSONSchemaProps.minItems", "JSONSchemaProps.minLength", "JSONSchemaProps.minProperties",
        "KeyToPath.user", "LinuxContainerUser.gid", "LinuxContainerUser.supplementalGroups",
        "LinuxContainerUser.uid", "NodeSwapStatus.capacity", "ObjectMeta.deletionGracePeriodSeconds",
        "ObjectMeta.generation", "PodCertificateProjection.user", "PodCondition.observedGeneration",
        "PodDisruptionBudgetStatus.observedGeneration", "PodSecurityContext.fsGroup",
        "PodSecurityContext.runAsGroup", "PodSecurityContext.runAsUser",
        "PodSecurityContext.supplementalGroups", "PodSpec.activeDeadlineSeconds",
        "PodSpec.terminationGracePeriodSeconds", "PodStatus.observedGeneration",
        "Probe.terminationGracePeriodSeconds", "ProjectedVolumeSource.defaultUser",
        "ReplicaSetStatus.observedGeneration", "SecretVolumeSource.defaultUser", "SecurityContext.runAsGroup",
        "SecurityContext.runAsUser", "ServiceAccountTokenProjection.expirationSeconds",
        "ServiceAccountTokenProjection.user", "SleepAction.seconds", "StatefulSetStatus.observedGeneration",
        "Toleration.tolerationSeconds", "TokenRequestSpec.expirationSeconds",
    }
)  # fmt: skip

MICRO_TIMES = frozenset(
    {
        "Event.eventTime", "EventSeries.lastObservedTime", "LeaseSpec.acquireTime", "LeaseSpec.renewTime",
    }
)  # fmt: skip

BYTES = frozenset({"ConfigMap.binaryData", "Secret.data", "WebhookClientConfig.caBundle"})
"""Fields in base64, which clients before 37 call text."""

KEPT_EMPTY = frozenset(
    {
        "ClusterTrustBundleProjection.name", "EndpointPort.appProtocol", "EndpointPort.name",
        "Event.reportingComponent", "Event.reportingInstance", "GRPCAction.service",
        "HostPathVolumeSource.type", "IngressSpec.ingressClassName",
        "LeaseSpec.holderIdentity", "PersistentVolumeClaimSpec.storageClassName",
        "PersistentVolumeClaimSpec.volumeAttributesClassName",
        "PersistentVolumeSpec.volumeAttributesClassName",
        "PodDNSConfigOption.value", "PodSpec.runtimeClassName", "ServicePort.appProtocol",
        "ServiceSpec.loadBalancerClass", "ServiceSpec.trafficDistribution", "StatefulSetSpec.serviceName",
    }
)  # fmt: skip
"""Optional text for which "" is a value: pointers in Go, or fields that are always written."""

OMITTED_AT_ZERO = frozenset(
    {
        "ContainerPort.hostPort", "Container.stdin", "Container.stdinOnce", "Container.tty",
        "DaemonSetSpec.minReadySeconds", "DeploymentSpec.minReadySeconds", "DeploymentSpec.paused",
        "EphemeralContainer.stdin", "EphemeralContainer.stdinOnce", "EphemeralContainer.tty",
        "NFSVolumeSource.readOnly", "NodeSpec.unschedulable", "ObjectMeta.generation",
        "PersistentVolumeClaimVolumeSource.readOnly",
        "PodSpec.hostIPC", "PodSpec.hostNetwork", "PodSpec.hostPID", "PriorityClass.globalDefault",
        "Probe.failureThreshold", "Probe.initialDelaySeconds", "Probe.periodSeconds",
        "Probe.successThreshold", "Probe.timeoutSeconds", "ReplicaSetSpec.minReadySeconds",
        "ServicePort.nodePort",
        "ServiceSpec.healthCheckNodePort", "ServiceSpec.publishNotReadyAddresses",
        "StatefulSetSpec.minReadySeconds", "VolumeMount.readOnly",
    }
)  # fmt: skip
"""Numbers and switches that Go does not write when 0 or false; all others are pointers."""
