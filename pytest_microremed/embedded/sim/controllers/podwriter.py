"""Creating and deleting pods on behalf of their owner, with the events that tell of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.controllers.pods import pod_from_template
from pytest_microremed.embedded.sim.controllers.quota import quota_refusal
from pytest_microremed.embedded.sim.controllers.templates import random_suffix

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.controllers.base import Controller


class CreationRefusedError(Exception):
    """The API would not take the pod; `created` are the owner's pods so far."""

    def __init__(self, message: str, created: list[Object]) -> None:
        self.created = created
        super().__init__(message)


class PodWriter:
    """Writes the pods of ReplicaSets, DaemonSets and Jobs."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def create_random(
        self,
        owner: Object,
        template: Mapping[str, Any],
        pods: list[Object],
        labels: Mapping[str, str] | None = None,
    ) -> None:
        """Create a pod with a random name and append it to `pods`. Raises CreationRefusedError."""
        generate_name = f"{owner['metadata']['name']}-"
        namespace = owner["metadata"]["namespace"]
        name = generate_name + random_suffix()
        while self._controller.store.get(PODS, namespace, name) is not None:
            name = generate_name + random_suffix()
        pod = pod_from_template(owner, template, name, labels or {})
        pod["metadata"]["generateName"] = generate_name
        refusal = quota_refusal(self._controller.store, pod)
        if refusal:
            self._controller.tell(owner, "Warning", "FailedCreate", f"Error creating: {refusal}")
            raise CreationRefusedError(refusal, pods)
        pods.append(self._controller.store.create(PODS, pod))
        self._controller.tell(owner, "Normal", "SuccessfulCreate", f"Created pod: {name}")

    def delete(self, owner: Object, pod: Object) -> None:
        self._controller.store.delete(PODS, pod)
        self._controller.tell(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}")
