"""The controller of experiments: takes each through selection, injection, pause, recovery and deletion.

Works as Chaos Mesh's common pipeline (finalizer, desired phase, records, conditions), one level-triggered
pass for each change of the object. Targets are selected once: a pod that comes in place of one of them is
never touched.
"""

from __future__ import annotations

import random
from datetime import datetime
from typing import Literal

from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Change, Object, Store, timestamp
from pytest_microremed.embedded.sim import events
from pytest_microremed.embedded.sim.chaos.durations import duration_seconds
from pytest_microremed.embedded.sim.chaos.injector import InjectionError, Injector, World, is_one_shot
from pytest_microremed.embedded.sim.chaos.io import IOFaults
from pytest_microremed.embedded.sim.chaos.network import NetworkFaults
from pytest_microremed.embedded.sim.chaos.pod import ContainerKill, PodFailure, PodKill
from pytest_microremed.embedded.sim.chaos.resources import (
    ALL,
    IO_CHAOS,
    NETWORK_CHAOS,
    POD_CHAOS,
    STRESS_CHAOS,
)
from pytest_microremed.embedded.sim.chaos.selector import SelectionError
from pytest_microremed.embedded.sim.chaos.stress import Stress
from pytest_microremed.embedded.sim.chaos.webhook import admit
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.model import Nodes

FINALIZER = "chaos-mesh/records"
PAUSE = "experiment.chaos-mesh.org/pause"
CLEAN_FINALIZER = "chaos-mesh.chaos-mesh.org/cleanFinalizer"
INJECTED, NOT_INJECTED = "Injected", "Not Injected"
RETRY_S = 5.0
_MOST_EVENTS = 10
"""Kept for each record."""

Phase = Literal["Run", "Stop"]


def start_chaos(store: Store, clock: SimClock, nodes: Nodes, seed: int = 0) -> None:
    """Admit experiments to the store, and carry them out on the pods of the nodes."""
    store.webhooks.append(admit)
    ChaosController(World(store, clock, nodes), seed).start()


