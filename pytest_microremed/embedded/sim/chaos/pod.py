"""PodChaos: pods that fail, pods that are killed, containers that are killed."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator, Sequence
from typing import Any

from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.chaos.injector import (
    SELF,
    InjectionError,
    World,
    container_records,
    pod_id,
    select_own,
)

PAUSE_IMAGE = "gcr.io/google-containers/pause:latest"


class PodFailure:
    """Puts a pause image in place of every image of the pod, and keeps the true ones in annotations."""

    def select(self, world: World, chaos: Object, rng: random.Random) -> list[tuple[str, str]]:
        return [(pod_id(pod), SELF) for pod in select_own(world, chaos, rng)]

    def apply(self, world: World, chaos: Object, record: Object, records: Sequence[Object]) -> Any:
        pod = _stored(world, record)
        if pod is None:
            raise _not_found(record)
        annotations = dict(pod["metadata"].get("annotations") or {})
        images = {}
        for field, container in _containers(pod):
            key = image_key(chaos, container["name"], is_init=field == "initContainers")
            if key not in annotations:
                annotations[key] = container["image"]
                images[field, container["name"]] = PAUSE_IMAGE
        _rewrite(world, pod, images, annotations)

    def recover(self, world: World, chaos: Object, record: Object) -> None:
        pod = _stored(world, record)
        if pod is None:
            return
        annotations = dict(pod["metadata"].get("annotations") or {})
        images = {}
        for field, container in _containers(pod):
            image = annotations.pop(image_key(chaos, container["name"], is_init=field == "initContainers"), None)
            if image is not None:
                images[field, container["name"]] = image
        _rewrite(world, pod, images, annotations)


class PodKill:
    """Deletes pods."""

    def select(self, world: World, chaos: Object, rng: random.Random) -> list[tuple[str, str]]:
        return [(pod_id(pod), SELF) for pod in select_own(world, chaos, rng)]

    def apply(self, world: World, chaos: Object, record: Object, records: Sequence[Object]) -> Any:
        pod = _stored(world, record)
        if pod is None:
            raise _not_found(record)
        world.store.delete(PODS, pod, grace_s=chaos["spec"].get("gracePeriod", 0))

    def recover(self, world: World, chaos: Object, record: Object) -> None:
        """Nothing comes back by itself: whoever owns the pod makes another."""


class ContainerKill:
    """Kills the first process of containers; their kubelet starts them again."""

    def select(self, world: World, chaos: Object, rng: random.Random) -> list[tuple[str, str]]:
        return container_records(world, chaos, rng)

    def apply(self, world: World, chaos: Object, record: Object, records: Sequence[Object]) -> Any:
        container = world.container(record["id"])
        if container is None:
            raise InjectionError(f"container not found: {record['id']}")
        container.kill(1, signal.SIGKILL)

    def recover(self, world: World, chaos: Object, record: Object) -> None:
        """The kubelet has restarted it already."""


def image_key(chaos: Object, container: str, *, is_init: bool) -> str:
    """The annotation that keeps a container's true image; a short one where the full one is too long."""
    short = container + ("-init" if is_init else "-normal")
    key = f"chaos-mesh-{chaos['metadata']['name']}-{chaos['spec']['action']}-{short}-image"
    return key if len(key) <= 63 else short


def _stored(world: World, record: Object) -> Object | None:
    namespace, name = record["id"].split("/")[:2]
    return world.store.get(PODS, namespace, name)


def _not_found(record: Object) -> InjectionError:
    return InjectionError(f'Pod "{record["id"].split("/")[1]}" not found')


def _containers(pod: Object) -> Iterator[tuple[str, Object]]:
    for field in ("containers", "initContainers"):
        for container in pod["spec"].get(field) or ():
            yield field, container


def _rewrite(world: World, pod: Object, images: dict[tuple[str, str], str], annotations: dict[str, str]) -> None:
    """Store the pod with these images by field and container, and these annotations."""
    spec = dict(pod["spec"])
    for field in ("containers", "initContainers"):
        if spec.get(field):
            spec[field] = [
                {**container, "image": images.get((field, container["name"]), container["image"])}
                for container in spec[field]
            ]
    world.store.update(PODS, {**pod, "spec": spec, "metadata": {**pod["metadata"], "annotations": annotations}})
