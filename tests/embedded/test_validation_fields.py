"""Unknown fields and wrong types: what is refused, what is dropped, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    PERSISTENT_VOLUME_CLAIMS,
    SECRETS,
    Resource,
)
from pytest_microremed.embedded.api.validation import check_fields

Object = dict[str, Any]

STRATEGIC = "application/strategic-merge-patch+json"
UNHANDLED = 'Deployment in version "v1" cannot be handled as a Deployment: '


def deployment(container: Object | None = None, **spec: Any) -> Object:
    containers = [{"name": "a", **(container or {})}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {**spec, "template": {"spec": {"containers": containers}}},
    }


def stored(obj: Object, resource: Resource = DEPLOYMENTS) -> Object:
    return check_fields(resource, obj, "Strict")[0]


def refusal(obj: Object, resource: Resource = DEPLOYMENTS, **how: Any) -> tuple[int, str]:
    with pytest.raises(ApiError) as caught:
        check_fields(resource, obj, "Strict", **how)
    return caught.value.code, caught.value.message


def test_strict_refuses_every_unknown_field_by_its_path() -> None:
    code, message = refusal(deployment({"imagee": "x", "env": [{"name": "A", "val": "1"}]}, replica=1))
    assert code == 400
    assert message == (
        f'{UNHANDLED}strict decoding error: unknown field "spec.replica",'
        ' unknown field "spec.template.spec.containers[0].imagee",'
        ' unknown field "spec.template.spec.containers[0].env[0].val"'
    )


def test_warn_drops_unknown_fields_and_says_so() -> None:
    checked, warnings = check_fields(DEPLOYMENTS, deployment(replica=1), "Warn")
    assert warnings == ['unknown field "spec.replica"']
    assert "replica" not in checked["spec"]


def test_ignore_drops_them_silently() -> None:
    checked, warnings = check_fields(DEPLOYMENTS, deployment(replica=1), "Ignore")
    assert warnings == []
    assert "replica" not in checked["spec"]


@pytest.mark.parametrize(
    ("obj", "words"),
    [
        (
            deployment(replicas="3"),
            "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            deployment(replicas=1.5),
            "json: cannot unmarshal number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
        ),
        (
            deployment({"env": [{"name": "A", "value": 1}]}),
            (
                "json: cannot unmarshal number into Go struct field"
                " EnvVar.spec.template.spec.containers.env.value of type string"
            ),
        ),
        (
            deployment({"ports": {"containerPort": 80}}),
            (
                "json: cannot unmarshal object into Go struct field"
                " Container.spec.template.spec.containers.ports of type []v1.ContainerPort"
            ),
        ),
        (
            deployment(selector={"matchLabels": {"a": 1}}),
            "json: cannot unmarshal number into Go struct field LabelSelector.spec.selector.matchLabels of type string",
        ),
        (
            deployment({"imagePullPolicy": True}),
            (
                "json: cannot unmarshal bool into Go struct field"
                " Container.spec.template.spec.containers.imagePullPolicy of type v1.PullPolicy"
            ),
        ),
        (
            deployment({"resources": {"limits": {"cpu": "1x"}}}),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
    ids=["text for number", "fraction", "number for text", "map for list", "label", "named type", "quantity"],
)
def test_wrong_types_are_told_as_go_tells_them(obj: Object, words: str) -> None:
    assert refusal(obj) == (400, UNHANDLED + words)


@pytest.mark.parametrize(
    ("obj", "words"),
    [
        (deployment(replicas="x"), "unrecognized type: int32"),
        (deployment({"env": [{"name": "A", "value": 1}]}), "cannot convert int64 to string"),
        (deployment({"env": [{"name": "A", "value": True}]}), "unrecognized type: string"),
        (deployment({"ports": {}}), "cannot restore slice from map"),
        (deployment(strategy="x"), "cannot restore struct from: string"),
    ],
)
def test_after_a_strategic_patch_the_patch_is_blamed(obj: Object, words: str) -> None:
    patch = {"spec": {"replicas": "x", "list": [1, None]}}
    message = f' "" is invalid: patch: Invalid value: "map[spec:map[list:[1 <nil>] replicas:x]]": {words}'
    assert refusal(obj, patch=(STRATEGIC, patch)) == (422, message)


def test_a_secret_needs_base64() -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "data": {"password": "not base64!"}}
    message = 'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 3'
    assert refusal(secret, SECRETS) == (400, message)


def test_nulls_and_empty_values_are_not_stored() -> None:
    container = {"env": [{"name": "A", "value": ""}], "args": [], "tty": False, "livenessProbe": None}
    obj = stored(deployment(container, replicas=0, paused=False))
    assert obj["spec"]["replicas"] == 0
    assert "paused" not in obj["spec"]
    assert obj["spec"]["template"]["spec"]["containers"] == [{"name": "a", "env": [{"name": "A"}]}]


def test_an_empty_storage_class_is_a_value() -> None:
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": {"storageClassName": ""}}
    assert stored(claim, PERSISTENT_VOLUME_CLAIMS)["spec"] == {"storageClassName": ""}


def test_quantities_are_stored_in_canonical_form() -> None:
    obj = stored(deployment({"resources": {"limits": {"cpu": 0.5, "memory": "1024Mi"}}}))
    (container,) = obj["spec"]["template"]["spec"]["containers"]
    assert container["resources"] == {"limits": {"cpu": "500m", "memory": "1Gi"}}


def test_map_keys_are_never_unknown() -> None:
    obj = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"any.key": "x"}}
    assert stored(obj, CONFIG_MAPS) == obj


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
                "properties": {
                    "size": {"type": "integer"},
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        },
    },
)


def test_custom_resources_are_pruned_by_their_definition() -> None:
    spec = {"size": 1, "color": "red", "free": {"anything": [1]}}
    widget = {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}
    checked, warnings = check_fields(WIDGETS, widget, "Warn")
    assert checked["spec"] == {"size": 1, "free": {"anything": [1]}}
    assert warnings == ['unknown field "spec.color"']
