"""Which pods are the target's: no playbook can hide the one with the fault or put another in its place."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pytest_microremed.checks.check import CheckResult, TargetCheck, look_healthy
from pytest_microremed.cluster.kinds import DEPLOYMENTS, PODS
from pytest_microremed.errors import NotPosed
from pytest_microremed.faults.target import Target, View, name_of
from tests.checks.fakes import CART, NAMESPACE, FakeCluster, deployment, pod, shop, the_deployment, the_pod


class Content:
    """A measurement that finds all well."""

    def __init__(self) -> None:
        self.views: list[View] = []

    def measure(self, view: View) -> CheckResult:
        self.views.append(view)
        return CheckResult(True, "well")

    def refresh(self) -> None: ...


def check(cluster: FakeCluster) -> tuple[TargetCheck, Content]:
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    content = Content()
    return TargetCheck(target, healthy, content), content


def test_a_healthy_target_is_measured() -> None:
    cluster = shop()
    status, content = check(cluster)
    assert status.run() == CheckResult(True, "well")
    assert [name_of(p) for p in content.views[0].pods] == ["cart-a"]


def delete_workload(cluster: FakeCluster) -> None:
    cluster.remove(DEPLOYMENTS, "cart")


def rename_workload(cluster: FakeCluster) -> None:
    cluster.remove(DEPLOYMENTS, "cart")
    other = deployment()
    other["metadata"] |= {"name": "cart-2", "uid": "cart-deployment"}
    cluster.put(other)


def scale_to_zero(cluster: FakeCluster) -> None:
    the_deployment(cluster)["spec"]["replicas"] = 0
    cluster.remove(PODS, "cart-a")


def lose_the_pod(cluster: FakeCluster) -> None:
    cluster.remove(PODS, "cart-a")


def put_up_a_fake(cluster: FakeCluster) -> None:
    cluster.remove(PODS, "cart-a")
    cluster.put(pod(CART, "fake", owned=False))


def relabel_the_bad_pod(cluster: FakeCluster) -> None:
    bad = the_pod(cluster)
    bad["metadata"]["labels"] = {"app": "quarantine"}
    bad["metadata"]["ownerReferences"] = []
    cluster.put(pod(CART, "cart-b"))


def rename_the_container(cluster: FakeCluster) -> None:
    cluster.remove(PODS, "cart-a")
    other = pod(CART, "cart-b")
    other["spec"]["containers"][0]["name"] = "main"
    cluster.put(other)


def drop_the_sidecar(cluster: FakeCluster) -> None:
    cluster.remove(PODS, "cart-a")
    other = pod(CART, "cart-b")
    del other["spec"]["containers"][1]
    cluster.put(other)


@pytest.mark.parametrize(
    ("cheat", "reason"),
    [
        (delete_workload, "does not exist"),
        (rename_workload, "does not exist"),
        (scale_to_zero, "scaled to 0"),
        (lose_the_pod, "has 0 pods"),
        (put_up_a_fake, "has 0 pods"),
        (relabel_the_bad_pod, "cart-a lives on"),
        (rename_the_container, "no container server"),
        (drop_the_sidecar, "no container probe"),
    ],
)
def test_what_is_missing_never_passes(cheat: Callable[[FakeCluster], None], reason: str) -> None:
    cluster = shop()
    status, content = check(cluster)
    cheat(cluster)
    result = status.run()
    assert not result.passed
    assert reason in result.reason
    assert not content.views


def test_a_relabelled_pod_counts_until_it_is_gone() -> None:
    cluster = shop()
    status, _ = check(cluster)
    relabel_the_bad_pod(cluster)
    assert not status.run().passed
    cluster.remove(PODS, "cart-a")
    assert status.run().passed


def test_a_pod_that_is_being_deleted_or_was_evicted_is_none_of_the_targets() -> None:
    cluster = shop()
    status, content = check(cluster)
    the_pod(cluster)["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    evicted = pod(CART, "cart-0")
    evicted["status"]["phase"] = "Failed"
    cluster.put(evicted)
    cluster.put(pod(CART, "cart-b"))
    assert status.run().passed
    assert [name_of(p) for p in content.views[0].pods] == ["cart-b"]


def test_a_pod_of_the_same_name_is_another_pod() -> None:
    """As a StatefulSet's: the old one is gone, not relabelled."""
    cluster = shop()
    target = Target(cluster, CART, NAMESPACE)
    target.look()
    cluster.remove(PODS, "cart-a")
    cluster.put(pod(CART, "cart-a") | {})
    the_pod(cluster)["metadata"]["uid"] = "another"
    view = target.look()
    assert [p["metadata"]["uid"] for p in view.pods] == ["another"]
    assert not view.strays


def test_an_unhealthy_target_has_no_baseline() -> None:
    cluster = shop()
    delete_workload(cluster)
    with pytest.raises(NotPosed, match="Deployment cart does not exist"):
        look_healthy(cluster, CART, NAMESPACE)
