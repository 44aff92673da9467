"""Where programs listen."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embedded.node import Node, environment, on_a_node, server

BOUTIQUE = "gcr.io/google-samples/microservices-demo/"


@pytest.mark.parametrize(
    ("container", "port"),
    [
        (server(), 6379),
        (server(port=7000), 6379),
        (server(BOUTIQUE + "shippingservice:v0.3.8", 50051), 50051),
        (server(BOUTIQUE + "shippingservice:v0.3.8", 50051, env=environment(PORT="50052")), 50052),
        (server("codewisdom/ts-price-service:1.0.0", 16579), 16579),
        (server("codewisdom/ts-ui-dashboard:1.0.1", 8080), 8080),
        (server("nginx:1.27", 80), 80),
        (server("python:3.12", 8000, command=["python3", "-m", "http.server", "9000"]), 9000),
        (server("python:3.12", 8000, command=["sh", "-c", "cd /srv && exec python -m http.server"]), 8000),
        (server("python:3.12", 5000, command=["python", "-c", "HTTPServer(a, b).serve_forever()"]), 5000),
    ],
    ids=["own", "own anyway", "declared", "variable", "java", "ui", "nginx", "argument", "script", "inline"],
)
@on_a_node
async def test_program_listens_there_and_nowhere_else(node: Node, container: dict[str, Any], port: int) -> None:
    node.run("web", container)
    ip = node.sandbox("web").ip
    await node.until(f"{port} open", lambda: node.network.connect(None, ip, port).status == "open")
    assert node.network.connect(None, ip, port + 1).status == "refused"


@on_a_node
async def test_wrong_port_variable_keeps_the_service_unready(node: Node) -> None:
    """The probe and the Service still point to the old port."""
    probe = {"httpGet": {"path": "/", "port": 5000}, "periodSeconds": 5}
    command = ["python", "-c", "HTTPServer(a, b).serve_forever()"]
    node.run("web", server("python:3.9", 5000, command=command, env=environment(PORT="5999"), readinessProbe=probe))
    await node.pass_time(60)
    assert not node.is_ready("web")
    assert "serving on port 5999" in node.log("web")
    assert "connection refused" in node.events("Unhealthy")[-1]


@on_a_node
async def test_pause_image_runs_and_serves_nothing(node: Node) -> None:
    node.run("paused", server("registry.k8s.io/pause:3.10", 6379))
    await node.pass_time(60)
    assert "running" in node.status("paused")["state"]
    assert not node.is_ready("paused")


@pytest.mark.parametrize(
    "command",
    [["sleep", "infinity"], ["sleep", "365d"], ["sh", "-c", "while true; do date; sleep 5; done"],
     ["tail", "-f", "/dev/null"]],
    ids=["infinity", "days", "loop", "tail"],
)  # fmt: skip
@on_a_node
async def test_commands_that_live_for_ever(node: Node, command: list[str]) -> None:
    node.run("idle", {"name": "server", "image": "busybox:1.36", "command": command})
    await node.pass_time(4000)
    assert node.is_ready("idle")
    assert node.status("idle")["restartCount"] == 0


@on_a_node
async def test_shell_image_alone_ends(node: Node) -> None:
    node.run("idle", {"name": "server", "image": "busybox:1.36"})
    await node.waiting("idle", "CrashLoopBackOff")
    assert node.status("idle")["lastState"]["terminated"]["reason"] == "Completed"


@on_a_node
async def test_arguments_name_a_program_or_are_options(node: Node) -> None:
    """`kubectl run NAME --image=busybox -- PROGRAM` gives arguments, not a command."""
    node.run("once", {"name": "server", "image": "busybox:1.36", "args": ["echo", "hello"]}, restartPolicy="Never")
    node.run("db", server("mysql:5.7", 3306, args=["--port=3307"], env=environment(MYSQL_ROOT_PASSWORD="x")))
    await node.until("done", lambda: node.pod("once")["status"]["phase"] == "Succeeded")
    assert node.log("once") == "hello"
    ip = node.sandbox("db").ip
    await node.until("3307 open", lambda: node.network.connect(None, ip, 3307).status == "open")


@on_a_node
async def test_program_that_this_userland_lacks(node: Node) -> None:
    node.run("alpine", {"name": "server", "image": "alpine:3.20", "command": ["bash", "-c", "sleep 1000"]})
    await node.waiting("alpine", "CrashLoopBackOff")
    assert node.status("alpine")["lastState"]["terminated"]["reason"] == "StartError"
