"""Chaos Mesh experiments: awaited with a limit, blamed in its own words, and removed even against a
finalizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from pytest_microremed.cluster.kinds import STRESS_CHAOS, Obj
from pytest_microremed.errors import NotPosed, UsageError, WaitTimeout
from pytest_microremed.faults.chaos import INJECT_S, INJECTOR_NAMESPACE, RECOVER_S
from pytest_microremed.faults.fault import load_fault
from pytest_microremed.faults.injection import Injection, experiment_name, inject
from tests.checks.fakes import CART, NAMESPACE, SHOP, FakeCluster, failed, pod, shop

INJECTED = {"conditions": [{"type": "Selected", "status": "True"}, {"type": "AllInjected", "status": "True"}]}
CASE = "hard-001-shop-cpu-stress-cart"
NAME = experiment_name(CASE)


class ChaosMesh(FakeCluster):
    """Writes the status it is told to after two seconds; its finalizer lets go when it is told to."""

    def __init__(self, status: Obj, *, lets_go: Callable[[Obj], bool] = lambda _: True) -> None:
        super().__init__()
        healthy = shop()
        self.objects, self.used = healthy.objects, healthy.used
        self.status, self.lets_go = status, lets_go

    def create(self, obj: Obj) -> Obj:
        made = super().create(obj)
        if obj["kind"].endswith("Chaos"):
            self.time.at.append((self.time.now() + 2, lambda: made.update(status=self.status)))
        return made

    def get(self, kind: Any, namespace: str | None, name: str) -> Obj | None:
        found = self.objects.get((kind.kind, namespace, name))
        if found and found["metadata"].get("deletionTimestamp") and self.lets_go(found):
            del self.objects[kind.kind, namespace, name]
        return super().get(kind, namespace, name)

    def delete(self, kind: Any, namespace: str | None, name: str, *, grace_s: int | None = None) -> None:
        if found := self.objects.get((kind.kind, namespace, name)):
            found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"


def start(cluster: FakeCluster, fault: str = "cpu-stress") -> Injection:
    return inject(cluster, load_fault(fault), SHOP, CART, CASE, NAMESPACE, None)


def the_experiment(cluster: FakeCluster, kind: str = "StressChaos") -> Obj:
    return cluster.objects[kind, INJECTOR_NAMESPACE, NAME]


def test_an_experiment_lives_apart_labelled_and_under_a_neutral_name() -> None:
    cluster = ChaosMesh(INJECTED)
    injection = start(cluster)
    metadata = the_experiment(cluster)["metadata"]
    assert metadata["labels"] == {"app.kubernetes.io/managed-by": "pytest-microremed"}
    assert injection.mechanism == "chaos-mesh"
    assert injection.active()
    assert "cpu" not in NAME
    assert "stress" not in NAME
    assert experiment_name("hard-002-shop-cpu-stress-cart") != NAME


def test_the_first_pod_by_name_is_hit() -> None:
    cluster = ChaosMesh(INJECTED)
    cluster.put(pod(CART, "cart-0"))
    start(cluster)
    assert the_experiment(cluster)["spec"]["selector"] == {"pods": {NAMESPACE: ["cart-0"]}}


def test_memory_stress_fills_what_the_program_leaves_of_four_fifths_of_the_limit() -> None:
    cluster = ChaosMesh(INJECTED)
    start(cluster, "memory-stress")
    assert the_experiment(cluster)["spec"]["stressors"]["memory"]["size"] == "154MiB"  # 0.8 * 256 - 50


def test_without_a_sample_there_is_no_memory_stress() -> None:
    cluster = ChaosMesh(INJECTED)
    cluster.used.clear()
    with pytest.raises(NotPosed, match=r"no memory sample of shop/cart-a/server: is metrics\.k8s\.io served"):
        start(cluster, "memory-stress")


def test_disk_io_hits_the_container_that_is_measured() -> None:
    cluster = ChaosMesh(INJECTED)
    start(cluster, "disk-io")
    assert the_experiment(cluster, "IOChaos")["spec"]["containerNames"] == ["server"]
    cluster = ChaosMesh(INJECTED)
    cluster.answers = lambda *_: failed('exec: "sh": executable file not found in $PATH')
    start(cluster, "disk-io")
    assert the_experiment(cluster, "IOChaos")["spec"]["containerNames"] == ["probe"]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        ({}, "no pod is selected"),
        (
            {
                "conditions": [{"type": "AllInjected", "status": "False"}],
                "experiment": {
                    "containerRecords": [
                        {
                            "events": [
                                {
                                    "type": "Failed",
                                    "timestamp": "2026-01-01T00:00:01Z",
                                    "message": "first trouble",
                                },
                                {
                                    "type": "Failed",
                                    "timestamp": "2026-01-01T00:00:02Z",
                                    "message": "cgroup not found",
                                },
                                {"type": "Succeeded", "timestamp": "2026-01-01T00:00:03Z"},
                            ]
                        }
                    ]
                },
            },
            "cgroup not found",
        ),
    ],
)
def test_what_is_not_injected_is_not_posed_with_chaos_meshs_own_message(status: Obj, message: str) -> None:
    cluster = ChaosMesh(status)
    with pytest.raises(NotPosed, match=rf"AllInjected: not so after {INJECT_S:g} s \({message}\)"):
        start(cluster)
    assert cluster.get(STRESS_CHAOS, INJECTOR_NAMESPACE, NAME) is None


def test_a_refused_resource_is_not_posed() -> None:
    cluster = ChaosMesh(INJECTED)
    cluster.create = lambda obj: (_ for _ in ()).throw(failed("no matches for kind", 404))  # type: ignore[method-assign]
    with pytest.raises(NotPosed, match=r"cpu-stress on cart of shop was not injected: .*no matches for kind"):
        start(cluster)


def test_a_leftover_of_the_same_name_goes_first() -> None:
    """Chaos Mesh refuses to change the spec of an experiment that exists."""
    cluster = ChaosMesh(INJECTED)
    start(cluster)
    the_experiment(cluster)["spec"] = {"old": True}
    start(cluster)
    assert "old" not in the_experiment(cluster)["spec"]


def test_stop_removes_it() -> None:
    cluster = ChaosMesh(INJECTED)
    injection = start(cluster)
    injection.stop()
    assert not injection.active()
    assert cluster.get(STRESS_CHAOS, INJECTOR_NAMESPACE, NAME) is None
    injection.stop()  # once more is fine


def forced(obj: Obj) -> bool:
    annotations = obj["metadata"].get("annotations", {})
    return bool(annotations.get("chaos-mesh.chaos-mesh.org/cleanFinalizer") == "forced")


def test_a_finalizer_that_does_not_let_go_is_forced() -> None:
    cluster = ChaosMesh(INJECTED, lets_go=forced)
    injection = start(cluster)
    injection.stop()
    assert cluster.get(STRESS_CHAOS, INJECTOR_NAMESPACE, NAME) is None
    assert cluster.time.now() > RECOVER_S


def test_stop_has_an_end_and_says_what_it_waited_for() -> None:
    cluster = ChaosMesh(INJECTED, lets_go=lambda _: False)
    injection = start(cluster)
    assert injection.active()
    with pytest.raises(WaitTimeout, match=f"StressChaos {INJECTOR_NAMESPACE}/{NAME}: forced removal"):
        injection.stop()
    assert not injection.active()


def test_a_variant_that_cannot_be_is_the_users_mistake() -> None:
    cluster = shop()
    with pytest.raises(UsageError, match="possible: resource-limits"):
        inject(cluster, load_fault("pod-config-error"), SHOP, CART, CASE, NAMESPACE, "typo")
