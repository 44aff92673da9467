"""What a configuration fault changes: a fixed rule, one field, on top of whatever the template has."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_microremed.errors import UsageError
from pytest_microremed.faults.fault import load_fault
from pytest_microremed.faults.mutation import VARIANTS, mutation_for, possible_variants
from pytest_microremed.systems.system import Workload, known_systems, load_system

WORKLOADS = [(s, w) for s in known_systems() for w in load_system(s).workloads.values()]
POSSIBLE = [(s, w, v) for s, w in WORKLOADS for v in possible_variants(w)]


def find(system: str, name: str) -> Workload:
    return load_system(system).workload(name)


@pytest.mark.parametrize(
    ("system", "target", "variant", "variable", "value"),
    [
        (
            "simple-micro",
            "hello-service",
            "dependency-address",
            "TIME_SERVICE_ADDR",
            "time-service-legacy:5001",
        ),
        ("simple-micro", "hello-service", "environment-variable", "PORT", "4000"),
        ("online-boutique", "cartservice", "dependency-address", "REDIS_ADDR", "redis-cart-legacy:6379"),
        ("online-boutique", "frontend", "environment-variable", "PORT", "7080"),
        ("online-boutique", "loadgenerator", "environment-variable", "USERS", "0"),
        (
            "train-ticket",
            "ts-order-service",
            "dependency-address",
            "ORDER_MYSQL_HOST",
            "tsdb-mysql-leader-legacy",
        ),
        ("train-ticket", "ts-order-service", "environment-variable", "ORDER_MYSQL_PORT", "2306"),
        ("train-ticket", "ts-basic-service", "dependency-address", "NACOS_ADDRS", "nacos-legacy:8848"),
    ],
)
def test_the_rule_is_frozen(system: str, target: str, variant: str, variable: str, value: str) -> None:
    """These are in published results: a change of the rule changes the benchmark."""
    mutation = mutation_for(find(system, target), variant)
    assert (mutation.variable, mutation.value) == (variable, value)


def test_every_workload_can_have_wrong_limits() -> None:
    assert all("resource-limits" in possible_variants(workload) for _, workload in WORKLOADS)


@pytest.mark.parametrize(
    ("system", "target", "variant", "possible"),
    [
        ("simple-micro", "time-service", "dependency-address", "resource-limits, environment-variable"),
        ("online-boutique", "redis-cart", "environment-variable", "resource-limits"),
        (
            "simple-micro",
            "hello-service",
            "typo",
            "resource-limits, environment-variable, dependency-address",
        ),
        ("simple-micro", "hello-service", None, "resource-limits, environment-variable, dependency-address"),
    ],
)
def test_what_is_not_possible_is_refused_with_what_is(
    system: str, target: str, variant: str | None, possible: str
) -> None:
    with pytest.raises(UsageError, match=f"^pod-config-error on {target}: .*; possible: {possible}$"):
        load_fault("pod-config-error").check_variant(find(system, target), variant)


def test_other_faults_have_no_variants() -> None:
    load_fault("pod-fail").check_variant(find("simple-micro", "hello-service"), None)
    with pytest.raises(UsageError, match="pod-fail has no variants"):
        load_fault("pod-fail").check_variant(find("simple-micro", "hello-service"), "resource-limits")


def template(workload: Workload) -> dict[str, Any]:
    env = [{"name": name, "value": value} for name, value in workload.env.items()]
    return {"spec": {"containers": [{"name": workload.container, "env": env, "resources": {}}, {"name": "probe"}]}}


@pytest.mark.parametrize(("system", "workload", "variant"), POSSIBLE, ids=[f"{s}-{w.name}-{v}" for s, w, v in POSSIBLE])
def test_a_mutation_changes_its_field_only(system: str, workload: Workload, variant: str) -> None:
    mutation, right = mutation_for(workload, variant), template(workload)
    before = copy.deepcopy(right)
    wrong = mutation.apply(right)
    assert right == before
    assert mutation.is_in(wrong)
    assert not mutation.is_in(right)
    assert wrong["spec"]["containers"][1] == right["spec"]["containers"][1]
    main, was = wrong["spec"]["containers"][0], right["spec"]["containers"][0]
    if variant == "resource-limits":
        assert main["env"] == was["env"]
    else:
        assert main["resources"] == was["resources"]
        assert [e for e in main["env"] if e not in was["env"]] == [{"name": mutation.variable, "value": mutation.value}]
        assert len([e for e in main["env"] if e["name"] == mutation.variable]) == 1


def test_an_override_takes_the_place_of_a_reference() -> None:
    mutation = mutation_for(find("simple-micro", "hello-service"), "environment-variable")
    right = template(find("simple-micro", "hello-service"))
    right["spec"]["containers"][0]["env"] = [
        {"name": "PORT", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}}
    ]
    assert mutation.apply(right)["spec"]["containers"][0]["env"] == [{"name": "PORT", "value": "4000"}]


@given(st.sampled_from(VARIANTS), st.lists(st.sampled_from(["A", "B", "PORT", "TIME_SERVICE_ADDR"]), unique=True))
def test_applying_twice_is_applying_once(variant: str, names: list[str]) -> None:
    workload = find("simple-micro", "hello-service")
    mutation, right = mutation_for(workload, variant), template(workload)
    right["spec"]["containers"][0]["env"] = [{"name": name, "value": "x"} for name in names]
    once = mutation.apply(right)
    assert mutation.apply(once) == once


def test_a_template_without_the_container_is_not_mutated() -> None:
    mutation = mutation_for(find("simple-micro", "hello-service"), "resource-limits")
    assert not mutation.is_in({"spec": {"containers": [{"name": "other"}]}})
    with pytest.raises(ValueError, match="no container hello-service"):
        mutation.apply({"spec": {"containers": [{"name": "other"}]}})
