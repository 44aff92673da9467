"""NetworkChaos: loss and delay of pods' packets, of all or of those to certain pods, and partitions."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Literal

from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.chaos.durations import duration_seconds
from pytest_microremed.embedded.sim.chaos.injector import (
    SELF,
    TARGET,
    InjectionError,
    World,
    pod_id,
    select_own,
    select_target,
    source,
)
from pytest_microremed.embedded.sim.model import Filter, Netem, PodSandbox

HANDLE = "1:"
_SIMULATED = ("netem", "delay", "loss", "corrupt", "partition")


class NetworkFaults:
    """Keeps what all experiments want of a pod, as a PodNetworkChaos does, and sets it as a whole."""

    def __init__(self) -> None:
        self._wanted: dict[str, dict[str, Netem]] = defaultdict(dict)
        """Impairments of all packets, by pod uid and experiment."""

    def select(self, world: World, chaos: Object, rng: random.Random) -> list[tuple[str, str]]:
        own = [(pod_id(pod), SELF) for pod in select_own(world, chaos, rng)]
        return own + [(pod_id(pod), TARGET) for pod in select_target(world, chaos, rng)]

    def apply(self, world: World, chaos: Object, record: Object, records: Sequence[Object]) -> Any:
        spec = chaos["spec"]
        if spec["action"] not in _SIMULATED:
            raise InjectionError(f"action {spec['action']} is not simulated")
        pod = world.pod(record["id"])
        if pod is None:
            raise InjectionError(f'Pod "{record["id"].split("/")[1]}" not found')
        direction = spec.get("direction", "to")
        others = _addresses(world, records, SELF if record["selectorKey"] == TARGET else TARGET)
        others |= set(spec.get("externalTargets") or ()) if record["selectorKey"] == SELF else set()
        if spec["action"] == "partition":
            self._partition(pod, chaos, record, direction, frozenset(others))
        elif direction == "both" or (direction == "to") == (record["selectorKey"] == SELF):
            netem = netem_of(spec)
            if others:
                pod.filters[source(chaos)] = Filter(frozenset(others), netem)
            else:
                self._wanted[pod.uid][source(chaos)] = netem
                self._set(pod)
        pod.changed()
        return 1

    def recover(self, world: World, chaos: Object, record: Object) -> None:
        pod = world.pod(record["id"])
        if pod is None:
            return
        for name in (source(chaos), f"{source(chaos)}/in", f"{source(chaos)}/out"):
            pod.filters.pop(name, None)
        if self._wanted[pod.uid].pop(source(chaos), None) is not None:
            self._set(pod)
        pod.changed()

    def _set(self, pod: PodSandbox) -> None:
        """Replace all that `tc` has on the device, whoever put it there, by what is wanted."""
        pod.netem = sum(self._wanted[pod.uid].values(), Netem(handle=HANDLE))

    @staticmethod
    def _partition(pod: PodSandbox, chaos: Object, record: Object, direction: str, others: frozenset[str]) -> None:
        own = record["selectorKey"] == SELF
        drops: list[Literal["in", "out"]] = []
        if direction in ("to", "both"):
            drops.append("out" if own else "in")
        if direction in ("from", "both"):
            drops.append("in" if own else "out")
        for drop in drops:
            pod.filters[f"{source(chaos)}/{drop}"] = Filter(others, drop=drop)


def _addresses(world: World, records: Sequence[Object], key: str) -> set[str]:
    pods = (world.pod(record["id"]) for record in records if record["selectorKey"] == key)
    return {pod.ip for pod in pods if pod is not None}


def netem_of(spec: Object) -> Netem:
    """The impairments that an experiment asks for. Corrupt packets fail their checksum, so they are lost."""
    delay = spec.get("delay") or {}
    loss = 1.0
    for name in ("loss", "corrupt"):
        loss *= 1 - float((spec.get(name) or {}).get(name) or 0) / 100
    return Netem(
        delay_s=duration_seconds(delay.get("latency", "0")),
        jitter_s=duration_seconds(delay.get("jitter", "0")),
        loss=1 - loss,
        handle=HANDLE,
    )
