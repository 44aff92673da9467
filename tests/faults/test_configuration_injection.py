"""Configuration faults: in force in every pod, one revision in the history, and taken back."""

from __future__ import annotations

import copy

import pytest

from pytest_microremed.cluster.cluster import Conflict
from pytest_microremed.cluster.kinds import DEPLOYMENTS, PODS, Obj
from pytest_microremed.errors import NotPosed
from pytest_microremed.faults.configuration import REPLACE_S
from pytest_microremed.faults.fault import load_fault
from pytest_microremed.faults.injection import Injection, inject
from tests.checks.fakes import CART, NAMESPACE, SHOP, FakeCluster, pod, shop, the_deployment


class Controllers(FakeCluster):
    """A Deployment controller that knows one strategy: with Recreate, new pods come some seconds after the
    old went."""

    def __init__(self, *, stuck: bool = False) -> None:
        super().__init__()
        healthy = shop()
        self.objects, self.used = healthy.objects, healthy.used
        self.stuck = stuck
        self.revisions = [self.template()]
        self.conflicts = 0

    def template(self) -> Obj:
        return copy.deepcopy(self.objects["Deployment", NAMESPACE, "cart"]["spec"]["template"])

    def replace(self, obj: Obj) -> Obj:
        if self.conflicts:
            self.conflicts -= 1
            raise Conflict("PUT", "Deployment shop/cart", 409, "the object has been modified")
        done = super().replace(obj)
        if self.template() != self.revisions[-1]:
            self.revisions.append(self.template())
            if obj["spec"]["strategy"]["type"] == "Recreate" and not self.stuck:
                self.time.at.append((self.time.now() + 3, lambda: self.remove(PODS, "cart-a")))
                self.time.at.append((self.time.now() + 5, self.make_new))
        return done

    def make_new(self) -> None:
        new = pod(CART, "cart-b", ready=False)
        new["spec"] = self.template()["spec"]
        self.put(new)


def start(cluster: FakeCluster, variant: str = "environment-variable") -> Injection:
    return inject(cluster, load_fault("pod-config-error"), SHOP, CART, "case", NAMESPACE, variant)


def test_the_old_pods_are_gone_when_it_is_in_place() -> None:
    cluster = Controllers()
    injection = start(cluster)
    pods = cluster.list(PODS, NAMESPACE, CART.labels)
    assert [p["metadata"]["name"] for p in pods] == ["cart-b"]
    assert pods[0]["spec"]["containers"][0]["env"][0] == {"name": "PORT", "value": "7080"}
    assert injection.mechanism == "configuration"
    assert injection.active()


def test_the_history_holds_the_right_revision_just_before_the_wrong_one() -> None:
    cluster = Controllers()
    strategy = copy.deepcopy(the_deployment(cluster)["spec"]["strategy"])
    start(cluster)
    assert len(cluster.revisions) == 2
    assert the_deployment(cluster)["spec"]["strategy"] == strategy


def test_a_repair_ends_it() -> None:
    cluster = Controllers()
    injection = start(cluster)
    the_deployment(cluster)["spec"]["template"] = cluster.revisions[0]
    assert not injection.active()


def test_stop_puts_the_template_back() -> None:
    cluster = Controllers()
    injection = start(cluster, "resource-limits")
    injection.stop()
    assert cluster.template() == cluster.revisions[0]
    assert not injection.active()


def test_a_workload_that_is_gone_is_left_to_the_restoration() -> None:
    cluster = Controllers()
    injection = start(cluster)
    cluster.remove(DEPLOYMENTS, "cart")
    assert not injection.active()
    injection.stop()


def test_somebody_elses_write_in_between_does_no_harm() -> None:
    cluster = Controllers()
    cluster.conflicts = 2
    assert start(cluster).active()


def test_old_pods_that_stay_are_not_posed() -> None:
    cluster = Controllers(stuck=True)
    with pytest.raises(NotPosed, match=f"its pods replaced by misconfigured ones: not so after {REPLACE_S:g} s"):
        start(cluster)
