"""When a workload counts as up: as many pods as there should be, all ready, nothing left over, nothing pending."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.cluster.kinds import DEPLOYMENTS, Obj
from pytest_microremed.systems.health import unhealthy
from pytest_microremed.systems.state import State
from pytest_microremed.systems.system import load_system

SYSTEM = load_system("simple-micro")


def deployment(name: str, generation: int = 1, observed: int = 1, updated: int = 1) -> Obj:
    return {
        "metadata": {"name": name, "generation": generation},
        "status": {"observedGeneration": observed, "updatedReplicas": updated},
    }


def pod(app: str, *, ready: bool = True, leaving: bool = False, waiting: str | None = None) -> Obj:
    meta: dict[str, Any] = {"name": f"{app}-x", "labels": {"app": app}}
    if leaving:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    states = [{"name": "main", "state": {"waiting": {"reason": waiting}}}] if waiting else []
    conditions = [{"type": "Ready", "status": "True" if ready else "False"}]
    return {"metadata": meta, "status": {"phase": "Running", "conditions": conditions, "containerStatuses": states}}


def hello(live: Obj | None, *pods: Obj) -> str | None:
    """The trouble with hello-service, time-service being up."""
    state = State(
        objects={(DEPLOYMENTS, "time-service"): deployment("time-service")}, pods=[pod("time-service"), *pods]
    )
    if live is not None:
        state.objects[DEPLOYMENTS, "hello-service"] = live
    found = unhealthy(SYSTEM, state)
    assert set(found) <= {"hello-service"}
    return found.get("hello-service")


def test_one_ready_pod_is_up() -> None:
    assert hello(deployment("hello-service"), pod("hello-service")) is None


@pytest.mark.parametrize(
    ("live", "pods", "reason"),
    [
        (None, [], "there is no Deployment"),
        (deployment("hello-service"), [], "0 of 1 pods ready"),
        (deployment("hello-service"), [pod("hello-service", ready=False)], "0 of 1 pods ready"),
        (
            deployment("hello-service"),
            [pod("hello-service", ready=False, waiting="ImagePullBackOff")],
            "0 of 1 pods ready (hello-service-x main: ImagePullBackOff)",
        ),
        (deployment("hello-service"), [pod("hello-service"), pod("hello-service")], "2 of 1 pods ready"),
        (
            deployment("hello-service"),
            [pod("hello-service"), pod("hello-service", leaving=True)],
            "1 of 1 pods ready (hello-service-x: Terminating)",
        ),
        (
            deployment("hello-service", generation=2),
            [pod("hello-service")],
            "its controller has not seen the last change yet",
        ),
        (
            deployment("hello-service", updated=0),
            [pod("hello-service")],
            "pods of an older revision are still there",
        ),
    ],
)
def test_what_is_not_up_says_why(live: Obj | None, pods: list[Obj], reason: str) -> None:
    assert hello(live, *pods) == reason
