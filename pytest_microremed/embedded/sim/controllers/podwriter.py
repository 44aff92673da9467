"""Creating and deleting pods on behalf of their owner, within what the API allows, and telling of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pytest_microremed.embedded.api.errors import ApiError, forbidden
from pytest_microremed.embedded.api.pod_admission import admit_pod
from pytest_microremed.embedded.api.pod_defaults import default_pod
from pytest_microremed.embedded.api.quota import quota_refusal
from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.controllers.ownership import owner_reference
from pytest_microremed.embedded.sim.controllers.templates import random_suffix

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.controllers.base import Controller


def pod_from_template(owner: Object, template: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> Object:
    """A pod of the owner's template; `labels` come on top of the template's."""
    meta = template.get("metadata") or {}
    annotations = meta.get("annotations")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "generateName": f"{owner['metadata']['name']}-",
            "namespace": owner["metadata"]["namespace"],
            "labels": {**(meta.get("labels") or {}), **labels},
            **({"annotations": annotations} if annotations else {}),
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": template["spec"],
    }


def admitted(store: Store, pod: Object) -> Object:
    """The pod as the API server would store it. Raises ApiError 403: no such account, quota exceeded."""
    pod = admit_pod(store, default_pod(pod))
    refusal = quota_refusal(store, pod)
    if refusal:
        raise forbidden(PODS, pod["metadata"]["name"], refusal)
    return pod


class PodWriter:
    """Writes the pods of ReplicaSets, DaemonSets and Jobs, which get random names."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def create(self, owner: Object, template: Mapping[str, Any], labels: Mapping[str, str] | None = None) -> Object:
        """Create a pod of the template. Raises ApiError 403, after an event that tells of it."""
        store, meta = self._controller.store, owner["metadata"]
        prefix = f"{meta['name']}-"
        try:
            pod = admitted(store, pod_from_template(owner, template, prefix, labels or {}))
        except ApiError as refusal:
            self._controller.tell(owner, "Warning", "FailedCreate", f"Error creating: {refusal.message}")
            raise
        name = prefix + random_suffix()
        while store.get(PODS, meta["namespace"], name) is not None:
            name = prefix + random_suffix()
        created = store.create(PODS, {**pod, "metadata": {**pod["metadata"], "name": name}})
        self._controller.tell(owner, "Normal", "SuccessfulCreate", f"Created pod: {name}")
        return created

    def delete(self, owner: Object, pod: Object) -> None:
        self._controller.store.delete(PODS, pod)
        self._controller.tell(owner, "Normal", "SuccessfulDelete", f"Deleted pod: {pod['metadata']['name']}")
