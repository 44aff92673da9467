"""Configuration is right when it is right in the pods that run, in whatever form, and rolled out."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from pytest_microremed.checks.check import CheckResult, look_healthy
from pytest_microremed.checks.configuration import Configuration, find_unfinished, setting_for
from pytest_microremed.cluster.kinds import Obj
from pytest_microremed.faults.mutation import mutation_for
from tests.checks.fakes import CART, NAMESPACE, FakeCluster, deployment, pod, shop, the_deployment, the_pod


def build(cluster: FakeCluster, variant: str) -> Callable[[], CheckResult]:
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    setting = setting_for(cluster, CART, NAMESPACE, healthy, mutation_for(CART, variant))
    measurement = Configuration(CART, setting)
    return lambda: measurement.measure(target.look())


def main(cluster: FakeCluster) -> Obj:
    container: Obj = the_pod(cluster)["spec"]["containers"][0]
    return container


@pytest.mark.parametrize("variant", ["resource-limits", "environment-variable", "dependency-address"])
def test_the_injected_change_is_seen_and_its_end_too(variant: str) -> None:
    cluster = shop()
    look = build(cluster, variant)
    assert look().passed
    right = the_pod(cluster)["spec"]
    the_pod(cluster)["spec"] = mutation_for(CART, variant).apply({"spec": right})["spec"]
    assert not look().passed
    the_pod(cluster)["spec"] = right
    assert look().passed


@pytest.mark.parametrize(
    ("limits", "reason"),
    [
        ({"cpu": "200m", "memory": "256Mi"}, None),
        ({"cpu": "1", "memory": "2Gi"}, None),
        (
            {"cpu": "100m", "memory": "100Mi"},
            None,
        ),  # as much as requested, and twice what is used (20m, 50Mi)
        ({"cpu": "99m", "memory": "256Mi"}, "cpu limit 99m, it needs 100m"),
        ({"cpu": "200m", "memory": "99Mi"}, "memory limit 99Mi, it needs 100Mi"),
        ({"memory": "256Mi"}, "no cpu limit"),
        ({"cpu": "200m"}, "no memory limit"),
    ],
)
def test_limits_have_to_be_there_and_enough(limits: dict[str, str], reason: str | None) -> None:
    cluster = shop()
    look = build(cluster, "resource-limits")
    main(cluster)["resources"]["limits"] = limits
    assert look().passed is (reason is None)
    assert reason is None or reason in look().reason


def value(text: str | None) -> Callable[[FakeCluster], None]:
    def change(cluster: FakeCluster) -> None:
        main(cluster)["env"] = [] if text is None else [{"name": "REDIS_ADDR", "value": text}]

    return change


def config_map(text: str) -> Callable[[FakeCluster], None]:
    def change(cluster: FakeCluster) -> None:
        metadata = {"name": "addresses", "namespace": NAMESPACE}
        cluster.put({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"REDIS_ADDR": text}})
        main(cluster)["env"] = []
        main(cluster)["envFrom"] = [{"configMapRef": {"name": "addresses"}}]

    return change


def secret_key(text: str) -> Callable[[FakeCluster], None]:
    def change(cluster: FakeCluster) -> None:
        metadata = {"name": "addresses", "namespace": NAMESPACE}
        data = {"redis": base64.b64encode(text.encode()).decode()}
        cluster.put({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
        reference = {"secretKeyRef": {"name": "addresses", "key": "redis"}}
        main(cluster)["env"] = [{"name": "REDIS_ADDR", "valueFrom": reference}]

    return change


@pytest.mark.parametrize(
    ("place", "text", "passed"),
    [
        (value, "redis:6379", True),
        (value, "redis.shop.svc.cluster.local:6379", True),
        (value, "10.96.0.7:6379", True),  # the Service's cluster IP
        (value, "10.96.0.8:6379", False),
        (value, "10.96.0.7:6380", False),
        (value, "redis-legacy:6379", False),
        (value, "redis:6380", False),
        (value, "redis.elsewhere:6379", False),
        (value, None, False),
        (config_map, "redis:6379", True),
        (config_map, "redis-legacy:6379", False),
        (secret_key, "redis:6379", True),
        (secret_key, "redis-legacy:6379", False),
    ],
)
def test_an_address_may_be_written_in_any_form_and_place(
    place: Callable[[Any], Callable[[FakeCluster], None]], text: str | None, passed: bool
) -> None:
    cluster = shop()
    spec: dict[str, Any] = {"clusterIP": "10.96.0.7"}
    metadata = {"name": "redis", "namespace": NAMESPACE}
    cluster.put({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
    look = build(cluster, "dependency-address")
    place(text)(cluster)
    assert look().passed is passed


def test_an_entry_of_env_wins_over_a_config_map() -> None:
    cluster = shop()
    look = build(cluster, "dependency-address")
    config_map("redis:6379")(cluster)
    main(cluster)["env"] = [{"name": "REDIS_ADDR", "value": "redis-legacy:6379"}]
    assert not look().passed


@pytest.mark.parametrize(("text", "passed"), [("8080", True), (" 08080", True), ("7080", False), ("", False)])
def test_a_variable_has_its_old_value(text: str, passed: bool) -> None:
    cluster = shop()
    look = build(cluster, "environment-variable")
    main(cluster)["env"][0]["value"] = text
    assert look().passed is passed


def test_every_pod_counts() -> None:
    cluster = shop()
    look = build(cluster, "environment-variable")
    other = pod(CART, "cart-b")
    other["spec"]["containers"][0]["env"][0]["value"] = "7080"
    cluster.put(other)
    assert look().reason == "cart-b/server: PORT is '7080'"


def test_a_right_template_is_not_enough() -> None:
    """The pods that run are the wrong ones still."""
    cluster = shop()
    look = build(cluster, "environment-variable")
    main(cluster)["env"][0]["value"] = "7080"
    assert the_deployment(cluster)["spec"]["template"]["spec"]["containers"][0]["env"][0]["value"] == "8080"
    assert not look().passed


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ({}, None),
        ({"observedGeneration": 0}, "has not been taken up"),
        ({"updatedReplicas": 1}, "1 of 2 pods up to date"),
        ({"replicas": 3}, "3 of 2 pods left"),
        ({"readyReplicas": 1}, "1 of 2 pods ready"),
    ],
)
def test_a_rollout_has_to_be_complete(status: dict[str, int], reason: str | None) -> None:
    workload = deployment(replicas=2)
    workload["status"] |= status
    found = find_unfinished(workload)
    assert found is None if reason is None else reason in (found or "")
