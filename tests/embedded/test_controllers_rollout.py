"""A rolling update keeps within its limits whatever they are and in whatever order pods become ready."""

from __future__ import annotations

import math
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_microremed.embedded.api.resources import DEPLOYMENTS
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, image_of, is_ready, rolling, workload

_MOST_ROUNDS = 500
_bounds = st.one_of(st.integers(0, 4), st.integers(0, 100).map(lambda percent: f"{percent}%"))


def _pods(value: int | str, replicas: int, *, up: bool) -> int:
    if isinstance(value, int):
        return value
    exact = int(value[:-1]) * replicas / 100
    return math.ceil(exact - 1e-9) if up else math.floor(exact + 1e-9)


@settings(max_examples=25, deadline=None)
@given(replicas=st.integers(1, 8), surge=_bounds, unavailable=_bounds, order=st.integers(0, 10_000))
def test_surge_and_unavailability_stay_within_their_limits(
    replicas: int, surge: int | str, unavailable: int | str, order: int
) -> None:
    most_extra = _pods(surge, replicas, up=True)
    most_missing = min(_pods(unavailable, replicas, up=False), replicas)
    if most_extra == most_missing == 0:
        most_missing = 1
    chance = random.Random(order)
    plane = ControlPlane()
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=replicas, strategy=rolling(surge, unavailable)))
    plane.kubelet.auto_ready = lambda pod: False
    plane.set_image("web", "web:2")
    for _ in range(_MOST_ROUNDS):
        plane.step()
        active = plane.pods()
        assert len(active) <= replicas + most_extra
        assert sum(map(is_ready, active)) >= replicas - most_missing
        if len(active) == replicas and all(is_ready(pod) and image_of(pod) == "web:2" for pod in active):
            break
        _make_one_ready(plane, active, chance)
    else:
        raise AssertionError(f"the rollout did not end within {_MOST_ROUNDS} rounds")
    plane.close()


def _make_one_ready(plane: ControlPlane, pods: list[Object], chance: random.Random) -> None:
    waiting = [pod for pod in pods if pod["status"].get("podIP") and not is_ready(pod)]
    if waiting and chance.random() < 0.5:
        plane.kubelet.write(chance.choice(waiting), ready=True)
