"""The environment of a container, as a kubelet resolves it: references, expansion and service links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pytest_microremed.embedded.api.quantity import parse_quantity
from pytest_microremed.embedded.api.resources import CONFIG_MAPS, SECRETS, SERVICES
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.addresses import KUBERNETES_IP, cluster_ips
from pytest_microremed.embedded.sim.config_data import decoded_data

_REFERENCE = re.compile(r"\$\$|\$\(([^)]*)\)")
_KEYED_FIELD = re.compile(r"metadata\.(labels|annotations)\['(.+)'\]")


class ConfigError(Exception):
    """A reference of the pod cannot be resolved (kubelet: CreateContainerConfigError)."""


def resolve(store: Store, pod: Object, container: Mapping[str, Any], pod_ip: str, host_ip: str) -> dict[str, str]:
    """What the pod's author set: env and envFrom. Raises ConfigError with the kubelet's words."""
    namespace = pod["metadata"]["namespace"]
    env: dict[str, str] = {}
    for source in container.get("envFrom") or ():
        env.update(_bulk(store, namespace, source))
    for entry in container.get("env") or ():
        if "valueFrom" in entry:
            value = _referenced(store, pod, container, entry["valueFrom"], pod_ip, host_ip)
        else:
            value = expand(entry.get("value") or "", env)
        if value is not None:
            env[entry["name"]] = value
    return env


def complete(store: Store, pod: Object, declared: Mapping[str, str]) -> dict[str, str]:
    """What the container's processes see: the declared variables, service links, the runtime's own."""
    env = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOSTNAME": pod["metadata"]["name"],
    }
    namespace = pod["metadata"]["namespace"]
    if pod["spec"].get("enableServiceLinks", True):
        env |= service_variables(store, namespace)
    return {**env, **declared}


def expand(text: str, env: Mapping[str, str]) -> str:
    """Replace $(NAME); unknown names stay, and $$ is a dollar sign."""

    def replacement(match: re.Match[str]) -> str:
        return "$" if match[0] == "$$" else env.get(match[1], match[0])

    return _REFERENCE.sub(replacement, text)


def service_variables(store: Store, namespace: str) -> dict[str, str]:
    """Docker-link style variables of the namespace's Services and of the API server."""
    env = _link("KUBERNETES", KUBERNETES_IP, [{"name": "https", "port": 443}])
    for service in store.list(SERVICES, namespace):
        for ip in cluster_ips(service):
            name = service["metadata"]["name"].upper().replace("-", "_")
            env.update(_link(name, ip, service["spec"].get("ports") or []))
    return env


def _link(name: str, ip: str, ports: list[dict[str, Any]]) -> dict[str, str]:
    if not ports:
        return {}
    first = ports[0]["port"]
    env = {
        f"{name}_SERVICE_HOST": ip,
        f"{name}_SERVICE_PORT": str(first),
        f"{name}_PORT": f"tcp://{ip}:{first}",
    }
    for entry in ports:
        port, protocol = entry["port"], entry.get("protocol", "TCP")
        if "name" in entry:
            env[f"{name}_SERVICE_PORT_{entry['name'].upper().replace('-', '_')}"] = str(port)
        prefix = f"{name}_PORT_{port}_{protocol}"
        env[prefix] = f"{protocol.lower()}://{ip}:{port}"
        env |= {f"{prefix}_PROTO": protocol.lower(), f"{prefix}_PORT": str(port), f"{prefix}_ADDR": ip}
    return env


def _bulk(store: Store, namespace: str, source: Mapping[str, Any]) -> dict[str, str]:
    prefix = source.get("prefix") or ""
    for key, kind, resource in (("configMapRef", "configmap", CONFIG_MAPS), ("secretRef", "secret", SECRETS)):
        if key not in source:
            continue
        obj = store.get(resource, namespace, source[key]["name"])
        if obj is None:
            if source[key].get("optional"):
                return {}
            raise ConfigError(f'{kind} "{source[key]["name"]}" not found')
        return {prefix + name: value.decode(errors="replace") for name, value in decoded_data(obj).items()}
    return {}


def _referenced(
    store: Store,
    pod: Object,
    container: Mapping[str, Any],
    source: Mapping[str, Any],
    pod_ip: str,
    host_ip: str,
) -> str | None:
    namespace = pod["metadata"]["namespace"]
    if ref := source.get("configMapKeyRef"):
        return _key(store.get(CONFIG_MAPS, namespace, ref["name"]), ref, "configmap", "ConfigMap", namespace)
    if ref := source.get("secretKeyRef"):
        return _key(store.get(SECRETS, namespace, ref["name"]), ref, "secret", "Secret", namespace)
    if ref := source.get("fieldRef"):
        return pod_field(pod, ref["fieldPath"], pod_ip, host_ip)
    if ref := source.get("resourceFieldRef"):
        return _resource(container, ref["resource"], ref.get("divisor") or "0")
    return None


def _key(obj: Object | None, ref: Mapping[str, Any], kind: str, title: str, namespace: str) -> str | None:
    if obj is None:
        if ref.get("optional"):
            return None
        raise ConfigError(f'{kind} "{ref["name"]}" not found')
    data = decoded_data(obj)
    if ref["key"] not in data:
        if ref.get("optional"):
            return None
        raise ConfigError(f"couldn't find key {ref['key']} in {title} {namespace}/{ref['name']}")
    return data[ref["key"]].decode(errors="replace")


def pod_field(pod: Object, path: str, pod_ip: str, host_ip: str) -> str:
    """A field of the pod as the downward API gives it; empty where it is not set."""
    meta, spec = pod["metadata"], pod["spec"]
    if match := _KEYED_FIELD.fullmatch(path):
        return str((meta.get(match[1]) or {}).get(match[2], ""))
    return str(
        {
            "metadata.name": meta["name"],
            "metadata.namespace": meta["namespace"],
            "metadata.uid": meta["uid"],
            "spec.nodeName": spec.get("nodeName", ""),
            "spec.serviceAccountName": spec.get("serviceAccountName", "default"),
            "status.hostIP": host_ip,
            "status.hostIPs": host_ip,
            "status.podIP": pod_ip,
            "status.podIPs": pod_ip,
        }.get(path, "")
    )


def _resource(container: Mapping[str, Any], name: str, divisor: str) -> str:
    kind, _, resource = name.partition(".")
    resources = container.get("resources") or {}
    amount = parse_quantity((resources.get(kind) or {}).get(resource, 0))
    unit = parse_quantity(divisor) or 1
    return str(-(-amount // unit))
