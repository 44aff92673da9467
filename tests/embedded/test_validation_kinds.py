"""Rules of the kinds that run no pods, in the API server's words."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.api.defaults import apply_defaults
from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.resources import (
    CONFIG_MAPS,
    HORIZONTAL_POD_AUTOSCALERS,
    INGRESSES,
    NETWORK_POLICIES,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICES,
    Resource,
)
from pytest_microremed.embedded.api.validation import validate_create, validate_update

Object = dict[str, Any]


def make(resource: Resource, name: str = "x", /, **content: Any) -> Object:
    identity = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": name}}
    return apply_defaults(resource, {**identity, **content})


def validate(resource: Resource, obj: Object, old: Object | None) -> None:
    if old is None:
        validate_create(resource, obj)
    else:
        validate_update(resource, obj, old)


def causes(resource: Resource, obj: Object, old: Object | None = None) -> list[str]:
    with pytest.raises(ApiError) as caught:
        validate(resource, obj, old)
    assert caught.value.code == 422
    return [f"{cause['field']}: {cause['message']}" for cause in caught.value.details["causes"]]


def service(**spec: Any) -> Object:
    return make(SERVICES, spec={"ports": [{"port": 80}], **spec})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"ports": []}, "spec.ports: Required value"),
        (
            {"ports": [{"port": 0, "targetPort": 80}]},
            "spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive",
        ),
        (
            {"ports": [{"name": "a", "port": 80}, {"port": 81}]},
            "spec.ports[1].name: Required value",
        ),
        (
            {"ports": [{"name": "a", "port": 80}, {"name": "b", "port": 80}]},
            'spec.ports[1]: Duplicate value: {"port":80,"protocol":"TCP"}',
        ),
        (
            {"type": "External"},
            (
                'spec.type: Unsupported value: "External": supported values: "ClusterIP", "ExternalName",'
                ' "LoadBalancer", "NodePort"'
            ),
        ),
        ({"type": "ExternalName"}, "spec.externalName: Required value"),
        (
            {"sessionAffinity": "Always"},
            'spec.sessionAffinity: Unsupported value: "Always": supported values: "ClientIP", "None"',
        ),
        (
            {"ports": [{"port": 80, "targetPort": "Web"}]},
            (
                'spec.ports[0].targetPort: Invalid value: "Web": must contain only alpha-numeric characters (a-z, 0-9),'
                " and hyphens (-)"
            ),
        ),
    ],
)
def test_a_broken_service_is_refused(spec: Object, expected: str) -> None:
    assert causes(SERVICES, service(**spec)) == [expected]


def test_a_service_without_ports_may_be_headless() -> None:
    validate_create(SERVICES, service(ports=[], clusterIP="None"))


def test_a_service_name_starts_with_a_letter() -> None:
    (cause,) = causes(SERVICES, make(SERVICES, "1web", spec={"ports": [{"port": 80}]}))
    assert cause.startswith('metadata.name: Invalid value: "1web": a DNS-1035 label must consist of')


def test_a_cluster_address_stays() -> None:
    old = service(clusterIP="10.96.0.7", clusterIPs=["10.96.0.7"])
    new = service(clusterIP="10.96.0.8", clusterIPs=["10.96.0.8"])
    assert causes(SERVICES, new, old) == ['spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set']


@pytest.mark.parametrize("resource", [CONFIG_MAPS, SECRETS], ids=lambda resource: resource.plural)
def test_immutable_data_stays(resource: Resource) -> None:
    old = make(resource, data={"a": "MQ=="}, immutable=True)
    new = make(resource, data={"a": "Mg=="})
    assert causes(resource, new, old) == [
        "immutable: Forbidden: field is immutable when `immutable` is set",
        "data: Forbidden: field is immutable when `immutable` is set",
    ]


def test_the_type_of_a_secret_stays() -> None:
    assert causes(SECRETS, make(SECRETS, type="other"), make(SECRETS)) == [
        'type: Invalid value: "other": field is immutable'
    ]


def test_a_config_key_is_a_file_name() -> None:
    (cause,) = causes(CONFIG_MAPS, make(CONFIG_MAPS, data={"a/b": ""}))
    assert cause == (
        "data[a/b]: Invalid value: \"a/b\": a valid config key must consist of alphanumeric characters, '-', '_'"
        " or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is"
        " '[-._a-zA-Z0-9]+')"
    )


def test_a_tls_secret_has_its_files() -> None:
    assert causes(SECRETS, make(SECRETS, type="kubernetes.io/tls", data={"tls.crt": "MQ=="})) == [
        "data[tls.key]: Required value"
    ]


def test_a_claim_needs_modes_and_size() -> None:
    assert causes(PERSISTENT_VOLUME_CLAIMS, make(PERSISTENT_VOLUME_CLAIMS, spec={})) == [
        "spec.accessModes: Required value: at least 1 access mode is required",
        "spec.resources[storage]: Required value",
    ]


def test_a_claim_only_grows() -> None:
    def claim(size: str, **spec: Any) -> Object:
        requests = {"requests": {"storage": size}}
        return make(PERSISTENT_VOLUME_CLAIMS, spec={"accessModes": ["ReadWriteOnce"], "resources": requests, **spec})

    validate_update(PERSISTENT_VOLUME_CLAIMS, claim("2Gi"), claim("1Gi"))
    (cause,) = causes(PERSISTENT_VOLUME_CLAIMS, claim("1Gi", storageClassName="fast"), claim("1Gi"))
    assert cause.startswith(
        "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName"
        " for bound claims\n"
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"minReplicas": 0}, "spec.minReplicas: Invalid value: 0: must be greater than or equal to 1"),
        ({"maxReplicas": 0, "minReplicas": None}, "spec.maxReplicas: Invalid value: 0: must be greater than 0"),
        (
            {"minReplicas": 5},
            "spec.maxReplicas: Invalid value: 3: must be greater than or equal to `minReplicas`",
        ),
        ({"scaleTargetRef": {"kind": "Deployment"}}, "spec.scaleTargetRef.name: Required value"),
    ],
)
def test_a_broken_autoscaler_is_refused(spec: Object, expected: str) -> None:
    target = {"kind": "Deployment", "name": "web"}
    obj = make(HORIZONTAL_POD_AUTOSCALERS, spec={"scaleTargetRef": target, "maxReplicas": 3, **spec})
    assert causes(HORIZONTAL_POD_AUTOSCALERS, obj) == [expected]


def test_a_budget_has_one_bound() -> None:
    obj = make(POD_DISRUPTION_BUDGETS, spec={"minAvailable": 1, "maxUnavailable": "50%"})
    assert causes(POD_DISRUPTION_BUDGETS, obj) == [
        (
            'spec: Invalid value: {"maxUnavailable":"50%","minAvailable":1}: minAvailable and maxUnavailable cannot be'
            " both set"
        )
    ]


def test_a_rule_names_what_it_allows() -> None:
    assert causes(ROLES, make(ROLES, rules=[{}])) == [
        "rules[0].verbs: Required value: verbs must contain at least one value",
        "rules[0].apiGroups: Required value: resource rules must supply at least one api group",
        "rules[0].resources: Required value: resource rules must supply at least one resource",
    ]


def binding(role: str) -> Object:
    subjects = [{"kind": "User", "name": "jane"}]
    return make(ROLE_BINDINGS, roleRef={"kind": "Role", "name": role}, subjects=subjects)


def test_a_binding_keeps_its_role() -> None:
    validate_create(ROLE_BINDINGS, binding("a"))
    assert causes(ROLE_BINDINGS, binding("b"), binding("a")) == [
        (
            'roleRef: Invalid value: {"APIGroup":"rbac.authorization.k8s.io","Kind":"Role","Name":"b"}: cannot change'
            " roleRef"
        )
    ]


def test_an_ingress_path_is_absolute() -> None:
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    paths = [{"path": "x", "pathType": "Prefix", "backend": backend}, {"path": "/", "backend": backend}]
    obj = make(INGRESSES, spec={"rules": [{"http": {"paths": paths}}]})
    assert causes(INGRESSES, obj) == [
        'spec.rules[0].http.paths[0].path: Invalid value: "x": must be an absolute path',
        "spec.rules[0].http.paths[1].pathType: Required value: pathType must be specified",
    ]


def test_a_network_policy_needs_valid_peers() -> None:
    rules = [{"from": [{"ipBlock": {"cidr": "nowhere"}}], "ports": [{"port": 70000}]}]
    assert causes(NETWORK_POLICIES, make(NETWORK_POLICIES, spec={"ingress": rules})) == [
        "spec.ingress[0].ports[0].port: Invalid value: 70000: must be between 1 and 65535, inclusive",
        (
            'spec.ingress[0].from[0].ipBlock.cidr: Invalid value: "nowhere": must be a valid CIDR value, (e.g.'
            " 10.9.8.0/24 or 2001:db8::/64)"
        ),
    ]


def test_an_object_being_deleted_gets_no_finalizers() -> None:
    old = make(CONFIG_MAPS)
    old["metadata"]["deletionTimestamp"] = "2030-01-01T00:00:00Z"
    new = {**old, "metadata": {**old["metadata"], "finalizers": ["example.org/x"]}}
    assert causes(CONFIG_MAPS, new, old) == [
        (
            "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new"
            ' finalizers []string{"example.org/x"}'
        )
    ]


WIDGETS = Resource(
    "example.org",
    "v1",
    "widgets",
    "Widget",
    custom=True,
    schema={
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "required": ["action"],
                "properties": {
                    "action": {"type": "string", "enum": ["delay", "loss"]},
                    "count": {"type": "integer", "minimum": 1, "maximum": 3},
                    "name": {"type": "string", "pattern": "^a"},
                    "items": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string"}},
                },
            }
        },
    },
)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, "spec.action: Required value"),
        (
            {"action": "stop"},
            'spec.action: Unsupported value: "stop": supported values: "delay", "loss"',
        ),
        (
            {"action": "loss", "count": 0},
            "spec.count: Invalid value: 0: spec.count in body should be greater than or equal to 1",
        ),
        (
            {"action": "loss", "count": "2"},
            'spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"',
        ),
        (
            {"action": "loss", "name": "b"},
            "spec.name: Invalid value: \"b\": spec.name in body should match '^a'",
        ),
        ({"action": "loss", "items": ["a", "b", "c"]}, "spec.items: Too many: 3: must have at most 2 items"),
        (
            {"action": "loss", "items": []},
            "spec.items: Invalid value: 0: spec.items in body should have at least 1 items",
        ),
    ],
)
def test_custom_resources_follow_their_definition(spec: Object, expected: str) -> None:
    assert causes(WIDGETS, make(WIDGETS, spec=spec)) == [expected]
