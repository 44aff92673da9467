"""What a container's environment variable is, wherever the pod's spec takes it from."""

from __future__ import annotations

import base64

from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import CONFIG_MAPS, SECRETS, Kind, Obj


def effective_value(cluster: Cluster, namespace: str, container: Obj, variable: str) -> str | None:
    """The value that the kubelet gives the container, or None if it sets none. Raises ClusterError.

    Kubernetes: an entry of `env` wins over `envFrom`, and of two sources of `envFrom` the last.
    """
    for entry in reversed(container.get("env") or []):
        if entry["name"] == variable:
            return _value_of(cluster, namespace, entry)
    for source in reversed(container.get("envFrom") or []):
        prefix = source.get("prefix", "")
        if not variable.startswith(prefix):
            continue
        for key, kind in (("configMapRef", CONFIG_MAPS), ("secretRef", SECRETS)):
            if key in source:
                value = _data(cluster, namespace, kind, source[key]["name"]).get(variable.removeprefix(prefix))
                if value is not None:
                    return value
    return None


def _value_of(cluster: Cluster, namespace: str, entry: Obj) -> str | None:
    reference = entry.get("valueFrom") or {}
    for key, kind in (("configMapKeyRef", CONFIG_MAPS), ("secretKeyRef", SECRETS)):
        if key in reference:
            return _data(cluster, namespace, kind, reference[key]["name"]).get(reference[key]["key"])
    value: str | None = entry.get("value")
    return value


def _data(cluster: Cluster, namespace: str, kind: Kind, name: str) -> dict[str, str]:
    found = cluster.get(kind, namespace, name) or {}
    data: dict[str, str] = found.get("data") or {}
    if kind is SECRETS:
        return {key: base64.b64decode(text).decode(errors="replace") for key, text in data.items()}
    return data
