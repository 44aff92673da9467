"""Names, packets and connections between pods."""

from __future__ import annotations

import statistics
from collections.abc import Awaitable
from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import NETWORK_POLICIES
from pytest_microremed.embedded.sim.model import Filter, Netem, PodSandbox
from pytest_microremed.embedded.sim.network import Failure, Response
from tests.embedded.node import NAMESPACE, Node, environment, on_a_node, server

WEB_COMMAND = ["python", "-c", "HTTPServer(a, b).serve_forever()"]


async def two_pods(node: Node) -> tuple[PodSandbox, PodSandbox]:
    """A client and a web server behind the Service `web`."""
    node.service("web", 80, 5000)
    node.run("web", server("python:3.12", 5000, command=WEB_COMMAND, env=environment(PORT="5000")))
    node.run("client", server())
    await node.ready("web", "client")
    await node.until("endpoints", lambda: node.endpoints("web"))
    return node.sandbox("client"), node.sandbox("web")


def policy(node: Node, name: str, **spec: Any) -> None:
    node.create(
        NETWORK_POLICIES,
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": spec,
        },
    )


@pytest.mark.parametrize(
    "name", ["web", f"web.{NAMESPACE}", f"web.{NAMESPACE}.svc", f"web.{NAMESPACE}.svc.cluster.local", "WEB",
             f"web.{NAMESPACE}.svc.cluster.local."]
)  # fmt: skip
@on_a_node
async def test_service_names_resolve_to_the_cluster_ip(node: Node, name: str) -> None:
    node.service("web", 80)
    assert node.network.resolve(name, NAMESPACE) == ["10.96.0.20"]


@on_a_node
async def test_unknown_and_foreign_names_do_not_resolve(node: Node) -> None:
    node.service("web", 80)
    for name in (
        "wob",
        "web.other",
        "web.shop.svc.cluster",
        "example.com",
        "localhost.example.com",
        "pod.web",
    ):
        assert node.network.resolve(name, NAMESPACE) == []
    assert node.network.resolve("web", "other") == []


@on_a_node
async def test_addresses_and_well_known_names(node: Node) -> None:
    assert node.network.resolve("10.244.0.9", NAMESPACE) == ["10.244.0.9"]
    assert node.network.resolve("localhost", NAMESPACE) == ["127.0.0.1"]
    assert node.network.resolve("kubernetes.default", NAMESPACE) == ["10.96.0.1"]
    assert node.network.resolve("10-244-0-9.shop.pod", NAMESPACE) == ["10.244.0.9"]


@on_a_node
async def test_headless_service_resolves_to_its_pods(node: Node) -> None:
    node.service("db", 6379, clusterIP="None")
    for name in ("db-0", "db-1"):
        node.run(name, server(), labels={"app": "db"}, hostname=name, subdomain="db")
    await node.ready("db-0", "db-1")
    await node.until("endpoints", lambda: len(node.endpoints("db")) == 2)
    ips = [node.sandbox(name).ip for name in ("db-0", "db-1")]
    assert sorted(node.network.resolve("db", NAMESPACE)) == sorted(ips)
    assert node.network.resolve("db-1.db", NAMESPACE) == [ips[1]]
    assert node.network.resolve(f"db-1.db.{NAMESPACE}.svc.cluster.local", "default") == [ips[1]]
    assert node.network.resolve("db-7.db", NAMESPACE) == []


@on_a_node
async def test_connection_goes_through_the_service_to_the_pod(node: Node) -> None:
    client, web = await two_pods(node)
    assert node.network.resolve("web.web", NAMESPACE) == [], "only headless Services name their pods"
    connection = node.network.connect(client, "web", 80)
    assert connection.status == "open"
    assert connection.target is web.containers["server"]
    assert 0 < connection.latency_s < 0.01
    assert node.network.connect(client, web.ip, 5000).status == "open"


@on_a_node
async def test_ways_in_which_connections_fail(node: Node) -> None:
    client, web = await two_pods(node)
    node.service("empty", 80)
    outcomes = {
        "closed port of a pod": node.network.connect(client, web.ip, 80).status,
        "service without endpoints": node.network.connect(client, "empty", 80).status,
        "port that the service has not": node.network.connect(client, "web", 81).status,
        "no such name": node.network.connect(client, "nothing", 80).status,
        "no such pod": node.network.connect(client, "10.244.77.77", 80).status,
        "the Internet": node.network.connect(client, "8.8.8.8", 53).status,
    }
    assert outcomes == {
        "closed port of a pod": "refused",
        "service without endpoints": "refused",
        "port that the service has not": "timeout",
        "no such name": "unresolved",
        "no such pod": "timeout",
        "the Internet": "timeout",
    }


