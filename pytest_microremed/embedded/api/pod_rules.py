"""Rules of pods, of pod templates, and of what may change in a pod that is there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytest_microremed.embedded.api.causes import (
    Causes,
    all_invalid,
    forbidden_value,
    invalid_value,
    not_negative,
    not_supported,
    one_of,
    required,
)
from pytest_microremed.embedded.api.container_rules import containers_causes, init_containers_causes
from pytest_microremed.embedded.api.go_format import format_json
from pytest_microremed.embedded.api.metadata_rules import label_causes
from pytest_microremed.embedded.api.name_rules import (
    dns_label,
    dns_subdomain,
    in_range,
    label_key,
    label_value,
)
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.volume_rules import volume_causes, volume_names

_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_DNS_POLICIES = ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None")
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_HIGHEST_INT = 2**31 - 1
_UPDATABLE = (
    "`spec.containers[*].image`",
    "`spec.initContainers[*].image`",
    "`spec.activeDeadlineSeconds`",
    "`spec.tolerations` (only additions to existing tolerations)",
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
)


def pod_causes(pod: Object) -> Causes:
    yield from pod_spec_causes(pod.get("spec") or {}, "spec")


def template_causes(template: Object, path: str) -> Causes:
    meta = template.get("metadata") or {}
    yield from label_causes(meta.get("labels"), f"{path}.labels")
    spec = template.get("spec") or {}
    yield from pod_spec_causes(spec, f"{path}.spec")
    if spec.get("ephemeralContainers"):
        detail = "ephemeral containers not allowed in pod template"
        yield forbidden_value(f"{path}.spec.ephemeralContainers", detail)


def pod_spec_causes(spec: Object, path: str) -> Causes:
    volumes = spec.get("volumes") or ()
    names = volume_names(volumes, path)
    yield from volume_causes(volumes, f"{path}.volumes")
    containers = spec.get("containers") or ()
    yield from containers_causes(containers, names, f"{path}.containers")
    inits = spec.get("initContainers") or ()
    yield from init_containers_causes(inits, containers, names, f"{path}.initContainers")
    yield from one_of(f"{path}.restartPolicy", spec.get("restartPolicy"), _RESTART_POLICIES)
    yield from one_of(f"{path}.dnsPolicy", spec.get("dnsPolicy"), _DNS_POLICIES)
    yield from label_causes(spec.get("nodeSelector"), f"{path}.nodeSelector")
    yield from _pull_secret_causes(spec.get("imagePullSecrets") or (), f"{path}.imagePullSecrets")
    for field in ("serviceAccountName", "nodeName", "priorityClassName"):
        if name := spec.get(field):
            yield from all_invalid(f"{path}.{field}", name, dns_subdomain(name))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None:
        errors = in_range(deadline, 1, _HIGHEST_INT)
        yield from all_invalid(f"{path}.activeDeadlineSeconds", deadline, errors)
    for field in ("hostname", "subdomain"):
        if name := spec.get(field):
            yield from all_invalid(f"{path}.{field}", name, dns_label(name))
    yield from toleration_causes(spec.get("tolerations") or (), f"{path}.tolerations")
    grace = spec.get("terminationGracePeriodSeconds")
    yield from not_negative(f"{path}.terminationGracePeriodSeconds", grace)


def toleration_causes(tolerations: Sequence[Object], path: str) -> Causes:
    for index, toleration in enumerate(tolerations):
        here = f"{path}[{index}]"
        key, operator = toleration.get("key", ""), toleration.get("operator", "")
        value, effect = toleration.get("value", ""), toleration.get("effect", "")
        if key:
            yield from all_invalid(f"{here}.key", key, label_key(key))
        elif operator != "Exists":
            detail = 'operator must be Exists when `key` is empty, which means "match all values and all keys"'
            yield invalid_value(f"{here}.operator", operator, detail)
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            detail = "effect must be 'NoExecute' when `tolerationSeconds` is set"
            yield invalid_value(f"{here}.effect", effect, detail)
        if operator in ("Equal", ""):
            errors = label_value(value)
            yield from all_invalid(f"{here}.operator", value, [";".join(errors)] if errors else [])
        elif operator == "Exists":
            if value:
                detail = "value must be empty when `operator` is 'Exists'"
                yield invalid_value(f"{here}.operator", toleration, detail)
        else:
            yield not_supported(f"{here}.operator", operator, ("Equal", "Exists"))
        if effect and effect not in _EFFECTS:
            yield not_supported(f"{here}.effect", effect, _EFFECTS)


def pod_update_causes(new: Object, old: Object) -> Causes:
    """Of a pod's spec hardly anything may change; containers may not come or go."""
    new_spec, old_spec = new.get("spec") or {}, old.get("spec") or {}
    for field in ("containers", "initContainers"):
        if len(new_spec.get(field) or ()) != len(old_spec.get(field) or ()):
            yield forbidden_value(f"spec.{field}", "pod updates may not add or remove containers")
            return
    yield from _image_update_causes(new_spec.get("containers") or ())
    old_tolerations = old_spec.get("tolerations") or []
    new_tolerations = new_spec.get("tolerations") or []
    if any(toleration not in new_tolerations for toleration in old_tolerations):
        detail = "existing toleration can not be modified except its tolerationSeconds"
        yield forbidden_value("spec.tolerations", detail)
    allowed = _with_what_may_change(new_spec, old_spec)
    if allowed != old_spec:
        detail = f"pod updates may not change fields other than {','.join(_UPDATABLE)}\n"
        yield forbidden_value("spec", detail + "\n".join(differences(old_spec, allowed, "")))


def _image_update_causes(containers: Sequence[Object]) -> Causes:
    for index, container in enumerate(containers):
        if not container.get("image"):
            yield required(f"spec.containers[{index}].image")


def _with_what_may_change(new_spec: Object, old_spec: Object) -> Object:
    """The new spec with everything that may change set back: what still differs must not."""
    spec = dict(new_spec)
    for field in ("activeDeadlineSeconds", "tolerations", "schedulingGates"):
        spec.pop(field, None)
        if field in old_spec:
            spec[field] = old_spec[field]
    for field in ("containers", "initContainers"):
        if field in new_spec:
            pairs = zip(new_spec[field], old_spec.get(field) or (), strict=False)
            spec[field] = [{**container, "image": before.get("image")} for container, before in pairs]
    return spec


def differences(old: Any, new: Any, path: str) -> list[str]:
    """What changed, by path: shorter than the Go diff that a real server prints, and with the same facts."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
        return [line for key in keys for line in differences(old.get(key), new.get(key), f"{path}.{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return [line for index, (a, b) in pairs if a != b for line in differences(a, b, f"{path}[{index}]")]
    return [f"-\tspec{path}: {format_json(old)}", f"+\tspec{path}: {format_json(new)}"]


def _pull_secret_causes(secrets: Sequence[Object], path: str) -> Causes:
    for index, secret in enumerate(secrets):
        if not secret.get("name"):
            yield required(f"{path}[{index}]", "must not be empty")
