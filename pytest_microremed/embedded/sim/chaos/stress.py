"""StressChaos: stress-ng and memStress as processes of the target container."""

from __future__ import annotations

import itertools
import random
import signal
from collections.abc import Sequence
from typing import Any

from pytest_microremed.embedded.api.store import Object, timestamp
from pytest_microremed.embedded.sim.chaos.durations import size_bytes
from pytest_microremed.embedded.sim.chaos.injector import InjectionError, World, container_records
from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.usage import NODE_MEMORY, memory_limit

ROOT = 0
CPU_WORKER = ("stress-ng-cpu [run]",)
_PARENT_MEMORY = 5 * 2**20
_WORKER_MEMORY = 3 * 2**20
_RESTART_S = 1.0
"""memStress looks so often whether one of its workers has gone, and starts another."""


class Stress:
    """Starts the stressors among the container's processes, as root's whoever runs the container."""

    def __init__(self) -> None:
        self._running: dict[tuple[str, str], list[tuple[Container, Process]]] = {}
        """Parents of stressors by experiment (uid) and record."""

    def select(self, world: World, chaos: Object, rng: random.Random) -> list[tuple[str, str]]:
        return container_records(world, chaos, rng)

    def apply(self, world: World, chaos: Object, record: Object, records: Sequence[Object]) -> Any:
        container = world.container(record["id"])
        if container is None:
            raise InjectionError(f"container not found: {record['id']}")
        key = (chaos["metadata"]["uid"], record["id"])
        stressors = chaos["spec"].get("stressors") or {}
        started: list[tuple[Container, Process]] = []
        instance: dict[str, str] = {}
        if chaos["spec"].get("stressngStressors"):
            stressors = _from_options(chaos["spec"]["stressngStressors"])
        moment = timestamp(world.now())
        if cpu := stressors.get("cpu"):
            process = _start_cpu(world, container, cpu)
            started.append((container, process))
            instance |= {"uid": str(process.pid), "startTime": moment}
        if memory := stressors.get("memory"):
            process = _start_memory(world, container, memory)
            started.append((container, process))
            instance |= {"memoryUid": str(process.pid), "memoryStartTime": moment}
        self._running[key] = started
        return instance

    def recover(self, world: World, chaos: Object, record: Object) -> None:
        for container, process in self._running.pop((chaos["metadata"]["uid"], record["id"]), ()):
            if container.processes.get(process.pid) is process:
                container.kill(process.pid, signal.SIGKILL)


def _from_options(options: str) -> dict[str, Any]:
    """The CPU stressor that `stressngStressors` asks for (`--cpu 2 --cpu-load 80`)."""
    words = options.replace("=", " ").split()
    values = dict(itertools.pairwise(words))
    if "--cpu" not in values:
        raise InjectionError(f"stressors are not simulated: {options}")
    return {"cpu": {"workers": int(values["--cpu"]), "load": int(values.get("--cpu-load", "100"))}}


def _start_cpu(world: World, container: Container, stressor: dict[str, Any]) -> Process:
    """A parent, which only waits, and its workers, each of which wants its load of one core."""
    words = ["stress-ng", "--cpu-load-slice", "10", "--cpu-method", "sqrt", "--cpu", str(stressor["workers"])]
    load = stressor.get("load")
    if load is not None:
        words += ["--cpu-load", str(load)]
    words += stressor.get("options") or ()
    parent = container.spawn(tuple(words), started=world.now(), memory=_PARENT_MEMORY, uid=ROOT)
    demand = (100 if load is None else load) / 100

    def worker_ended(_: int) -> None:
        # stress-ng ends when the last of its workers has; it does not start them again.
        alive = any(process.ppid == parent.pid for process in container.processes.values())
        if not alive and parent.pid in container.processes:
            container.kill(parent.pid, signal.SIGKILL)

    for _ in range(stressor["workers"]):
        worker = container.spawn(
            CPU_WORKER,
            ppid=parent.pid,
            started=world.now(),
            cpu=demand,
            memory=_WORKER_MEMORY,
            uid=ROOT,
            dies_with_parent=True,
        )
        worker.on_exit = worker_ended
    return parent


def _start_memory(world: World, container: Container, stressor: dict[str, Any]) -> Process:
    """A parent, which starts workers again when they go, and the workers, which share the memory."""
    workers, size = stressor["workers"], stressor.get("size")
    words = (
        "memStress",
        "--workers",
        str(workers),
        *(("--size", size) if size else ()),
        *(stressor.get("options") or ()),
    )
    whole = memory_limit(container) or NODE_MEMORY
    # Without a size memStress takes nothing: its own default is 0KB.
    each = size_bytes(size, whole) // workers if size else 0
    parent = container.spawn(words, started=world.now(), memory=_PARENT_MEMORY, uid=ROOT)
    command = (
        "./memStress",
        "--size",
        size or "0KB",
        "--workers",
        str(workers),
        "--time",
        "0s",
        "--client",
        "1",
    )

    def start_worker() -> None:
        if container.processes.get(parent.pid) is parent:
            worker = container.spawn(
                command, ppid=parent.pid, started=world.now(), memory=each, uid=ROOT, dies_with_parent=True
            )
            worker.on_exit = worker_ended

    def worker_ended(_: int) -> None:
        world.clock.call_later(_RESTART_S, start_worker)

    for _ in range(workers):
        start_worker()
    return parent
