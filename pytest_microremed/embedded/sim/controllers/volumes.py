"""PersistentVolumeClaims get their volume: an available one that fits, or a fresh one of their storage class.

Source: Kubernetes documentation, "Persistent Volumes". Classes that wait for the first consumer do not here.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from pytest_microremed.embedded.api.quantity import parse_quantity
from pytest_microremed.embedded.api.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from pytest_microremed.embedded.api.store import Change, Object
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
from pytest_microremed.embedded.sim.controllers.status import write_status

DEFAULT_CLASS = "standard"
_IS_DEFAULT = "storageclass.kubernetes.io/is-default-class"


class VolumeController(Controller):
    component = "persistentvolume-controller"
    watches = (PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, STORAGE_CLASSES)

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is PERSISTENT_VOLUME_CLAIMS:
            return [key_of(change.obj)]
        unbound = (c for c in self.store.list(PERSISTENT_VOLUME_CLAIMS) if not _is_bound(c))
        return [key_of(claim) for claim in unbound]

    def reconcile(self, namespace: str, name: str) -> None:
        claim = self.store.get(PERSISTENT_VOLUME_CLAIMS, namespace, name)
        if claim is None:
            self._release((namespace, name))
            return
        if _is_bound(claim):
            return
        class_name = claim["spec"].get("storageClassName")
        if class_name is None:
            class_name = self._default_class()
            claim = self.store.update(
                PERSISTENT_VOLUME_CLAIMS, {**claim, "spec": {**claim["spec"], "storageClassName": class_name}}
            )
        volume = self._find(claim, class_name)
        if volume is None and class_name:
            volume = self._provision(claim, class_name)
        if volume is not None:
            self._bind(claim, volume)
        elif not class_name:
            message = "no persistent volumes available for this claim and no storage class is set"
            self.tell(claim, "Normal", "FailedBinding", message)

    def _default_class(self) -> str:
        for each in self.store.list(STORAGE_CLASSES):
            if (each["metadata"].get("annotations") or {}).get(_IS_DEFAULT) == "true":
                return str(each["metadata"]["name"])
        return DEFAULT_CLASS

    def _find(self, claim: Object, class_name: str) -> Object | None:
        """The smallest free volume that is large enough."""
        wanted = claim["spec"].get("volumeName")
        fitting = [
            volume
            for volume in self.store.list(PERSISTENT_VOLUMES)
            if volume.get("status", {}).get("phase", "Available") in ("Available", "Pending")
            and volume["spec"].get("storageClassName", "") == class_name
            and wanted in (None, volume["metadata"]["name"])
            and _reserved_for(volume) in (None, key_of(claim))
            and set(claim["spec"].get("accessModes") or ()) <= set(volume["spec"].get("accessModes") or ())
            and _capacity(volume) >= parse_quantity(claim["spec"]["resources"]["requests"]["storage"])
        ]
        return min(fitting, key=_capacity, default=None)

    def _provision(self, claim: Object, class_name: str) -> Object | None:
        storage_class = self.store.get(STORAGE_CLASSES, None, class_name)
        if storage_class is None and class_name != DEFAULT_CLASS:
            message = f'storageclass.storage.k8s.io "{class_name}" not found'
            self.tell(claim, "Warning", "ProvisioningFailed", message)
            return None
        known = storage_class or {}
        provisioner = known.get("provisioner", "embedded/hostpath")
        name = f"pvc-{claim['metadata']['uid']}"
        volume = {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": provisioner}},
            "spec": {
                "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
                "accessModes": claim["spec"]["accessModes"],
                "persistentVolumeReclaimPolicy": known.get("reclaimPolicy", "Delete"),
                "storageClassName": class_name,
                "volumeMode": claim["spec"].get("volumeMode", "Filesystem"),
                "hostPath": {"path": f"/var/lib/volumes/{name}", "type": ""},
            },
            "status": {"phase": "Pending"},
        }
        self.tell(claim, "Normal", "ProvisioningSucceeded", f"Successfully provisioned volume {name}")
        return self.store.create(PERSISTENT_VOLUMES, volume)

    def _bind(self, claim: Object, volume: Object) -> None:
        meta = claim["metadata"]
        reference = {
            "kind": "PersistentVolumeClaim",
            "apiVersion": "v1",
            "namespace": meta["namespace"],
            "name": meta["name"],
            "uid": meta["uid"],
        }
        self.store.update(
            PERSISTENT_VOLUMES,
            {**volume, "spec": {**volume["spec"], "claimRef": reference}, "status": {"phase": "Bound"}},
        )
        annotations = {**(meta.get("annotations") or {}), "pv.kubernetes.io/bind-completed": "yes"}
        self.store.update(
            PERSISTENT_VOLUME_CLAIMS,
            {
                **claim,
                "metadata": {**meta, "annotations": annotations},
                "spec": {**claim["spec"], "volumeName": volume["metadata"]["name"]},
                "status": {
                    "phase": "Bound",
                    "accessModes": volume["spec"]["accessModes"],
                    "capacity": volume["spec"]["capacity"],
                },
            },
        )

    def _release(self, claim: Key) -> None:
        """The claim has gone: its volume goes with it, or waits for an administrator, as its policy says."""
        for volume in self.store.list(PERSISTENT_VOLUMES):
            if _reserved_for(volume) != claim or not _is_bound(volume):
                continue
            if volume["spec"].get("persistentVolumeReclaimPolicy") == "Delete":
                self.store.delete(PERSISTENT_VOLUMES, volume)
            else:
                write_status(self.store, PERSISTENT_VOLUMES, volume, {"phase": "Released"})


def _is_bound(claim_or_volume: Object) -> bool:
    return bool(claim_or_volume.get("status", {}).get("phase") == "Bound")


def _reserved_for(volume: Object) -> Key | None:
    reference = volume["spec"].get("claimRef")
    return (reference["namespace"], reference["name"]) if reference else None


def _capacity(volume: Object) -> Decimal:
    return parse_quantity(volume["spec"]["capacity"]["storage"])
