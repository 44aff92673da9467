"""The volumes of a pod: empty ones, ConfigMaps and Secrets as files, and the persistent ones of the node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_microremed.embedded.api.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, SECRETS, Resource
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.config_data import decoded_data
from pytest_microremed.embedded.sim.environment import pod_field
from pytest_microremed.embedded.sim.model import Mount, Volume

_SOURCES: Mapping[str, tuple[Resource, str, str]] = {
    "configMap": (CONFIG_MAPS, "configmap", "name"),
    "secret": (SECRETS, "secret", "secretName"),
}


class MountError(Exception):
    """A volume cannot be set up (kubelet: FailedMount); the message is the kubelet's."""


class Volumes:
    """Makes the volumes of pods; remembers persistent ones by claim and the node's directories by path."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._kept: dict[str, Volume] = {}

    def make(self, pod: Object, entry: Mapping[str, Any], pod_ip: str, host_ip: str) -> Volume:
        """One entry of spec.volumes. Raises MountError."""
        name, namespace = entry["name"], pod["metadata"]["namespace"]
        if claim := entry.get("persistentVolumeClaim"):
            return self._claimed(namespace, claim["claimName"], name)
        if "ephemeral" in entry:
            return self._claimed(namespace, f"{pod['metadata']['name']}-{name}", name)
        if host_path := entry.get("hostPath"):
            return self._kept.setdefault(f"host:{host_path['path']}", Volume(name))
        if "emptyDir" in entry:
            return Volume(name, in_memory=(entry["emptyDir"] or {}).get("medium") == "Memory")
        return Volume(name, self._files(pod, entry, pod_ip, host_ip))

    def _claimed(self, namespace: str, claim: str, name: str) -> Volume:
        if self._store.get(PERSISTENT_VOLUME_CLAIMS, namespace, claim) is None:
            raise MountError(f'persistentvolumeclaim "{claim}" not found')
        return self._kept.setdefault(f"claim:{namespace}/{claim}", Volume(name))

    def _files(self, pod: Object, entry: Mapping[str, Any], pod_ip: str, host_ip: str) -> dict[str, bytes]:
        if projected := entry.get("projected"):
            files: dict[str, bytes] = {}
            for source in projected.get("sources") or ():
                kind = next(iter(source), "")
                renamed = {kind: {**source[kind], "secretName": source[kind].get("name")}} if source else {}
                files |= self._files(pod, {"name": entry["name"], **renamed}, pod_ip, host_ip)
            return files
        if "serviceAccountToken" in entry:
            return {entry["serviceAccountToken"]["path"]: b"simulated-service-account-token"}
        if downward := entry.get("downwardAPI"):
            return {
                item["path"]: pod_field(pod, item["fieldRef"]["fieldPath"], pod_ip, host_ip).encode()
                for item in downward.get("items") or ()
                if "fieldRef" in item
            }
        for kind, (resource, title, key) in _SOURCES.items():
            if kind in entry:
                return self._data(pod, entry["name"], entry[kind], resource, title, key)
        return {}

    def _data(
        self, pod: Object, volume: str, source: Mapping[str, Any], resource: Resource, title: str, key: str
    ) -> dict[str, bytes]:
        obj = self._store.get(resource, pod["metadata"]["namespace"], source[key])
        if obj is None:
            if source.get("optional"):
                return {}
            raise MountError(f'MountVolume.SetUp failed for volume "{volume}" : {title} "{source[key]}" not found')
        data = decoded_data(obj)
        items = source.get("items")
        if not items:
            return data
        missing = [item["key"] for item in items if item["key"] not in data]
        if missing and not source.get("optional"):
            raise MountError(
                f'MountVolume.SetUp failed for volume "{volume}" : {title} references non-existent config '
                f"key: {missing[0]}"
            )
        return {item["path"]: data[item["key"]] for item in items if item["key"] in data}


def mounts(container: Mapping[str, Any], volumes: Mapping[str, Volume]) -> tuple[Mount, ...]:
    """Where a container sees its pod's volumes."""
    return tuple(
        Mount(
            entry["mountPath"],
            volumes[entry["name"]],
            entry.get("subPath") or "",
            bool(entry.get("readOnly")),
        )
        for entry in container.get("volumeMounts") or ()
        if entry["name"] in volumes
    )
