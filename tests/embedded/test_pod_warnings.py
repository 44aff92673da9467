"""What is stored, but warned of."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.pod_warnings import pod_warnings
from pytest_microremed.embedded.api.resources import CONFIG_MAPS, CRON_JOBS, DEPLOYMENTS, PODS

Object = dict[str, Any]


def pod(**container: Any) -> Object:
    return {"containers": [{"name": "a", **container}]}


def deployment(**container: Any) -> Object:
    return {"spec": {"template": {"spec": pod(**container)}}}


TWICE = [{"name": "A", "value": "1"}, {"name": "B"}, {"name": "A", "value": "2"}]


def test_a_variable_that_hides_another() -> None:
    assert pod_warnings(DEPLOYMENTS, deployment(env=TWICE)) == [
        (
            'spec.template.spec.containers[0].env[2]: hides previous definition of "A", which may be dropped when'
            " using apply"
        )
    ]


def test_memory_in_thousandths_of_a_byte() -> None:
    resources = {"limits": {"cpu": "500m", "memory": "512m"}}
    assert pod_warnings(PODS, {"spec": pod(resources=resources)}) == [
        'spec.containers[0].resources.limits[memory]: fractional byte value "512m" is invalid, must be an integer'
    ]


def test_a_port_given_twice() -> None:
    ports = [{"containerPort": 80, "protocol": "TCP"}] * 2
    job = {"spec": {"jobTemplate": deployment(ports=ports)}}
    path = "spec.jobTemplate.spec.template.spec.containers[0].ports"
    assert pod_warnings(CRON_JOBS, job) == [f"{path}[1]: duplicate port definition with {path}[0]"]


def test_an_update_is_warned_of_only_if_it_changes_the_spec() -> None:
    old = deployment(env=TWICE)
    assert pod_warnings(DEPLOYMENTS, {**old, "status": {}}, old) == []
    assert len(pod_warnings(DEPLOYMENTS, deployment(env=TWICE, image="x"), old)) == 1


def test_other_kinds_have_no_pods() -> None:
    assert pod_warnings(CONFIG_MAPS, {"data": {"spec": "x"}}) == []