@on_a_node
async def test_request_gets_the_programs_answer(node: Node) -> None:
    client, _ = await two_pods(node)
    answer = node.network.request(client, "web", 80, "/")
    assert isinstance(answer, Response)
    assert answer.status == 200
    refused = node.network.request(client, "client", 80, "/")
    assert isinstance(refused, Failure)
    assert refused.reason == "refused"


@on_a_node
async def test_api_server_is_there_but_wants_credentials(node: Node) -> None:
    client, _ = await two_pods(node)
    answer = node.network.request(client, "kubernetes.default", 443, "/api")
    assert isinstance(answer, Response)
    assert answer.status == 403


@on_a_node
async def test_own_pod_is_reached_by_localhost_whatever_its_network(node: Node) -> None:
    _, web = await two_pods(node)
    web.netem = Netem(delay_s=1.0, loss=1.0)
    assert node.network.connect(web, "localhost", 5000).status == "open"
    assert node.network.connect(web, web.ip, 5000).latency_s < 0.01


@on_a_node
async def test_ping_of_healthy_pods_is_fast_and_complete(node: Node) -> None:
    client, web = await two_pods(node)
    report = node.network.ping(client, web.ip, 100)
    assert (report.ip, report.loss) == (web.ip, 0.0)
    assert max(trip or 1.0 for trip in report.round_trips) < 0.001


@on_a_node
async def test_what_does_not_answer_a_ping(node: Node) -> None:
    client, _ = await two_pods(node)
    assert node.network.ping(client, "web", 3).loss == 1.0, "cluster IPs are no hosts"
    assert node.network.ping(client, "8.8.8.8", 3).loss == 1.0
    assert node.network.ping(client, "nothing", 3).ip is None


@on_a_node
async def test_delay_at_either_end_adds_up(node: Node) -> None:
    client, web = await two_pods(node)
    web.netem = Netem(delay_s=1.0)
    assert all(1.0 < (trip or 0) < 1.01 for trip in node.network.ping(client, web.ip, 10).round_trips)
    client.netem = Netem(delay_s=0.5)
    assert all(1.5 < (trip or 0) < 1.51 for trip in node.network.ping(client, web.ip, 10).round_trips)


@on_a_node
async def test_jitter_scatters_the_delay(node: Node) -> None:
    client, web = await two_pods(node)
    client.netem = Netem(delay_s=0.1, jitter_s=0.05)
    trips = [trip or 0.0 for trip in node.network.ping(client, web.ip, 500).round_trips]
    assert 0.05 <= min(trips) < 0.06
    assert 0.14 < max(trips) <= 0.151
    assert statistics.mean(trips) == pytest.approx(0.1, abs=0.01)


@on_a_node
async def test_loss_is_independent_for_each_packet_of_each_end(node: Node) -> None:
    client, web = await two_pods(node)
    client.netem = Netem(loss=0.5)
    assert node.network.ping(client, web.ip, 2000).loss == pytest.approx(0.5, abs=0.05)
    web.netem = Netem(loss=0.5)
    assert node.network.ping(client, web.ip, 2000).loss == pytest.approx(0.75, abs=0.05)


@on_a_node
async def test_connections_survive_loss_by_sending_again(node: Node) -> None:
    client, web = await two_pods(node)
    client.netem = Netem(loss=0.5)
    patient = [node.network.connect(client, web.ip, 5000) for _ in range(200)]
    assert sum(c.status == "open" for c in patient) > 190
    late = sorted(c.latency_s for c in patient if c.status == "open")
    assert late[0] < 0.1
    assert 1.0 <= late[150] < 4.0
    hasty = [node.network.connect(client, web.ip, 5000, timeout_s=0.9) for _ in range(400)]
    assert sum(c.status == "timeout" for c in hasty) / 400 == pytest.approx(0.5, abs=0.1)


@on_a_node
async def test_same_seed_same_luck(node: Node) -> None:
    client, web = await two_pods(node)
    client.netem = Netem(loss=0.5)
    first = node.network.ping(client, web.ip, 20).round_trips
    other: list[tuple[float | None, ...]] = []
    await _again(other)
    assert first == other[0]


