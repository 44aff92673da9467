"""Defaults of pods and pod templates."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.store import Object

_FILE_MODE = 0o644
_TOKEN_LIFETIME_S = 3600
_CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_PROBE = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_VOLUMES_WITH_MODE = ("secret", "configMap", "downwardAPI", "projected")


def default_pod(obj: Object) -> Object:
    """Defaults of a pod. Unlike templates, pods get service links, and requests from their limits."""
    spec = {"enableServiceLinks": True, **default_pod_spec(obj.get("spec") or {})}
    for field in ("containers", "initContainers"):
        if field in spec:
            spec[field] = [_with_requests(container) for container in spec[field]]
    if "resources" in spec:
        spec = _with_requests(spec)
    return {**obj, "spec": spec}


def default_template(template: Object) -> Object:
    """Defaults of the `template` of a workload."""
    return {"metadata": {}, **template, "spec": default_pod_spec(template.get("spec") or {})}


def default_pod_spec(spec: Object) -> Object:
    """What the two have in common."""
    spec = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        **_with_account_alias(spec),
    }
    host_network = bool(spec.get("hostNetwork"))
    for field in _CONTAINER_LISTS:
        if field in spec:
            spec[field] = [_container(container, host_network) for container in spec[field]]
    if "volumes" in spec:
        spec["volumes"] = [_volume(volume) for volume in spec["volumes"]]
    return spec


def _with_account_alias(spec: Object) -> Object:
    """`serviceAccount` is the old name of `serviceAccountName`: both are shown, and the new one wins."""
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    return {**spec, "serviceAccountName": account, "serviceAccount": account} if account else spec


def _with_requests(holder: Object) -> Object:
    resources = holder.get("resources") or {}
    limits = resources.get("limits")
    if not limits:
        return holder
    requests = {**limits, **(resources.get("requests") or {})}
    return {**holder, "resources": {**resources, "requests": requests}}


def _container(container: Object, host_network: bool) -> Object:
    container = {
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": _pull_policy(container.get("image", "")),
        **container,
    }
    if "ports" in container:
        container["ports"] = [_port(port, host_network) for port in container["ports"]]
    if "env" in container:
        container["env"] = [_variable(variable) for variable in container["env"]]
    for name in _PROBES:
        if name in container:
            container[name] = {**_PROBE, **_handler(container[name])}
    if "lifecycle" in container:
        lifecycle = container["lifecycle"]
        container["lifecycle"] = {
            hook: _handler(action) if isinstance(action, dict) else action for hook, action in lifecycle.items()
        }
    return container


def _pull_policy(image: str) -> str:
    """Always for `latest`, which is also what an image without tag means; a digest is never pulled again."""
    name, _, digest = image.partition("@")
    tag = name.rpartition("/")[2].partition(":")[2]
    return "Always" if (tag or "latest") == "latest" and not digest else "IfNotPresent"


def _port(port: Object, host_network: bool) -> Object:
    port = {"protocol": "TCP", **port}
    if host_network and not port.get("hostPort"):
        port["hostPort"] = port.get("containerPort")
    return port


def _variable(variable: Object) -> Object:
    source = variable.get("valueFrom")
    return {**variable, "valueFrom": _references(source)} if source else variable


def _references(source: Object) -> Object:
    """The two references that pods make to their own fields, in variables and downward API files."""
    source = dict(source)
    if "fieldRef" in source:
        source["fieldRef"] = {"apiVersion": "v1", **source["fieldRef"]}
    if "resourceFieldRef" in source:
        source["resourceFieldRef"] = {"divisor": "0", **source["resourceFieldRef"]}
    return source


def _handler(handler: Object) -> Object:
    handler = dict(handler)
    if "httpGet" in handler:
        handler["httpGet"] = {"path": "/", "scheme": "HTTP", **handler["httpGet"]}
    if "grpc" in handler:
        handler["grpc"] = {"service": "", **handler["grpc"]}
    return handler


def _volume(volume: Object) -> Object:
    if not any(isinstance(source, dict) for source in volume.values()):
        return {**volume, "emptyDir": {}}
    volume = dict(volume)
    for kind in _VOLUMES_WITH_MODE:
        if kind in volume:
            volume[kind] = {"defaultMode": _FILE_MODE, **volume[kind]}
    if "hostPath" in volume:
        volume["hostPath"] = {"type": "", **volume["hostPath"]}
    if "downwardAPI" in volume:
        volume["downwardAPI"] = _downward_files(volume["downwardAPI"])
    if "projected" in volume:
        sources = [_projection(source) for source in volume["projected"].get("sources") or ()]
        volume["projected"] = {**volume["projected"], "sources": sources}
    if "ephemeral" in volume:
        template: dict[str, Any] = volume["ephemeral"].get("volumeClaimTemplate") or {}
        spec = {"volumeMode": "Filesystem", **(template.get("spec") or {})}
        volume["ephemeral"] = {**volume["ephemeral"], "volumeClaimTemplate": {**template, "spec": spec}}
    return volume


def _downward_files(source: Object) -> Object:
    return {**source, "items": [_references(item) for item in source["items"]]} if "items" in source else source


def _projection(source: Object) -> Object:
    source = dict(source)
    if "serviceAccountToken" in source:
        source["serviceAccountToken"] = {
            "expirationSeconds": _TOKEN_LIFETIME_S,
            **source["serviceAccountToken"],
        }
    if "downwardAPI" in source:
        source["downwardAPI"] = _downward_files(source["downwardAPI"])
    return source
