"""Programs that are told where to find others: right, wrong, and down."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.api.resources import SERVICES
from pytest_microremed.embedded.sim.network import Failure, Response
from tests.embedded.node import NAMESPACE, Node, environment, limits, on_a_node, server

BOUTIQUE = "gcr.io/google-samples/microservices-demo/"


def cart(**env: str) -> dict[str, object]:
    return server(
        BOUTIQUE + "cartservice:v0.3.8",
        7070,
        env=environment(**env),
        readinessProbe={"grpc": {"port": 7070}, "periodSeconds": 5},
        resources=limits("300m", "200Mi"),
    )


def order(**env: str) -> dict[str, object]:
    return server(
        "codewisdom/ts-order-service:1.0.1",
        12031,
        env=environment(**env),
        resources=limits("500m", "2000Mi"),
    )


def hello(**env: str) -> dict[str, object]:
    return server(
        "python:3.9-slim",
        5000,
        command=["python", "-c", "HTTPServer(...).serve_forever()"],
        env=environment(PORT="5000", **env),
        readinessProbe={"httpGet": {"path": "/healthz", "port": 5000}, "periodSeconds": 5},
    )


async def redis(node: Node) -> None:
    node.service("redis-cart", 6379)
    node.run("redis-cart", server())
    await node.ready("redis-cart")


@pytest.mark.parametrize(
    "address",
    [
        "redis-cart:6379",
        f"redis-cart.{NAMESPACE}:6379",
        f"redis-cart.{NAMESPACE}.svc.cluster.local:6379",
        "10.96.0.20:6379",
        "redis-cart",
    ],
)
@on_a_node
async def test_right_address_makes_it_ready(node: Node, address: str) -> None:
    await redis(node)
    node.run("cart", cart(REDIS_ADDR=address))
    await node.ready("cart")
    assert "error" not in node.log("cart").lower()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("redis-cart-wrong:6379", "Name or service not known"),
        ("redis-cart.elsewhere:6379", "Name or service not known"),
        ("redis-cart:6380", "Connection timed out"),
        ("10.244.99.99:6379", "Connection timed out"),
    ],
)
@on_a_node
async def test_wrong_address_is_logged_and_keeps_it_unready(node: Node, address: str, words: str) -> None:
    await redis(node)
    node.run("cart", cart(REDIS_ADDR=address))
    await node.pass_time(60)
    assert not node.is_ready("cart")
    assert node.status("cart")["restartCount"] == 0
    assert words in node.log("cart")
    assert address in node.log("cart")
    assert 'service unhealthy (responded with "NOT_SERVING")' in node.events("Unhealthy")[-1]


@on_a_node
async def test_dependency_that_is_down_is_logged_but_does_not_cascade(node: Node) -> None:
    node.service("redis-cart", 6379)
    node.run("cart", cart(REDIS_ADDR="redis-cart:6379"))
    await node.ready("cart")
    assert "Connection refused (redis-cart:6379)" in node.log("cart")
    await redis_comes(node)
    lines = node.log("cart").splitlines()
    await node.pass_time(60)
    fresh = node.log("cart").splitlines()[len(lines) :]
    assert fresh
    assert not [line for line in fresh if "refused" in line]


async def redis_comes(node: Node) -> None:
    node.run("redis-cart", server())
    await node.ready("redis-cart")
    await node.until("endpoints", lambda: node.endpoints("redis-cart"))


@on_a_node
async def test_service_that_is_renamed_takes_readiness_away_and_back(node: Node) -> None:
    await redis(node)
    node.run("cart", cart(REDIS_ADDR="redis-cart:6379"))
    await node.ready("cart")
    service = node.store.get(SERVICES, NAMESPACE, "redis-cart")
    assert service is not None
    node.store.delete(SERVICES, service)
    await node.until("not ready", lambda: not node.is_ready("cart"), 20)
    node.service("redis-cart", 6379)
    await node.ready("cart", limit_s=20)


@on_a_node
async def test_http_service_answers_with_an_error(node: Node) -> None:
    node.run("hello", hello(TIME_SERVICE_ADDR="time-service:5001"))
    await node.pass_time(30)
    answer = node.network.request(None, node.sandbox("hello").ip, 5000, "/")
    assert isinstance(answer, Response)
    assert answer.status == 500
    assert "time-service" in answer.body
    assert "HTTP probe failed with statuscode: 500" in node.events("Unhealthy")[-1]


@on_a_node
async def test_page_fails_but_health_holds_while_a_dependency_is_down(node: Node) -> None:
    node.service("time-service", 5001)
    node.run("hello", hello(TIME_SERVICE_ADDR="time-service:5001"))
    await node.ready("hello")
    ip = node.sandbox("hello").ip
    page, health = (node.network.request(None, ip, 5000, path) for path in ("/", "/healthz"))
    assert (page.status, health.status) == (500, 200)  # type: ignore[union-attr]


@on_a_node
async def test_probed_page_never_asks_dependencies(node: Node) -> None:
    """A dependency that is down must not make its users unready, whatever page their probe asks for."""
    node.service("time-service", 5001)
    probe = {"httpGet": {"path": "/", "port": 5000}, "periodSeconds": 5}
    node.run("hello", hello(TIME_SERVICE_ADDR="time-service:5001") | {"readinessProbe": probe})
    await node.ready("hello")


@on_a_node
async def test_spring_service_does_not_listen_without_its_registry(node: Node) -> None:
    node.run("order", order(NACOS_ADDRS="nacos-0.nacos-headless:8848,nacos-1.nacos-headless:8848"))
    await node.pass_time(120)
    assert not node.is_ready("order")
    assert "java.net.UnknownHostException: nacos-0.nacos-headless" in node.log("order")
    node.service("nacos-headless", 8848, clusterIP="None")
    await node.ready("order", limit_s=20)


@on_a_node
async def test_host_and_port_in_two_variables(node: Node) -> None:
    node.service("tsdb-mysql-leader", 3306)
    node.run("right", order(ORDER_MYSQL_HOST="tsdb-mysql-leader", ORDER_MYSQL_PORT="3306"))
    node.run("wrong", order(ORDER_MYSQL_HOST="tsdb-mysql-leader", ORDER_MYSQL_PORT="3307"))
    await node.ready("right", limit_s=300)
    await node.pass_time(120)
    assert not node.is_ready("wrong")


@on_a_node
async def test_service_links_are_no_dependencies(node: Node) -> None:
    node.service("redis-cart", 6379)
    node.service("old-thing", 80)
    node.run("cart", cart(REDIS_ADDR="redis-cart:6379"))
    await node.ready("cart")
    assert node.container("cart").env["OLD_THING_PORT_80_TCP_ADDR"]
    assert "old-thing" not in node.log("cart")


@on_a_node
async def test_client_without_its_target_crashes(node: Node) -> None:
    main = {
        "name": "server",
        "image": BOUTIQUE + "loadgenerator:v0.3.8",
        "env": environment(FRONTEND_ADDR="fronted:80"),
    }
    node.run("loadgenerator", main)
    await node.waiting("loadgenerator", "CrashLoopBackOff")
    assert "fronted:80" in node.log("loadgenerator")


@on_a_node
async def test_missing_variable_stops_the_program(node: Node) -> None:
    node.run("frontend", server(BOUTIQUE + "frontend:v0.3.8", 8080))
    await node.waiting("frontend", "CrashLoopBackOff")
    assert node.status("frontend")["lastState"]["terminated"]["exitCode"] == 2
    assert 'panic: environment variable "PRODUCT_CATALOG_SERVICE_ADDR" not set' in node.log("frontend")


@on_a_node
async def test_database_wants_a_password(node: Node) -> None:
    node.run("db", server("mysql:5.7", 3306))
    node.run("good", server("mysql:5.7", 3306, env=environment(MYSQL_ROOT_PASSWORD="x")))
    await node.waiting("db", "CrashLoopBackOff")
    assert "MYSQL_ROOT_PASSWORD" in node.log("db")
    await node.ready("good")


@on_a_node
async def test_grpc_service_does_not_speak_http(node: Node) -> None:
    await redis(node)
    node.run("cart", cart(REDIS_ADDR="redis-cart:6379"))
    await node.ready("cart")
    answer = node.network.request(None, node.sandbox("cart").ip, 7070)
    assert isinstance(answer, Failure)
    assert answer.reason == "reset"
