"""PersistentVolumeClaims are bound to a volume, which goes or stays when they end."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.api.resources import (
    PERSISTENT_VOLUME_CLAIMS,
    PERSISTENT_VOLUMES,
    STORAGE_CLASSES,
)
from pytest_microremed.embedded.api.store import Object
from tests.embedded.control_plane import ControlPlane, control_plane

plane = pytest.fixture(control_plane)


def claim(**spec: Any) -> Object:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "shop"},
        "spec": {**wanted, **spec},
        "status": {"phase": "Pending"},
    }


def volume(name: str, storage: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": storage},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "manual",
            "persistentVolumeReclaimPolicy": "Retain",
        },
        "status": {"phase": "Available"},
    }


def storage_class(name: str, **fields: Any) -> Object:
    header = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name}}
    return {**header, "provisioner": "example.com/disk", "reclaimPolicy": "Retain", **fields}


def volumes(plane: ControlPlane) -> dict[str, str]:
    """Phases by name."""
    return {pv["metadata"]["name"]: pv["status"]["phase"] for pv in plane.store.list(PERSISTENT_VOLUMES)}


def test_a_claim_gets_a_volume_of_the_standard_class_that_ends_with_it(plane: ControlPlane) -> None:
    plane.create(PERSISTENT_VOLUME_CLAIMS, claim())
    bound = plane.get(PERSISTENT_VOLUME_CLAIMS, "data")
    name = bound["spec"]["volumeName"]
    assert bound["status"] == {
        "phase": "Bound",
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "5Gi"},
    }
    assert bound["spec"]["storageClassName"] == "standard"
    found = plane.store.get(PERSISTENT_VOLUMES, None, name)
    assert found
    assert found["spec"]["claimRef"]["uid"] == bound["metadata"]["uid"]
    plane.delete(PERSISTENT_VOLUME_CLAIMS, "data")
    assert volumes(plane) == {}


def test_a_claim_of_an_unknown_class_waits_for_it(plane: ControlPlane) -> None:
    plane.create(PERSISTENT_VOLUME_CLAIMS, claim(storageClassName="fast"))
    assert plane.get(PERSISTENT_VOLUME_CLAIMS, "data")["status"]["phase"] == "Pending"
    assert plane.messages("ProvisioningFailed") == ['storageclass.storage.k8s.io "fast" not found']
    plane.create(STORAGE_CLASSES, storage_class("fast"))
    assert plane.get(PERSISTENT_VOLUME_CLAIMS, "data")["status"]["phase"] == "Bound"
    plane.delete(PERSISTENT_VOLUME_CLAIMS, "data")
    assert list(volumes(plane).values()) == ["Released"]


def test_the_default_class_is_taken_if_the_claim_names_none(plane: ControlPlane) -> None:
    meta = {"name": "gold", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    plane.create(STORAGE_CLASSES, storage_class("gold", metadata=meta))
    plane.create(PERSISTENT_VOLUME_CLAIMS, claim())
    assert plane.get(PERSISTENT_VOLUME_CLAIMS, "data")["spec"]["storageClassName"] == "gold"


def test_the_smallest_volume_that_is_large_enough_is_taken(plane: ControlPlane) -> None:
    for name, storage in (("a-small", "1Gi"), ("b-large", "50Gi"), ("c-fitting", "8Gi")):
        plane.create(PERSISTENT_VOLUMES, volume(name, storage))
    plane.create(PERSISTENT_VOLUME_CLAIMS, claim(storageClassName="manual"))
    assert volumes(plane) == {"a-small": "Available", "b-large": "Available", "c-fitting": "Bound"}


def test_a_claim_without_a_class_waits_for_a_volume_without_one(plane: ControlPlane) -> None:
    plane.create(PERSISTENT_VOLUME_CLAIMS, claim(storageClassName=""))
    assert plane.get(PERSISTENT_VOLUME_CLAIMS, "data")["status"]["phase"] == "Pending"
    by_hand = volume("by-hand", "10Gi")
    by_hand["spec"]["storageClassName"] = ""
    plane.create(PERSISTENT_VOLUMES, by_hand)
    assert plane.get(PERSISTENT_VOLUME_CLAIMS, "data")["spec"]["volumeName"] == "by-hand"
