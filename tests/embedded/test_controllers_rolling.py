"""Which ReplicaSet gets which size next, where the state of the cluster is hard to bring about."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.controllers.rolling import Limits, plan_rollout, plan_scaling, share

_ANNOTATION = "deployment.kubernetes.io/"


def replica_set(number: int, size: int, available: int, *, desired: int = 3, most: int = 4) -> Object:
    sizes = {f"{_ANNOTATION}desired-replicas": str(desired), f"{_ANNOTATION}max-replicas": str(most)}
    annotations = {**sizes, f"{_ANNOTATION}revision": str(number)}
    return {
        "metadata": {"name": f"web-{number}", "annotations": annotations},
        "spec": {"replicas": size},
        "status": {"availableReplicas": available},
    }


def test_pods_about_to_be_deleted_do_not_count_as_available() -> None:
    shrinking = replica_set(1, size=3, available=4)
    assert plan_rollout(Limits(4, 1, 1), replica_set(2, size=2, available=1), [shrinking]) == {"web-1": 2}


def test_a_complete_new_set_leaves_nothing_to_the_old_ones_when_scaled() -> None:
    new, old = replica_set(2, size=3, available=3), replica_set(1, size=1, available=1)
    assert plan_scaling(Limits(3, 1, 0), new, [old], rolling=True) == {"web-1": 0}


def test_a_rollout_that_is_scaled_to_zero_keeps_nothing() -> None:
    new, old = replica_set(2, size=2, available=0), replica_set(1, size=2, available=2)
    assert plan_scaling(Limits(0, 2, 0), new, [old], rolling=True) == {"web-1": 0, "web-2": 0}


def test_what_cannot_be_shared_evenly_goes_to_the_largest_and_newest() -> None:
    new, old = replica_set(2, size=2, available=0), replica_set(1, size=2, available=2)
    assert plan_scaling(Limits(4, 1, 0), new, [old], rolling=True) == {"web-2": 3, "web-1": 2}


@pytest.mark.parametrize(("value", "up", "down"), [("25%", 3, 2), ("0%", 0, 0), ("100%", 9, 9), (4, 4, 4), ("5", 5, 5)])
def test_shares_of_nine(value: int | str, up: int, down: int) -> None:
    assert (share(value, 9, round_up=True), share(value, 9, round_up=False)) == (up, down)
