"""The systems' data is complete, and says what the public manifests say."""

from __future__ import annotations

import re

import pytest

from pytest_microremed.cluster.quantity import parse_quantity
from pytest_microremed.errors import UsageError
from pytest_microremed.systems.system import System, known_systems, load_system

SYSTEMS = ["online-boutique", "simple-micro", "train-ticket"]


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> System:
    return load_system(request.param)


def test_the_three_systems_are_known() -> None:
    assert known_systems() == SYSTEMS


def test_an_unknown_system_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="no system 'shop'; known: online-boutique, simple-micro, train-ticket"):
        load_system("shop")


def test_an_unknown_workload_is_answered_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match="has no workload 'cart'; known: hello-service, time-service"):
        load_system("simple-micro").workload("cart")


@pytest.mark.parametrize(("name", "count"), [("simple-micro", 2), ("online-boutique", 12), ("train-ticket", 50)])
def test_counts(name: str, count: int) -> None:
    assert len(load_system(name).workloads) == count


def test_train_ticket_has_its_46_services_and_the_infrastructure_of_the_paper() -> None:
    workloads = load_system("train-ticket").workloads
    assert len([name for name in workloads if name.startswith("ts-")]) == 46
    others = {name: (w.kind, w.replicas) for name, w in workloads.items() if not name.startswith("ts-")}
    assert others == {
        "nacosdb-mysql": ("StatefulSet", 3),
        "nacos": ("StatefulSet", 1),
        "rabbitmq": ("Deployment", 1),
        "tsdb-mysql": ("StatefulSet", 3),
    }


def test_train_ticket_fits_a_node_of_32_cores_and_128_gib() -> None:
    workloads = load_system("train-ticket").workloads.values()
    assert sum(w.replicas * parse_quantity(w.requests.cpu) for w in workloads) < 30
    assert sum(w.replicas * parse_quantity(w.requests.memory) for w in workloads) < 120 * 2**30


def test_every_workload_has_what_faults_and_checks_need(system: System) -> None:
    for name, workload in system.workloads.items():
        assert workload.name == name
        assert workload.labels == {"app": name}
        assert parse_quantity(workload.requests.cpu) <= parse_quantity(workload.cpu_limit)
        assert parse_quantity(workload.requests.memory) <= parse_quantity(workload.memory_limit)
        assert workload.replicas >= 1
        if name == "loadgenerator":
            assert (workload.port, workload.service) == (None, None)
        else:
            assert workload.port
            assert workload.service == name


def test_readiness_delays_are_the_published_ones() -> None:
    boutique = load_system("online-boutique").workloads
    delays = {name: w.readiness.initial_delay_s for name, w in boutique.items() if w.readiness.initial_delay_s}
    assert delays == {"adservice": 20, "cartservice": 15, "frontend": 10}
    train_ticket = load_system("train-ticket").workloads
    services = {n: w for n, w in train_ticket.items() if n.startswith("ts-") and n != "ts-ui-dashboard"}
    assert {w.readiness.initial_delay_s for w in services.values()} == {60}


def test_dependencies_are_in_the_environment() -> None:
    frontend = load_system("online-boutique").workload("frontend")
    assert len(frontend.dependencies) == 7
    assert frontend.env["CART_SERVICE_ADDR"] == "cartservice:7070"
    hello = load_system("simple-micro").workload("hello-service")
    assert hello.env["TIME_SERVICE_ADDR"] == "time-service:5001"


def test_train_ticket_is_configured_by_config_maps_and_secrets() -> None:
    workloads = load_system("train-ticket").workloads
    order = workloads["ts-order-service"]
    assert order.sources == ("secret/ts-order-mysql", "configMap/nacos", "configMap/rabbitmq")
    assert order.env == {}
    databases = {s for w in workloads.values() for s in w.sources if s.startswith("secret/")}
    assert len(databases) == 27
    assert all(re.fullmatch(r"secret/ts-[a-z0-9-]+-mysql", name) for name in databases)
