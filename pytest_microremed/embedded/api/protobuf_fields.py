"""Field numbers of the messages that kubectl sends as protobuf: the kinds it creates, and what they contain.

A row lists the JSON names of a message's fields in the order of their numbers, from 1 and without gaps
unless one is given (`9:progressDeadlineSeconds`). `+VolumeSource` is a message whose fields are those of
the one it is in. `v1.HorizontalPodAutoscalerSpec` is a message that this version numbers unlike the others.
What a field's type is, the schema knows. Source: the wire format of the Kubernetes API (`generated.proto`
of each group).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

_ROWS = {
    "Affinity": "nodeAffinity podAffinity podAntiAffinity",
    "AggregationRule": "clusterRoleSelectors",
    "AppArmorProfile": "type localhostProfile",
    "AttestationValue": "items",
    "BoundObjectReference": "kind apiVersion name uid",
    "CSIVolumeSource": "driver readOnly fsType volumeAttributes nodePublishSecretRef",
    "Capabilities": "add drop",
    "ClientIPConfig": "timeoutSeconds",
    "ClusterRole": "metadata rules aggregationRule",
    "ClusterRoleBinding": "metadata subjects roleRef",
    "ClusterTrustBundleProjection": "name signerName labelSelector path optional user",
    "ConfigMap": "metadata data binaryData immutable",
    "ConfigMapEnvSource": "+LocalObjectReference optional",
    "ConfigMapKeySelector": "+LocalObjectReference key optional",
    "ConfigMapProjection": "+LocalObjectReference items 4:optional",
    "ConfigMapVolumeSource": "+LocalObjectReference items defaultMode optional defaultUser",
    "Container": (
        "name image command args workingDir ports env resources volumeMounts livenessProbe "
        "readinessProbe lifecycle terminationMessagePath imagePullPolicy securityContext stdin "
        "stdinOnce tty envFrom terminationMessagePolicy volumeDevices startupProbe resizePolicy "
        "restartPolicy restartPolicyRules"
    ),
    "ContainerPort": "name hostPort containerPort protocol hostIP",
    "ContainerResizePolicy": "resourceName restartPolicy",
    "ContainerResourceMetricSource": "name target container",
    "ContainerRestartRule": "action exitCodes",
    "ContainerRestartRuleOnExitCodes": "operator values",
    "CronJob": "metadata spec",
    "CronJobSpec": (
        "schedule startingDeadlineSeconds concurrencyPolicy suspend jobTemplate "
        "successfulJobsHistoryLimit failedJobsHistoryLimit timeZone"
    ),
    "CrossVersionObjectReference": "kind name apiVersion",
    "DeleteOptions": (
        "gracePeriodSeconds preconditions orphanDependents propagationPolicy dryRun "
        "ignoreStoreReadErrorWithClusterBreakingPotential"
    ),
    "Deployment": "metadata spec",
    "DeploymentSpec": (
        "replicas selector template strategy minReadySeconds revisionHistoryLimit paused 9:progressDeadlineSeconds"
    ),
    "DeploymentStrategy": "type rollingUpdate",
    "DownwardAPIProjection": "items",
    "DownwardAPIVolumeFile": "path fieldRef resourceFieldRef mode user",
    "DownwardAPIVolumeSource": "items defaultMode defaultUser",
    "EmptyDirVolumeSource": "medium sizeLimit mode",
    "EnvFromSource": "prefix configMapRef secretRef",
    "EnvVar": "name value valueFrom",
    "EnvVarSource": "fieldRef resourceFieldRef configMapKeyRef secretKeyRef fileKeyRef",
    "EphemeralContainer": "+EphemeralContainerCommon targetContainerName",
    "EphemeralContainerCommon": (
        "name image command args workingDir ports env resources volumeMounts livenessProbe "
        "readinessProbe lifecycle terminationMessagePath imagePullPolicy securityContext stdin "
        "stdinOnce tty envFrom terminationMessagePolicy volumeDevices startupProbe resizePolicy "
        "restartPolicy restartPolicyRules"
    ),
    "EphemeralVolumeSource": "volumeClaimTemplate",
    "Eviction": "metadata deleteOptions",
    "EvictionResponder": "name priority",
    "ExecAction": "command",
    "ExternalMetricSource": "metric target",
    "FieldSelectorAttributes": "rawSelector requirements",
    "FieldSelectorRequirement": "key operator values",
    "FileKeySelector": "volumeName path key optional",
    "GRPCAction": "port service mode",
    "HPAScalingPolicy": "type value periodSeconds",
    "HPAScalingRules": "selectPolicy policies stabilizationWindowSeconds tolerance",
    "HTTPGetAction": "path port host scheme httpHeaders protocol",
    "HTTPHeader": "name value",
    "HTTPIngressPath": "path backend pathType",
    "HTTPIngressRuleValue": "paths",
    "HorizontalPodAutoscaler": "metadata spec",
    "HorizontalPodAutoscalerBehavior": "scaleUp scaleDown",
    "HorizontalPodAutoscalerSpec": "scaleTargetRef minReplicas maxReplicas metrics behavior",
    "HostAlias": "ip hostnames",
    "HostPathVolumeSource": "path type",
    "ImageVolumeSource": "reference pullPolicy",
    "Ingress": "metadata spec",
    "IngressBackend": "3:resource service",
    "IngressRule": "host +IngressRuleValue",
    "IngressRuleValue": "http",
    "IngressServiceBackend": "name port",
    "IngressSpec": "defaultBackend tls rules ingressClassName",
    "IngressTLS": "hosts secretName",
    "Job": "metadata spec",
    "JobSchedulingConfiguration": "schedulingPolicy schedulingConstraints disruptionMode resourceClaims",
    "JobSpec": (
        "parallelism completions activeDeadlineSeconds selector manualSelector template backoffLimit "
        "ttlSecondsAfterFinished completionMode suspend podFailurePolicy backoffLimitPerIndex "
        "maxFailedIndexes podReplacementPolicy managedBy successPolicy scheduling"
    ),
    "JobTemplateSpec": "metadata spec",
    "KeyToPath": "key path mode user",
    "LabelSelector": "matchLabels matchExpressions",
    "LabelSelectorAttributes": "rawSelector requirements",
    "LabelSelectorRequirement": "key operator values",
    "Lifecycle": "postStart preStop stopSignal",
    "LifecycleHandler": "exec httpGet tcpSocket sleep",
    "LocalObjectReference": "name",
    "MetricIdentifier": "name selector",
    "MetricSpec": "type object pods resource external 7:containerResource",
    "MetricTarget": "type value averageValue averageUtilization",
    "NFSVolumeSource": "server path readOnly",
    "Namespace": "metadata spec",
    "NamespaceSpec": "finalizers",
    "NodeAffinity": ("requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution"),
    "NodeSelector": "nodeSelectorTerms",
    "NodeSelectorRequirement": "key operator values",
    "NodeSelectorTerm": "matchExpressions matchFields",
    "NonResourceAttributes": "path verb",
    "ObjectFieldSelector": "apiVersion fieldPath",
    "ObjectMeta": (
        "name generateName namespace selfLink uid resourceVersion generation creationTimestamp "
        "deletionTimestamp deletionGracePeriodSeconds labels annotations ownerReferences finalizers"
    ),
    "ObjectMetricSource": "describedObject target metric",
    "ObjectReference": "kind namespace name uid apiVersion resourceVersion fieldPath",
    "OwnerReference": "kind 3:name uid apiVersion controller blockOwnerDeletion",
    "PersistentVolumeClaimSpec": (
        "accessModes resources volumeName selector storageClassName volumeMode dataSource "
        "dataSourceRef volumeAttributesClassName"
    ),
    "PersistentVolumeClaimTemplate": "metadata spec",
    "PersistentVolumeClaimVolumeSource": "claimName readOnly",
    "Pod": "metadata spec",
    "PodAffinity": ("requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution"),
    "PodAffinityTerm": ("labelSelector namespaces topologyKey namespaceSelector matchLabelKeys mismatchLabelKeys"),
    "PodAntiAffinity": (
        "requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution"
    ),
    "PodCertificateProjection": (
        "signerName keyType maxExpirationSeconds credentialBundlePath keyPath certificateChainPath userAnnotations user"
    ),
    "PodDNSConfig": "nameservers searches options",
    "PodDNSConfigOption": "name value",
    "PodDisruptionBudget": "metadata spec",
    "PodDisruptionBudgetSpec": "minAvailable selector maxUnavailable unhealthyPodEvictionPolicy",
    "PodFailurePolicy": "rules",
    "PodFailurePolicyOnExitCodesRequirement": "containerName operator values",
    "PodFailurePolicyOnPodConditionsPattern": "type status",
    "PodFailurePolicyRule": "action onExitCodes onPodConditions",
    "PodOS": "name",
    "PodReadinessGate": "conditionType",
    "PodResourceClaim": "name 3:resourceClaimName resourceClaimTemplateName",
    "PodSchedulingGate": "name",
    "PodSchedulingGroup": "podGroupName",
    "PodSecurityContext": (
        "seLinuxOptions runAsUser runAsNonRoot supplementalGroups fsGroup runAsGroup sysctls "
        "windowsOptions fsGroupChangePolicy seccompProfile appArmorProfile supplementalGroupsPolicy "
        "seLinuxChangePolicy"
    ),
    "PodSpec": (
        "volumes containers restartPolicy terminationGracePeriodSeconds activeDeadlineSeconds "
        "dnsPolicy nodeSelector serviceAccountName serviceAccount nodeName hostNetwork hostPID "
        "hostIPC securityContext imagePullSecrets hostname subdomain affinity schedulerName "
        "initContainers automountServiceAccountToken tolerations hostAliases priorityClassName "
        "priority dnsConfig shareProcessNamespace readinessGates runtimeClassName enableServiceLinks "
        "preemptionPolicy overhead topologySpreadConstraints ephemeralContainers setHostnameAsFQDN os "
        "hostUsers schedulingGates resourceClaims resources hostnameOverride 43:schedulingGroup "
        "evictionResponders"
    ),
    "PodTemplateSpec": "metadata spec",
    "PodsMetricSource": "metric target",
    "PolicyRule": "verbs apiGroups resources resourceNames nonResourceURLs",
    "Preconditions": "uid resourceVersion",
    "PreferredSchedulingTerm": "weight preference",
    "PriorityClass": "metadata value globalDefault description preemptionPolicy",
    "Probe": (
        "+ProbeHandler initialDelaySeconds timeoutSeconds periodSeconds successThreshold "
        "failureThreshold terminationGracePeriodSeconds"
    ),
    "ProbeHandler": "exec httpGet tcpSocket grpc",
    "ProjectedVolumeSource": "sources defaultMode defaultUser",
    "ResourceAttributes": ("namespace verb group version resource subresource name fieldSelector labelSelector"),
    "ResourceClaim": "name request",
    "ResourceFieldSelector": "containerName resource divisor",
    "ResourceMetricSource": "name target",
    "ResourceQuota": "metadata spec",
    "ResourceQuotaSpec": "hard scopes scopeSelector",
    "ResourceRequirements": "limits requests claims",
    "Role": "metadata rules",
    "RoleBinding": "metadata subjects roleRef",
    "RoleRef": "apiGroup kind name",
    "RollingUpdateDeployment": "maxUnavailable maxSurge",
    "SELinuxOptions": "user role type level",
    "ScopeSelector": "matchExpressions",
    "ScopedResourceSelectorRequirement": "scopeName operator values",
    "SeccompProfile": "type localhostProfile",
    "Secret": "metadata data type stringData immutable",
    "SecretEnvSource": "+LocalObjectReference optional",
    "SecretKeySelector": "+LocalObjectReference key optional",
    "SecretProjection": "+LocalObjectReference items 4:optional",
    "SecretVolumeSource": "secretName items defaultMode optional defaultUser",
    "SecurityContext": (
        "capabilities privileged seLinuxOptions runAsUser runAsNonRoot readOnlyRootFilesystem "
        "allowPrivilegeEscalation runAsGroup procMount windowsOptions seccompProfile appArmorProfile"
    ),
    "SelfSubjectAccessReview": "metadata spec",
    "SelfSubjectAccessReviewSpec": "resourceAttributes nonResourceAttributes",
    "SelfSubjectReview": "metadata",
    "SelfSubjectRulesReview": "metadata spec",
    "SelfSubjectRulesReviewSpec": "namespace",
    "Service": "metadata spec",
    "ServiceAccount": "metadata secrets imagePullSecrets automountServiceAccountToken",
    "ServiceAccountTokenProjection": "audience expirationSeconds path user",
    "ServiceBackendPort": "name number",
    "ServicePort": "name protocol port targetPort nodePort appProtocol",
    "ServiceSpec": (
        "ports selector clusterIP type externalIPs 7:sessionAffinity loadBalancerIP "
        "loadBalancerSourceRanges externalName externalTrafficPolicy healthCheckNodePort "
        "publishNotReadyAddresses sessionAffinityConfig 17:ipFamilyPolicy clusterIPs ipFamilies "
        "allocateLoadBalancerNodePorts loadBalancerClass internalTrafficPolicy trafficDistribution"
    ),
    "SessionAffinityConfig": "clientIP",
    "SleepAction": "seconds",
    "Subject": "kind apiGroup name namespace",
    "SuccessPolicy": "rules",
    "SuccessPolicyRule": "succeededIndexes succeededCount",
    "Sysctl": "name value",
    "TCPSocketAction": "port host",
    "TokenRequest": "metadata spec",
    "TokenRequestSpec": "audiences 3:boundObjectRef expirationSeconds attestations",
    "Toleration": "key operator value effect tolerationSeconds",
    "TopologySpreadConstraint": (
        "maxSkew topologyKey whenUnsatisfiable labelSelector minDomains nodeAffinityPolicy "
        "nodeTaintsPolicy matchLabelKeys"
    ),
    "TypedLocalObjectReference": "apiGroup kind name",
    "TypedObjectReference": "apiGroup kind name namespace",
    "Volume": "name +VolumeSource",
    "VolumeDevice": "name devicePath",
    "VolumeMount": ("name readOnly mountPath subPath mountPropagation subPathExpr recursiveReadOnly bindMountOptions"),
    "VolumeProjection": ("secret downwardAPI configMap serviceAccountToken clusterTrustBundle podCertificate"),
    "VolumeResourceRequirements": "limits requests",
    "VolumeSource": (
        "hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs "
        "persistentVolumeClaim rbd flexVolume cinder cephfs flocker downwardAPI fc azureFile "
        "configMap vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO "
        "projected storageos csi ephemeral image"
    ),
    "WeightedPodAffinityTerm": "weight podAffinityTerm",
    "WindowsSecurityContextOptions": "gmsaCredentialSpecName gmsaCredentialSpec runAsUserName hostProcess",
    "v1.HorizontalPodAutoscalerSpec": "scaleTargetRef minReplicas maxReplicas targetCPUUtilizationPercentage",
}


@cache
def numbered_fields(message: str) -> dict[int, str] | None:
    """Field number to JSON name (`+Type` if inlined) of `Type` or `version.Type`; None if it is not in the table."""
    row = _ROWS.get(message) or _ROWS.get(message.rpartition(".")[2])
    return None if row is None else dict(_number(row.split()))


def _number(names: list[str]) -> Iterator[tuple[int, str]]:
    number = 0
    for name in names:
        given, _, rest = name.rpartition(":")
        number = int(given) if given else number + 1
        yield number, rest
