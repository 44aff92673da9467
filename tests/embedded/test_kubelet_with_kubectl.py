"""What an engineer sees of pods through the real kubectl."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from tests.embedded.clients import Kubectl
from tests.embedded.node import environment, limits, server

LIMIT_S = 20.0


def pod(name: str, container: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [container], **spec},
    }


def eventually(what: str, look: Callable[[], str], *wanted: str) -> str:
    """What kubectl prints, once it holds all that is wanted."""
    end = time.monotonic() + LIMIT_S
    while not all(word in (seen := look()) for word in wanted):
        assert time.monotonic() < end, f"{what}: {wanted} not within {LIMIT_S:g} s in\n{seen}"
        time.sleep(0.05)
    return seen


def test_states_in_the_table_of_pods(kubectl: Kubectl) -> None:
    kubectl.apply(
        pod("fine", server()),
        pod("ghost", server("example.com/ghost:1.0")),
        pod("crash", {"name": "server", "image": "busybox:1.36", "command": ["sh", "-c", "exit 1"]}),
        pod("unset", server(envFrom=[{"configMapRef": {"name": "missing"}}])),
    )

    def reasons() -> str:
        return " ".join(line.split()[0] + "=" + line.split()[2] for line in kubectl("get", "pods").splitlines()[1:])

    eventually(
        "table", reasons, "fine=Running", "ghost=ImagePullBackOff", "crash=CrashLoopBackOff",
        "unset=CreateContainerConfigError",
    )  # fmt: skip


def test_memory_limit_in_describe(kubectl: Kubectl) -> None:
    order = server("codewisdom/ts-order-service:1.0.1", 12031, resources=limits("500m", "200Mi"))
    kubectl.apply(pod("order", order))
    seen = eventually("describe", lambda: kubectl("describe", "pod", "order"), "Reason:       OOMKilled")
    assert "Exit Code:    137" in seen


def test_probe_failure_in_events(kubectl: Kubectl) -> None:
    kubectl.apply(pod("web", server("python:3.12", 5000, args=["python", "-m", "http.server", "5999"])))
    eventually(
        "events",
        lambda: kubectl("get", "events", "--field-selector=reason=Unhealthy"),
        "Readiness probe failed: dial tcp",
        "5000: connect: connection refused",
    )


def test_logs_exec_and_top(kubectl: Kubectl) -> None:
    kubectl.apply(pod("web", server("python:3.12", 5000, args=["python", "app.py"], env=environment(PORT="5000"))))
    kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=20s")
    assert "serving on port 5000" in kubectl("logs", "web")
    assert kubectl("exec", "web", "--", "sh", "-c", "echo $PORT") == "5000\n"
    top = eventually("top", lambda: kubectl("top", "pod", "web", "--no-headers"), "Mi")
    assert top.split()[0] == "web"


def test_deleted_pod_goes(kubectl: Kubectl) -> None:
    kubectl.apply(pod("web", server()))
    kubectl("wait", "--for=condition=Ready", "pod/web", "--timeout=20s")
    kubectl("delete", "pod", "web", "--timeout=20s")
    assert "web" not in kubectl("get", "pods")