def _again(found: list[tuple[float | None, ...]]) -> Awaitable[None]:
    async def repeat() -> None:
        import asyncio

        node = Node(asyncio.get_running_loop())
        client, web = await two_pods(node)
        client.netem = Netem(loss=0.5)
        found.append(node.network.ping(client, web.ip, 20).round_trips)
        node.simulation.stop()

    return repeat()


@on_a_node
async def test_filter_hits_some_addresses_only(node: Node) -> None:
    client, web = await two_pods(node)
    node.run("other", server())
    await node.ready("other")
    other = node.sandbox("other")
    client.filters["test"] = Filter(frozenset({web.ip}), Netem(delay_s=0.5))
    assert (node.network.ping(client, web.ip, 1).round_trips[0] or 0) > 0.5
    assert (node.network.ping(client, other.ip, 1).round_trips[0] or 1) < 0.01
    client.filters["test"] = Filter(frozenset({web.ip}), drop="out")
    assert node.network.ping(client, web.ip, 5).loss == 1.0
    client.filters["test"] = Filter(frozenset({web.ip}), drop="in")
    assert node.network.connect(client, "web", 80, 5).status == "timeout"
    assert node.network.ping(client, other.ip, 5).loss == 0.0


@on_a_node
async def test_deny_all_ingress_isolates_the_pod_but_not_from_its_probes(node: Node) -> None:
    client, web = await two_pods(node)
    policy(node, "deny", podSelector={"matchLabels": {"app": "web"}}, policyTypes=["Ingress"])
    assert node.network.connect(client, "web", 80, 5).status == "timeout"
    assert node.network.ping(client, web.ip, 3).loss == 1.0
    assert node.network.connect(None, web.ip, 5000).status == "open"
    assert node.network.ping(web, client.ip, 3).loss == 0.0


@on_a_node
async def test_deny_all_egress_takes_even_dns_away(node: Node) -> None:
    client, web = await two_pods(node)
    policy(node, "deny", podSelector={}, policyTypes=["Egress"])
    assert node.network.connect(client, "web", 80).status == "unresolved"
    assert node.network.connect(client, web.ip, 5000, 5).status == "timeout"


ALLOWED: dict[str, tuple[dict[str, Any], bool]] = {
    "by label": ({"from": [{"podSelector": {"matchLabels": {"app": "client"}}}]}, True),
    "by other label": ({"from": [{"podSelector": {"matchLabels": {"app": "admin"}}}]}, False),
    "by expression": (
        {"from": [{"podSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["client"]}]}}]},
        True,
    ),
    "by namespace": (
        {"from": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}}]},
        True,
    ),
    "by other namespace": ({"from": [{"namespaceSelector": {"matchLabels": {"team": "b"}}}]}, False),
    "by address": ({"from": [{"ipBlock": {"cidr": "10.244.0.0/16"}}]}, True),
    "by address without": (
        {"from": [{"ipBlock": {"cidr": "10.244.0.0/16", "except": ["10.244.0.0/24"]}}]},
        False,
    ),
    "by port": ({"ports": [{"port": 5000}]}, True),
    "by other port": ({"ports": [{"port": 80}]}, False),
    "by range": ({"ports": [{"port": 4000, "endPort": 6000}]}, True),
    "by protocol": ({"ports": [{"port": 5000, "protocol": "UDP"}]}, False),
    "anything": ({}, True),
}


@pytest.mark.parametrize(("rule", "open_"), ALLOWED.values(), ids=ALLOWED.keys())
@on_a_node
async def test_what_an_ingress_rule_lets_in(node: Node, rule: dict[str, Any], open_: bool) -> None:
    client, _ = await two_pods(node)
    policy(node, "allow", podSelector={"matchLabels": {"app": "web"}}, ingress=[rule])
    assert node.network.connect(client, "web", 80, 5).status == ("open" if open_ else "timeout")


@on_a_node
async def test_node_port_answers_on_the_node(node: Node) -> None:
    client, _ = await two_pods(node)
    node.service("outside", 80, type="NodePort", selector={"app": "web"},
                 ports=[{"port": 80, "targetPort": 5000, "nodePort": 30080, "protocol": "TCP"}])  # fmt: skip
    await node.until("endpoints", lambda: node.endpoints("outside"))
    assert node.network.connect(client, "172.18.0.2", 30080).status == "open"
    assert node.network.connect(client, "172.18.0.2", 30081).status == "refused"
