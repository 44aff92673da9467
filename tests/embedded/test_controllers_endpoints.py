"""Endpoints and EndpointSlices follow the pods that a Service selects."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import (
    DEPLOYMENTS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    PODS,
    SERVICES,
    STATEFUL_SETS,
)
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, control_plane, workload

plane = pytest.fixture(control_plane)


def service(name: str = "web", **spec: Any) -> Object:
    ports = [{"name": "http", "port": 80, "targetPort": "http", "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "shop", "labels": {"team": "a"}},
        "spec": {"selector": {"app": name}, "clusterIP": "10.96.0.7", "ports": ports, **spec},
    }


def addresses(plane: ControlPlane, kind: str = "addresses", name: str = "web") -> list[str]:
    subsets = plane.get(ENDPOINTS, name).get("subsets", [])
    return [each["targetRef"]["name"] for subset in subsets for each in subset.get(kind, [])]


def slices(plane: ControlPlane) -> list[Object]:
    return plane.store.list(ENDPOINT_SLICES, "shop")


def test_ready_pods_get_traffic_and_others_are_listed_as_not_ready(plane: ControlPlane) -> None:
    plane.create(SERVICES, service())
    assert addresses(plane) == []
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=2))
    sick, well = plane.pods()
    assert sorted(addresses(plane)) == sorted(plane.names(PODS))
    plane.kubelet.write(sick, ready=False)
    plane.settle()
    assert addresses(plane) == [well["metadata"]["name"]]
    assert addresses(plane, "notReadyAddresses") == [sick["metadata"]["name"]]
    conditions = {each["targetRef"]["name"]: each["conditions"] for each in slices(plane)[0]["endpoints"]}
    assert conditions[sick["metadata"]["name"]] == {"ready": False, "serving": False, "terminating": False}


def test_an_address_tells_all_that_clients_need(plane: ControlPlane) -> None:
    plane.create(SERVICES, service())
    plane.create(DEPLOYMENTS, workload("Deployment"))
    pod = plane.pods()[0]
    target = {
        "kind": "Pod",
        "namespace": "shop",
        "name": pod["metadata"]["name"],
        "uid": pod["metadata"]["uid"],
    }
    address = {"ip": pod["status"]["podIP"], "nodeName": "node-1", "targetRef": target}
    port = {"name": "http", "port": 8080, "protocol": "TCP"}
    assert plane.get(ENDPOINTS, "web")["subsets"] == [{"addresses": [address], "ports": [port]}]
    slice_ = slices(plane)[0]
    assert slice_["ports"] == [port]
    assert slice_["endpoints"][0]["addresses"] == [pod["status"]["podIP"]]
    assert slice_["metadata"]["labels"]["kubernetes.io/service-name"] == "web"
    assert slice_["metadata"]["labels"]["team"] == "a"


def test_a_terminating_pod_leaves_the_endpoints_and_stays_in_the_slice(plane: ControlPlane) -> None:
    plane.create(SERVICES, service())
    plane.create(DEPLOYMENTS, workload("Deployment"))
    plane.kubelet.auto_remove = False
    ending = plane.names(PODS)[0]
    plane.delete(PODS, ending)
    assert ending not in addresses(plane) + addresses(plane, "notReadyAddresses")
    conditions = {each["targetRef"]["name"]: each["conditions"] for each in slices(plane)[0]["endpoints"]}
    assert conditions[ending] == {"ready": False, "serving": True, "terminating": True}


def test_a_failed_pod_is_no_backend(plane: ControlPlane) -> None:
    plane.create(SERVICES, service())
    plane.create(DEPLOYMENTS, workload("Deployment"))
    failed = plane.pods()[0]
    plane.kubelet.write(failed, ready=False, phase="Failed")
    plane.settle()
    assert failed["metadata"]["name"] not in addresses(plane) + addresses(plane, "notReadyAddresses")


def test_not_ready_addresses_are_published_on_request(plane: ControlPlane) -> None:
    plane.kubelet.auto_ready = lambda pod: False
    plane.create(SERVICES, service(publishNotReadyAddresses=True))
    plane.create(DEPLOYMENTS, workload("Deployment"))
    assert addresses(plane) == plane.names(PODS)


def test_a_wrong_selector_or_port_name_leaves_nothing_to_connect_to(plane: ControlPlane) -> None:
    plane.create(SERVICES, service())
    plane.create(DEPLOYMENTS, workload("Deployment"))
    plane.change_spec(SERVICES, "web", selector={"app": "wrong"})
    assert addresses(plane) == []
    unknown = [{"name": "http", "port": 80, "targetPort": "grpc", "protocol": "TCP"}]
    plane.change_spec(SERVICES, "web", selector={"app": "web"}, ports=unknown)
    assert addresses(plane) == []
    plane.change_spec(SERVICES, "web", ports=[{**unknown[0], "targetPort": 9000}])
    assert plane.get(ENDPOINTS, "web")["subsets"][0]["ports"][0]["port"] == 9000


def test_a_changed_pod_label_takes_the_pod_out(plane: ControlPlane) -> None:
    plane.create(SERVICES, service())
    plane.create(DEPLOYMENTS, workload("Deployment"))
    pod = plane.pods()[0]
    plane.store.update(PODS, {**pod, "metadata": {**pod["metadata"], "labels": {"app": "debug"}}})
    plane.settle()
    assert pod["metadata"]["name"] not in addresses(plane)


def test_pods_of_a_headless_service_have_names(plane: ControlPlane) -> None:
    plane.create(SERVICES, service("db", clusterIP="None"))
    plane.create(STATEFUL_SETS, workload("StatefulSet", "db", serviceName="db", replicas=2))
    found = plane.get(ENDPOINTS, "db")
    assert [each["hostname"] for each in found["subsets"][0]["addresses"]] == ["db-0", "db-1"]
    assert found["metadata"]["labels"]["service.kubernetes.io/headless"] == ""


def test_endpoints_of_a_service_without_selector_are_left_alone(plane: ControlPlane) -> None:
    by_hand = {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": "web", "namespace": "shop"},
        "subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}],
    }
    plane.create(ENDPOINTS, by_hand)
    plane.create(SERVICES, service(selector=None))
    plane.delete(SERVICES, "web")
    assert plane.get(ENDPOINTS, "web")["subsets"] == by_hand["subsets"]


def test_a_tampered_object_is_put_right_and_a_deleted_service_leaves_none(plane: ControlPlane) -> None:
    plane.create(SERVICES, service())
    plane.create(DEPLOYMENTS, workload("Deployment"))
    before = addresses(plane)
    plane.store.update(ENDPOINTS, {**plane.get(ENDPOINTS, "web"), "subsets": []})
    plane.delete(ENDPOINT_SLICES, plane.names(ENDPOINT_SLICES)[0])
    assert addresses(plane) == before
    assert len(slices(plane)) == 1
    plane.delete(SERVICES, "web")
    assert plane.names(ENDPOINTS) == plane.names(ENDPOINT_SLICES) == []
