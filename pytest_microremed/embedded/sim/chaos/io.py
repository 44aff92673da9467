"""IOChaos: latency and errors of a container's operations on one of its volumes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.chaos.durations import duration_seconds
from pytest_microremed.embedded.sim.chaos.injector import InjectionError, World, container_records, source
from pytest_microremed.embedded.sim.model import Container, DiskFault, Mount

_SIMULATED = ("latency", "fault")


class IOFaults:
    """Puts a disk fault on the volume that the container has mounted at `volumePath`."""

    def select(self, world: World, chaos: Object, rng: random.Random) -> list[tuple[str, str]]:
        return container_records(world, chaos, rng)

    def apply(self, world: World, chaos: Object, record: Object, records: Sequence[Object]) -> Any:
        spec = chaos["spec"]
        if spec["action"] not in _SIMULATED:
            raise InjectionError(f"action {spec['action']} is not simulated")
        container = world.container(record["id"])
        if container is None:
            raise InjectionError(f"container not found: {record['id']}")
        mount = _mount_at(container, spec["volumePath"])
        if mount is None:
            raise InjectionError(
                f"toda startup takes too long or an error occurs: {spec['volumePath']} is no mount point"
            )
        mount.volume.faults[_name(chaos, record)] = DiskFault(
            container.name,
            path_in_volume(spec.get("path") or "", mount),
            frozenset(spec.get("methods") or ()),
            spec.get("percent", 100),
            duration_seconds(spec.get("delay") or "0") if spec["action"] == "latency" else 0.0,
            spec.get("errno", 0) if spec["action"] == "fault" else 0,
        )
        container.pod.changed()
        return 1

    def recover(self, world: World, chaos: Object, record: Object) -> None:
        pod = world.pod(record["id"])
        for volume in pod.volumes.values() if pod else ():
            volume.faults.pop(_name(chaos, record), None)
        if pod:
            pod.changed()


def _name(chaos: Object, record: Object) -> str:
    return f"{source(chaos)}/{record['id'].split('/')[2]}"


def _mount_at(container: Container, path: str) -> Mount | None:
    wanted = path.rstrip("/") or "/"
    return next((mount for mount in container.mounts if (mount.path.rstrip("/") or "/") == wanted), None)


def path_in_volume(pattern: str, mount: Mount) -> str:
    """The pattern of absolute paths as an fnmatch pattern inside the volume; an empty one means all files.

    `**/` stands for any directories, or none (toda's globs); fnmatch's `*` crosses directories anyhow.
    """
    if not pattern:
        return "*"
    root = mount.path.rstrip("/") + "/"
    inside = pattern[len(root) :] if pattern.startswith(root) else pattern.lstrip("/")
    inside = inside.replace("**/", "").replace("**", "*") or "*"
    return f"{mount.sub_path.strip('/')}/{inside}" if mount.sub_path else inside
