"""Rules of workloads and pods, in the API server's words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_microremed.embedded.api.defaults import apply_defaults
from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.resources import (
    CRON_JOBS,
    DAEMON_SETS,
    DEPLOYMENTS,
    JOBS,
    PODS,
    STATEFUL_SETS,
    Resource,
)
from pytest_microremed.embedded.api.validation import validate_create, validate_update

Object = dict[str, Any]
Change = Callable[[Object], Any]

LABELS = {"app": "web"}


def workload(resource: Resource = DEPLOYMENTS, **spec: Any) -> Object:
    container = {"name": "web", "image": "nginx", "ports": [{"containerPort": 80}]}
    template = {"metadata": {"labels": dict(LABELS)}, "spec": {"containers": [container]}}
    content = {"selector": {"matchLabels": dict(LABELS)}, "template": template, **spec}
    obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": "web"}, "spec": content}
    return apply_defaults(resource, obj)


def pod() -> Object:
    template = workload()["spec"]["template"]["spec"]
    return apply_defaults(PODS, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": template})


def validate(resource: Resource, obj: Object, old: Object | None) -> None:
    if old is None:
        validate_create(resource, obj)
    else:
        validate_update(resource, obj, old)


def causes(resource: Resource, obj: Object, old: Object | None = None) -> list[str]:
    """What is wrong, as kubectl lists it; also checks that the message says the same."""
    with pytest.raises(ApiError) as caught:
        validate(resource, obj, old)
    error = caught.value
    listed = [f"{cause.get('field', '')}: {cause['message']}" for cause in error.details["causes"]]
    qualified = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
    name = obj["metadata"]["name"]
    shown = listed[0] if len(listed) == 1 else f"[{', '.join(listed)}]"
    assert (error.code, error.message) == (422, f'{qualified} "{name}" is invalid: {shown}')
    return listed


def changed(obj: Object, change: Change) -> Object:
    change(obj)
    return obj


def pod_spec(obj: Object) -> Any:
    return obj["spec"]["template"]["spec"] if "template" in obj["spec"] else obj["spec"]


def container(obj: Object) -> Any:
    return pod_spec(obj)["containers"][0]


@pytest.mark.parametrize("resource", [DEPLOYMENTS, STATEFUL_SETS, DAEMON_SETS], ids=lambda resource: resource.plural)
def test_a_sound_workload_passes(resource: Resource) -> None:
    obj = workload(resource)
    validate_create(resource, obj)
    validate_update(resource, obj, obj)


SPEC = "spec.template.spec"
BAD_NAME = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end"
    " with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is"
    " '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
BAD_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start"
    " and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for"
    " validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda o: container(o).pop("image"), f"{SPEC}.containers[0].image: Required value"),
        (
            lambda o: container(o).update(name="Web"),
            f'{SPEC}.containers[0].name: Invalid value: "Web": {BAD_NAME}',
        ),
        (lambda o: pod_spec(o).update(containers=[]), f"{SPEC}.containers: Required value"),
        (
            lambda o: pod_spec(o)["containers"].append(dict(container(o))),
            f'{SPEC}.containers[1].name: Duplicate value: "web"',
        ),
        (
            lambda o: container(o)["ports"][0].update(containerPort=70000),
            (
                f"{SPEC}.containers[0].ports[0].containerPort: Invalid value: 70000: must be between 1 and 65535,"
                " inclusive"
            ),
        ),
        (
            lambda o: container(o)["ports"][0].update(protocol="HTTP"),
            (
                f'{SPEC}.containers[0].ports[0].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP",'
                ' "UDP"'
            ),
        ),
        (
            lambda o: container(o).update(imagePullPolicy="Sometimes"),
            (
                f'{SPEC}.containers[0].imagePullPolicy: Unsupported value: "Sometimes": supported values: "Always",'
                ' "IfNotPresent", "Never"'
            ),
        ),
        (
            lambda o: container(o).update(
                env=[{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}]
            ),
            (
                f'{SPEC}.containers[0].env[0].valueFrom: Invalid value: "": may not be specified when `value` is not'
                " empty"
            ),
        ),
        (lambda o: container(o).update(env=[{"value": "1"}]), f"{SPEC}.containers[0].env[0].name: Required value"),
        (
            lambda o: container(o).update(volumeMounts=[{"name": "data", "mountPath": "/d"}]),
            f'{SPEC}.containers[0].volumeMounts[0].name: Not found: "data"',
        ),
        (
            lambda o: container(o).update(resources={"limits": {"memory": "1Gi"}, "requests": {"memory": "2Gi"}}),
            (
                f'{SPEC}.containers[0].resources.requests: Invalid value: "2Gi": must be less than or equal to memory'
                " limit of 1Gi"
            ),
        ),
        (
            lambda o: container(o).update(resources={"limits": {"cpu": "-1"}}),
            f'{SPEC}.containers[0].resources.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
        ),
        (
            lambda o: container(o).update(livenessProbe={}),
            f"{SPEC}.containers[0].livenessProbe: Required value: must specify a handler type",
        ),
        (
            lambda o: container(o).update(livenessProbe={"exec": {"command": ["x"]}, "periodSeconds": -1}),
            (
                f"{SPEC}.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to"
                " 0"
            ),
        ),
        (
            lambda o: container(o).update(livenessProbe={"tcpSocket": {"port": 80}, "successThreshold": 2}),
            f"{SPEC}.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ),
        (
            lambda o: container(o).update(readinessProbe={"tcpSocket": {"port": 0}}),
            (
                f"{SPEC}.containers[0].readinessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535,"
                " inclusive"
            ),
        ),
        (
            lambda o: pod_spec(o).update(volumes=[{"name": "v", "emptyDir": {}}, {"name": "v", "emptyDir": {}}]),
            f'{SPEC}.volumes[1].name: Duplicate value: "v"',
        ),
        (
            lambda o: pod_spec(o).update(volumes=[{"name": "v", "configMap": {}}]),
            f"{SPEC}.volumes[0].configMap.name: Required value",
        ),
        (
            lambda o: pod_spec(o).update(restartPolicy="Never"),
            f'{SPEC}.restartPolicy: Unsupported value: "Never": supported values: "Always"',
        ),
        (
            lambda o: pod_spec(o).update(tolerations=[{"key": "a", "operator": "Has"}]),
            f'{SPEC}.tolerations[0].operator: Unsupported value: "Has": supported values: "Equal", "Exists"',
        ),
        (
            lambda o: o["spec"].update(replicas=-1),
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            lambda o: o["spec"]["template"]["metadata"].update(labels={"app": "other"}),
            (
                'spec.template.metadata.labels: Invalid value: {"app":"other"}: `selector` does not match template'
                " `labels`"
            ),
        ),
        (
            lambda o: o["metadata"].update(labels={"a": "b c"}),
            f'metadata.labels: Invalid value: "b c": {BAD_VALUE}',
        ),
        (
            lambda o: o["spec"]["strategy"].update(type="Recreate"),
            "spec.strategy.rollingUpdate: Forbidden: may not be specified when strategy `type` is 'Recreate'",
        ),
        (
            lambda o: o["spec"]["strategy"]["rollingUpdate"].update(maxSurge=0, maxUnavailable="0%"),
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "0%": may not be 0 when `maxSurge` is 0',
        ),
        (
            lambda o: o["spec"].update(progressDeadlineSeconds=5, minReadySeconds=5),
            "spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds",
        ),
    ],
)
def test_a_broken_deployment_is_refused(change: Change, expected: str) -> None:
    assert causes(DEPLOYMENTS, changed(workload(), change)) == [expected]


def test_all_that_is_wrong_is_told_at_once() -> None:
    obj = workload(replicas=-1)
    container(obj).pop("image")
    assert len(causes(DEPLOYMENTS, obj)) == 2


def test_without_selector_nothing_is_selected() -> None:
    obj = changed(workload(), lambda o: o["spec"].pop("selector"))
    assert causes(DEPLOYMENTS, obj) == [
        "spec.selector: Required value",
        'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
    ]


def test_the_name_must_be_a_subdomain() -> None:
    obj = changed(workload(), lambda o: o["metadata"].update(name="Web_1"))
    assert causes(DEPLOYMENTS, obj) == [
        (
            'metadata.name: Invalid value: "Web_1": a lowercase RFC 1123 subdomain must consist of lower case'
            " alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g."
            " 'example.com', regex used for validation is"
            r" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
        )
    ]


def test_a_selector_cannot_change() -> None:
    new = workload(selector={"matchLabels": {"app": "web", "tier": "x"}})
    new["spec"]["template"]["metadata"]["labels"]["tier"] = "x"
    assert causes(DEPLOYMENTS, new, workload()) == [
        'spec.selector: Invalid value: {"matchLabels":{"app":"web","tier":"x"}}: field is immutable'
    ]


def test_a_stateful_set_changes_in_few_ways() -> None:
    old = workload(STATEFUL_SETS, serviceName="a")
    validate_update(STATEFUL_SETS, workload(STATEFUL_SETS, serviceName="a", replicas=5), old)
    assert causes(STATEFUL_SETS, workload(STATEFUL_SETS, serviceName="b"), old) == [
        (
            "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template',"
            " 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'"
            " are forbidden"
        )
    ]


def test_a_job_must_not_restart_always() -> None:
    job = workload(JOBS)
    assert causes(JOBS, job) == ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"']


def test_a_cron_schedule_has_five_fields() -> None:
    job = workload(JOBS)["spec"]
    job["template"]["spec"]["restartPolicy"] = "Never"
    obj = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "c"},
        "spec": {"schedule": "* * * *", "jobTemplate": {"spec": job}},
    }
    assert causes(CRON_JOBS, apply_defaults(CRON_JOBS, obj)) == [
        'spec.schedule: Invalid value: "* * * *": expected exactly 5 fields, found 4: [* * * *]'
    ]


def test_of_a_pod_the_image_may_change() -> None:
    validate_update(PODS, changed(pod(), lambda o: container(o).update(image="nginx:2")), pod())


def test_what_controllers_stored_without_defaults_is_no_change() -> None:
    bare = {**pod(), "spec": {"containers": [{"name": "web", "image": "nginx:1", "ports": [{"containerPort": 80}]}]}}
    validate_update(PODS, apply_defaults(PODS, {**bare, "metadata": {"name": "p", "labels": LABELS}}), bare)


def test_of_a_pod_hardly_anything_else_may_change() -> None:
    (cause,) = causes(PODS, changed(pod(), lambda o: container(o).update(env=[{"name": "A", "value": "1"}])), pod())
    first, *rest = cause.splitlines()
    assert first == (
        "spec: Forbidden: pod updates may not change fields other than"
        " `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations`"
        " (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if"
        " it was previously negative)"
    )
    assert rest == ["-\tspec.containers[0].env: null", '+\tspec.containers[0].env: [{"name":"A","value":"1"}]']


def test_a_pod_keeps_its_containers() -> None:
    new = changed(pod(), lambda o: pod_spec(o)["containers"].append({"name": "b", "image": "x"}))
    assert causes(PODS, new, pod()) == ["spec.containers: Forbidden: pod updates may not add or remove containers"]
