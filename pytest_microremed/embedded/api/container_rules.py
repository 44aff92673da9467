"""Rules of containers (Kubernetes: `pkg/apis/core/validation`)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    duplicate,
    forbidden_value,
    invalid_value,
    not_found_value,
    not_supported,
    one_of,
    required,
)
from pytest_microremed.embedded.api.name_rules import (
    config_key,
    dns_label,
    environment_name,
    port_name,
    port_number,
)
from pytest_microremed.embedded.api.probe_rules import lifecycle_causes, probe_causes
from pytest_microremed.embedded.api.resource_rules import resource_causes
from pytest_microremed.embedded.api.store import Object

_PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("FallbackToLogsOnError", "File")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
_FIELDS = (
    "metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName", "spec.serviceAccountName",
    "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs",
)  # fmt: skip
_SUBSCRIPTS = ("metadata.annotations['", "metadata.labels['")


def containers_causes(containers: Sequence[Object], volumes: Collection[str], path: str) -> Causes:
    """The containers of a pod; there must be one."""
    if not containers:
        yield required(path)
    names = set()
    for index, container in enumerate(containers):
        here = f"{path}[{index}]"
        yield from _container_causes(container, volumes, here)
        name = container.get("name", "")
        if name in names:
            yield duplicate(f"{here}.name", name)
        names.add(name)
        yield from _running_causes(container, here)
    yield from _host_port_causes(containers, path)


def init_containers_causes(
    containers: Sequence[Object], regular: Sequence[Object], volumes: Collection[str], path: str
) -> Causes:
    """Init containers: they end before the others start, unless they restart always (sidecars)."""
    names = {container.get("name") for container in regular}
    for index, container in enumerate(containers):
        here = f"{path}[{index}]"
        yield from _container_causes(container, volumes, here)
        name = container.get("name", "")
        if name and name in names:
            yield duplicate(f"{here}.name", name)
        names.add(name)
        if container.get("restartPolicy") == "Always":
            yield from _running_causes(container, here)
            continue
        for field in ("lifecycle", *_PROBES):
            if field in container:
                detail = "may not be set for init containers without restartPolicy=Always"
                yield forbidden_value(f"{here}.{field}", detail)


def _running_causes(container: Object, path: str) -> Causes:
    """What only containers that keep running may have."""
    if "lifecycle" in container:
        yield from lifecycle_causes(container["lifecycle"], f"{path}.lifecycle")
    for name in _PROBES:
        if name in container:
            yield from probe_causes(container[name], name, f"{path}.{name}")


def _container_causes(container: Object, volumes: Collection[str], path: str) -> Causes:
    name = container.get("name", "")
    if name:
        yield from all_invalid(f"{path}.name", name, dns_label(name))
    else:
        yield required(f"{path}.name")
    image = container.get("image", "")
    if not image:
        yield required(f"{path}.image")
    elif image != image.strip():
        yield invalid_value(f"{path}.image", image, "must not have leading or trailing whitespace")
    policy = container.get("terminationMessagePolicy")
    yield from one_of(f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES)
    yield from _port_causes(container.get("ports") or (), f"{path}.ports")
    yield from _variable_causes(container.get("env") or (), f"{path}.env")
    yield from _variable_source_causes(container.get("envFrom") or (), f"{path}.envFrom")
    yield from _mount_causes(container.get("volumeMounts") or (), volumes, f"{path}.volumeMounts")
    yield from one_of(f"{path}.imagePullPolicy", container.get("imagePullPolicy"), _PULL_POLICIES)
    yield from resource_causes(container.get("resources") or {}, f"{path}.resources")


def _port_causes(ports: Sequence[Object], path: str) -> Causes:
    names = set()
    for index, port in enumerate(ports):
        here = f"{path}[{index}]"
        if name := port.get("name"):
            errors = port_name(name)
            yield from all_invalid(f"{here}.name", name, errors)
            if not errors and name in names:
                yield duplicate(f"{here}.name", name)
            names.add(name)
        if not port.get("containerPort"):
            yield required(f"{here}.containerPort")
        else:
            number = port["containerPort"]
            yield from all_invalid(f"{here}.containerPort", number, port_number(number))
        if host_port := port.get("hostPort"):
            yield from all_invalid(f"{here}.hostPort", host_port, port_number(host_port))
        yield from one_of(f"{here}.protocol", port.get("protocol"), _PROTOCOLS)


def _host_port_causes(containers: Sequence[Object], path: str) -> Causes:
    taken = set()
    for index, container in enumerate(containers):
        for position, port in enumerate(container.get("ports") or ()):
            if not port.get("hostPort"):
                continue
            shown = f"{port.get('protocol')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if shown in taken:
                yield duplicate(f"{path}[{index}].ports[{position}].hostPort", shown)
            taken.add(shown)


def _variable_causes(variables: Sequence[Object], path: str) -> Causes:
    for index, variable in enumerate(variables):
        here = f"{path}[{index}]"
        if name := variable.get("name"):
            yield from all_invalid(f"{here}.name", name, environment_name(name))
        else:
            yield required(f"{here}.name")
        if "valueFrom" in variable:
            yield from _value_source_causes(variable, f"{here}.valueFrom")


def _value_source_causes(variable: Object, path: str) -> Causes:
    source = variable["valueFrom"]
    given = [name for name in _SOURCES if name in source]
    for name in given:
        yield from _REFERENCES[name](source[name], f"{path}.{name}")
    if not given:
        listed = "`fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`"
        yield invalid_value(path, "", f"must specify one of: {listed}")
    elif variable.get("value"):
        yield invalid_value(path, "", "may not be specified when `value` is not empty")
    elif len(given) > 1:
        yield invalid_value(path, "", "may not have more than one field specified at a time")


def _key_causes(reference: Object, path: str) -> Causes:
    if not reference.get("name"):
        yield required(f"{path}.name")
    if key := reference.get("key"):
        yield from all_invalid(f"{path}.key", key, config_key(key))
    else:
        yield required(f"{path}.key")


def _field_causes(reference: Object, path: str) -> Causes:
    field = reference.get("fieldPath", "")
    if not field:
        yield required(f"{path}.fieldPath")
    elif field not in _FIELDS and not field.startswith(_SUBSCRIPTS):
        if field in ("metadata.annotations", "metadata.labels"):
            yield not_supported(f"{path}.fieldPath", field, _FIELDS)
        else:
            detail = f"error converting fieldPath: field label not supported: {field}"
            yield invalid_value(f"{path}.fieldPath", field, detail)


def _resource_field_causes(reference: Object, path: str) -> Causes:
    if not reference.get("resource"):
        yield required(f"{path}.resource")


_REFERENCES: dict[str, Any] = {
    "fieldRef": _field_causes,
    "resourceFieldRef": _resource_field_causes,
    "configMapKeyRef": _key_causes,
    "secretKeyRef": _key_causes,
}


def _variable_source_causes(sources: Sequence[Object], path: str) -> Causes:
    for index, source in enumerate(sources):
        given = [name for name in ("configMapRef", "secretRef") if name in source]
        for name in given:
            if not source[name].get("name"):
                yield required(f"{path}[{index}].{name}.name")
        if not given:
            yield invalid_value(path, "", "must specify one of: `configMapRef` or `secretRef`")
        elif len(given) > 1:
            yield invalid_value(path, "", "may not have more than one field specified at a time")


def _mount_causes(mounts: Sequence[Object], volumes: Collection[str], path: str) -> Causes:
    points = set()
    for index, mount in enumerate(mounts):
        here = f"{path}[{index}]"
        name, point = mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{here}.name")
        if name not in volumes:
            yield not_found_value(f"{here}.name", name)
        if not point:
            yield required(f"{here}.mountPath")
        if point in points:
            yield invalid_value(f"{here}.mountPath", point, "must be unique")
        points.add(point)
        yield from _sub_path_causes(mount, here)


def _sub_path_causes(mount: Object, path: str) -> Causes:
    sub_path = mount.get("subPath", "")
    if sub_path.startswith("/"):
        yield invalid_value(f"{path}.subPath", sub_path, "must be a relative path")
    if ".." in sub_path.split("/"):
        yield invalid_value(f"{path}.subPath", sub_path, "must not contain '..'")
    if sub_path and mount.get("subPathExpr"):
        detail = "subPathExpr and subPath are mutually exclusive"
        yield invalid_value(f"{path}.subPathExpr", mount["subPathExpr"], detail)
