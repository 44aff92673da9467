"""What the controller asks of each kind of chaos: whom it is about, and how to inject and recover it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.chaos.selector import containers_of, select_pods
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.model import Container, Nodes, PodSandbox

SELF, TARGET = ".", ".Target"
"""Selector keys of records: what the experiment is about, and the other side of a network."""


class InjectionError(Exception):
    """It cannot be injected or recovered now; the controller says so and tries again later."""


@dataclass(frozen=True)
class World:
    """What injectors work on."""

    store: Store
    clock: SimClock
    nodes: Nodes

    def pod(self, record_id: str) -> PodSandbox | None:
        """The running pod that a record is about; None if it has gone."""
        namespace, name = record_id.split("/")[:2]
        return self.nodes.find(namespace, name)

    def container(self, record_id: str) -> Container | None:
        """The running container that a record is about; None if it does not run."""
        pod = self.pod(record_id)
        container = pod.containers.get(record_id.split("/")[2]) if pod else None
        return container if container is not None and container.state == "running" else None

    def now(self) -> datetime:
        return self.clock.now()


class Injector(Protocol):
    """One kind of chaos (or one action of it)."""

    def select(self, world: World, chaos: Object, rng: random.Random) -> list[tuple[str, str]]:
        """Id and selector key of each record. Raises `SelectionError`."""

    def apply(self, world: World, chaos: Object, record: Object, records: Sequence[Object]) -> Any:
        """Inject into the record's pod or container; what is returned goes to `status.instances`.

        Raises `InjectionError`.
        """

    def recover(self, world: World, chaos: Object, record: Object) -> None:
        """Undo it, whatever is left of it. Raises `InjectionError`."""


def is_one_shot(chaos: Object) -> bool:
    """Whether the experiment happens once and has nothing to recover."""
    return chaos["kind"] == "PodChaos" and chaos["spec"]["action"] in ("pod-kill", "container-kill")


def source(chaos: Object) -> str:
    """How effects are marked as those of this experiment."""
    return f"{chaos['kind']}/{chaos['metadata']['namespace']}/{chaos['metadata']['name']}"


def select_own(world: World, chaos: Object, rng: random.Random) -> list[Object]:
    """The pods of the experiment's own selector."""
    return _select(world, chaos, chaos["spec"], rng)


def select_target(world: World, chaos: Object, rng: random.Random) -> list[Object]:
    """The pods of a network experiment's other side, if it has one."""
    target = chaos["spec"].get("target")
    return _select(world, chaos, target, rng) if target else []


def _select(world: World, chaos: Object, spec: Object, rng: random.Random) -> list[Object]:
    namespace = chaos["metadata"]["namespace"]
    return select_pods(world.store, spec["selector"], spec["mode"], str(spec.get("value", "")), namespace, rng)


def pod_id(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"


def container_records(world: World, chaos: Object, rng: random.Random) -> list[tuple[str, str]]:
    """Records of the containers that the experiment names in its pods."""
    names = chaos["spec"].get("containerNames") or ()
    pods = select_own(world, chaos, rng)
    return [(f"{pod_id(pod)}/{name}", SELF) for pod in pods for name in containers_of(pod, names)]