class ChaosController:
    """Carries out the experiments of all kinds."""

    def __init__(self, world: World, seed: int) -> None:
        self._world = world
        self._store = world.store
        self._seed = seed
        self._waiting: set[tuple[Resource, str, str]] = set()
        self._pod_actions: dict[str, Injector] = {
            "pod-failure": PodFailure(),
            "pod-kill": PodKill(),
            "container-kill": ContainerKill(),
        }
        self._injectors: dict[Resource, Injector] = {
            STRESS_CHAOS: Stress(),
            NETWORK_CHAOS: NetworkFaults(),
            IO_CHAOS: IOFaults(),
        }

    def start(self) -> None:
        self._store.subscribe(self._on_change)
        for resource in ALL:
            for chaos in self._store.list(resource):
                self._schedule(resource, chaos)

    def _on_change(self, change: Change) -> None:
        if change.resource in ALL and change.type != "DELETED":
            self._schedule(change.resource, change.obj)

    def _schedule(self, resource: Resource, chaos: Object, after_s: float = 0.0) -> None:
        key = (resource, chaos["metadata"]["namespace"], chaos["metadata"]["name"])
        if after_s:
            self._world.clock.call_later(after_s, self._reconcile, *key)
        elif key not in self._waiting:
            self._waiting.add(key)
            self._world.clock.loop.call_soon(self._reconcile, *key)

    def _reconcile(self, resource: Resource, namespace: str, name: str) -> None:
        self._waiting.discard((resource, namespace, name))
        chaos = self._store.get(resource, namespace, name)
        if chaos is None:
            return
        chaos = self._add_finalizer(resource, chaos)
        chaos = self._set_desired_phase(resource, chaos)
        chaos = self._work_on_records(resource, chaos)
        chaos = self._set_conditions(resource, chaos)
        self._drop_finalizer(resource, chaos)

    # -- the steps --

    def _add_finalizer(self, resource: Resource, chaos: Object) -> Object:
        meta = chaos["metadata"]
        finalizers = meta.get("finalizers") or []
        if "deletionTimestamp" in meta or FINALIZER in finalizers:
            return chaos
        self._event(chaos, "initFinalizers", "FinalizerInited", "Finalizer has been inited")
        chaos = self._store.update(resource, {**chaos, "metadata": {**meta, "finalizers": [*finalizers, FINALIZER]}})
        self._event(chaos, "initFinalizers", "Updated", "Successfully update finalizer of resource")
        return chaos

    def _set_desired_phase(self, resource: Resource, chaos: Object) -> Object:
        phase, reason, message = self._desired_phase(resource, chaos)
        experiment = _experiment(chaos)
        if experiment.get("desiredPhase") == phase:
            return chaos
        self._event(chaos, "desiredphase", reason, message)
        chaos = self._update_status(resource, chaos, experiment={**experiment, "desiredPhase": phase})
        self._event(chaos, "desiredphase", "Updated", "Successfully update desiredPhase of resource")
        return chaos

    def _desired_phase(self, resource: Resource, chaos: Object) -> tuple[Phase, str, str]:
        """The phase, with reason and message of the event that tells of a change to it."""
        started: tuple[Phase, str, str] = ("Run", "Started", "Experiment has started")
        if "deletionTimestamp" in chaos["metadata"]:
            return "Stop", "Deleted", "Experiment has been deleted"
        if is_one_shot(chaos):
            return started
        left = self._seconds_left(chaos)
        if left is not None and left <= 0:
            return "Stop", "TimeUp", "Time up according to the duration"
        if left is not None:
            self._schedule(resource, chaos, left)
        if is_paused(chaos):
            return "Stop", "Paused", "Experiment has been paused"
        return started

    def _seconds_left(self, chaos: Object) -> float | None:
        """Simulated seconds until the experiment's duration is over; None if it has none."""
        duration = chaos["spec"].get("duration")
        if not duration:
            return None
        created = datetime.fromisoformat(chaos["metadata"]["creationTimestamp"])
        clock = self._world.clock
        return duration_seconds(duration) - (clock.now() - created).total_seconds() * clock.speed

    def _work_on_records(self, resource: Resource, chaos: Object) -> Object:
        experiment = _experiment(chaos)
        injector = self._injector(resource, chaos)
        records = experiment.get("containerRecords")
        if records is None:
            records = self._select(injector, chaos)
            if records is None:
                return chaos
        instances = dict(chaos.get("status", {}).get("instances") or {})
        done = [self._work_on_record(injector, resource, chaos, record, records, instances) for record in records]
        if done == experiment.get("containerRecords"):
            return chaos
        status = {"experiment": {**experiment, "containerRecords": done}}
        if resource is not POD_CHAOS:
            status["instances"] = instances
        chaos = self._update_status(resource, chaos, **status)
        self._event(chaos, "records", "Updated", "Successfully update records of resource")
        return chaos

    def _select(self, injector: Injector, chaos: Object) -> list[Object] | None:
        """New records; None, with an event, if there is nothing to select."""
        meta = chaos["metadata"]
        rng = random.Random(f"{self._seed}/{chaos['kind']}/{meta['namespace']}/{meta['name']}")
        try:
            selected = injector.select(self._world, chaos, rng)
            if not selected:
                raise SelectionError("no target has been selected")
        except SelectionError as error:
            self._event(chaos, "records", "Failed", f"Failed to select targets: {error}", "Warning")
            return None
        return [
            {
                "id": record_id,
                "selectorKey": key,
                "phase": NOT_INJECTED,
                "injectedCount": 0,
                "recoveredCount": 0,
            }
            for record_id, key in selected
        ]

    def _work_on_record(
        self,
        injector: Injector,
        resource: Resource,
        chaos: Object,
        record: Object,
        records: list[Object],
        instances: Object,
    ) -> Object:
        """Inject or recover one record if it is not as it should be; the record afterwards."""
        should_run = _experiment(chaos).get("desiredPhase") == "Run"
        if should_run == (record["phase"] == INJECTED):
            return record
        operation = "Apply" if should_run else "Recover"
        try:
            if should_run:
                instances[record["id"]] = injector.apply(self._world, chaos, record, records)
            else:
                injector.recover(self._world, chaos, record)
                instances.pop(record["id"], None)
        except (InjectionError, ValueError) as error:  # ValueError: a number or duration that is none
            self._event(chaos, "records", "Failed", f"Failed to {operation.lower()} chaos: {error}", "Warning")
            self._schedule(resource, chaos, RETRY_S)
            return self._with_event(record, operation, "Failed", str(error))
        if should_run:
            self._event(chaos, "records", "Applied", f"Successfully apply chaos for {record['id']}")
            changed = {"phase": INJECTED, "injectedCount": record["injectedCount"] + 1}
        else:
            self._event(chaos, "records", "Recovered", f"Successfully recover chaos for {record['id']}")
            changed = {"phase": NOT_INJECTED, "recoveredCount": record["recoveredCount"] + 1}
        return self._with_event({**record, **changed}, operation, "Succeeded", "")

    def _with_event(self, record: Object, operation: str, outcome: str, message: str) -> Object:
        event = {"operation": operation, "type": outcome, "timestamp": timestamp(self._world.now())}
        if message:
            event["message"] = message
        return {**record, "events": [*record.get("events", ()), event][-_MOST_EVENTS:]}

    def _set_conditions(self, resource: Resource, chaos: Object) -> Object:
        records = _experiment(chaos).get("containerRecords")
        holds = {
            "Selected": records is not None,
            "AllInjected": records is not None and all(record["phase"] == INJECTED for record in records),
            "AllRecovered": records is not None and all(record["phase"] == NOT_INJECTED for record in records),
            "Paused": is_paused(chaos),
        }
        conditions = [{"type": name, "status": str(value)} for name, value in holds.items()]
        if chaos.get("status", {}).get("conditions") == conditions:
            return chaos
        return self._update_status(resource, chaos, conditions=conditions)

    def _drop_finalizer(self, resource: Resource, chaos: Object) -> None:
        meta = chaos["metadata"]
        if "deletionTimestamp" not in meta or not meta.get("finalizers"):
            return
        forced = (meta.get("annotations") or {}).get(CLEAN_FINALIZER) == "forced"
        records = _experiment(chaos).get("containerRecords") or ()
        if forced or all(record["phase"] == NOT_INJECTED for record in records):
            self._event(chaos, "initFinalizers", "FinalizerInited", "Finalizer has been removed")
            self._store.update(resource, {**chaos, "metadata": {**meta, "finalizers": []}})

    # -- helpers --

    def _injector(self, resource: Resource, chaos: Object) -> Injector:
        if resource == POD_CHAOS:
            return self._pod_actions[chaos["spec"]["action"]]
        return self._injectors[resource]

    def _update_status(self, resource: Resource, chaos: Object, **status: object) -> Object:
        merged = {"experiment": {}, **chaos.get("status", {}), **status}
        return self._store.update(resource, {**chaos, "status": merged})

    def _event(
        self,
        chaos: Object,
        component: str,
        reason: str,
        message: str,
        event_type: Literal["Normal", "Warning"] = "Normal",
    ) -> None:
        events.record(self._store, self._world.clock, chaos, event_type, reason, message, component)


def is_paused(chaos: Object) -> bool:
    return (chaos["metadata"].get("annotations") or {}).get(PAUSE) == "true"


def _experiment(chaos: Object) -> Object:
    experiment: Object = chaos.get("status", {}).get("experiment") or {}
    return experiment
