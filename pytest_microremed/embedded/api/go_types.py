"""The names that Go gives the built-in types: decoding errors name them (`of type []v1.EnvVar`)."""

from __future__ import annotations

from pytest_microremed.embedded.api.schema import Schema

_NAMED = {
    "accessModes": "v1.PersistentVolumeAccessMode",
    "allocatable": "v1.ResourceList",
    "capacity": "v1.ResourceList",
    "completionMode": "v1.CompletionMode",
    "concurrencyPolicy": "v1.ConcurrencyPolicy",
    "default": "v1.ResourceList",
    "defaultRequest": "v1.ResourceList",
    "dnsPolicy": "v1.DNSPolicy",
    "externalTrafficPolicy": "v1.ServiceExternalTrafficPolicy",
    "hard": "v1.ResourceList",
    "imagePullPolicy": "v1.PullPolicy",
    "internalTrafficPolicy": "v1.ServiceInternalTrafficPolicy",
    "ipFamilies": "v1.IPFamily",
    "ipFamilyPolicy": "v1.IPFamilyPolicy",
    "limits": "v1.ResourceList",
    "mountPropagation": "v1.MountPropagationMode",
    "overhead": "v1.ResourceList",
    "pathType": "v1.PathType",
    "persistentVolumeReclaimPolicy": "v1.PersistentVolumeReclaimPolicy",
    "podManagementPolicy": "v1.PodManagementPolicyType",
    "policyTypes": "v1.PolicyType",
    "preemptionPolicy": "v1.PreemptionPolicy",
    "protocol": "v1.Protocol",
    "requests": "v1.ResourceList",
    "restartPolicy": "v1.RestartPolicy",
    "scheme": "v1.URIScheme",
    "sessionAffinity": "v1.ServiceAffinity",
    "terminationMessagePolicy": "v1.TerminationMessagePolicy",
    "volumeMode": "v1.PersistentVolumeMode",
    "whenUnsatisfiable": "v1.UnsatisfiableConstraintAction",
}
_PLAIN = {"string": "string", "boolean": "bool", "number": "float64", "any": "int32"}


def go_type(field: str, schema: Schema) -> str:
    """The Go type of the field's value; types with a name of their own are known by the field's name."""
    if schema.type == "array":
        return f"[]{go_type(field, schema.item)}"
    if schema.type == "object":
        return ".".join(schema.name.split(".")[-2:])
    if field in _NAMED:
        return _NAMED[field]
    if schema.type == "map":
        return f"map[string]{go_type(field, schema.item)}"
    if schema.type == "integer":
        return schema.format
    return _PLAIN[schema.type]
