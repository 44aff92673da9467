"""What the namespace of a healthy system looks like, and what differs from that."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from pytest_microremed.cluster.kinds import PODS, SERVICES, Obj
from pytest_microremed.systems.health import pods_by_workload, unhealthy
from pytest_microremed.systems.state import Key, State, differing_paths, pod_shape, wanted
from pytest_microremed.systems.system import System

What = Literal["added", "removed", "changed", "unhealthy"]


@dataclass(frozen=True)
class Change:
    """One object that is not as in the baseline."""

    kind: str
    name: str
    what: What
    paths: tuple[str, ...] = ()
    """`changed`: the fields, as `spec.template.spec.containers[server].image`; `unhealthy`: the reason."""
    workload: str | None = None
    """The workload that the object is, or is part of (its pods and Services); None for everything else."""

    def __str__(self) -> str:
        return f"{self.kind}/{self.name}: {self.what}" + (f": {', '.join(self.paths)}" if self.paths else "")


@dataclass(frozen=True)
class Baseline:
    """A namespace in its healthy state."""

    system: System
    namespace: str
    objects: Mapping[Key, Obj] = field(repr=False)
    """What is wanted of every object, pods of controllers left out."""
    ready: Mapping[str, int]
    """Ready pods by workload."""
    pod_shapes: Mapping[str, Obj] = field(repr=False)
    """What the pods of each workload look like."""


def take_baseline(system: System, namespace: str, state: State) -> Baseline:
    """The baseline of a system that is up."""
    pods = pods_by_workload(system, state)
    return Baseline(
        system=system,
        namespace=namespace,
        objects={key: wanted(obj) for key, obj in state.objects.items()},
        ready={name: len(pods[name]) for name in system.workloads},
        pod_shapes={name: pod_shape(pods[name][0]) for name in system.workloads},
    )


def compare(baseline: Baseline, state: State) -> list[Change]:
    """What differs: objects added, removed, changed; pods added or changed in place; workloads not up."""
    return [*_objects(baseline, state), *_pods(baseline, state), *_workloads(baseline, state)]


def _objects(baseline: Baseline, state: State) -> Iterator[Change]:
    owners = _owners(baseline.system)

    def change(key: Key, what: What, paths: tuple[str, ...] = ()) -> Change:
        kind, name = key
        return Change(kind.kind, name, what, paths, owners.get(key))

    for key, obj in state.objects.items():
        if key not in baseline.objects:
            yield change(key, "added")
        elif paths := tuple(differing_paths(baseline.objects[key], wanted(obj))):
            yield change(key, "changed", paths)
        elif "deletionTimestamp" in obj["metadata"]:
            yield change(key, "changed", ("metadata.deletionTimestamp",))
    for key in baseline.objects:
        if key not in state.objects:
            yield change(key, "removed")


def _pods(baseline: Baseline, state: State) -> Iterator[Change]:
    pods = pods_by_workload(baseline.system, state)
    for pod in pods[""]:
        yield Change(PODS.kind, pod["metadata"]["name"], "added")
    for name, shape in baseline.pod_shapes.items():
        for pod in pods[name]:
            if paths := tuple(differing_paths(shape, pod_shape(pod))):
                yield Change(PODS.kind, pod["metadata"]["name"], "changed", paths, name)


def _workloads(baseline: Baseline, state: State) -> Iterator[Change]:
    for name, reason in unhealthy(baseline.system, state).items():
        yield Change(baseline.system.workload(name).kind, name, "unhealthy", (reason,), name)


def _owners(system: System) -> dict[Key, str]:
    """The workload that each workload object and Service of the system belongs to."""
    owners: dict[Key, str] = {(w.object_kind, name): name for name, w in system.workloads.items()}
    owners.update({(SERVICES, s.name): name for name, w in system.workloads.items() for s in w.services})
    return owners
