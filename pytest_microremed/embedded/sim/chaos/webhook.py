"""What Chaos Mesh's admission webhooks refuse: the API server asks before it stores an experiment."""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.chaos.durations import duration_seconds, size_bytes
from pytest_microremed.embedded.sim.chaos.resources import GROUP


def admit(resource: Resource, new: Object, old: Object | None) -> str | None:
    """Why an experiment is refused, in the words that a client sees; None if it is not.

    The spec of one that exists cannot be changed.
    """
    if resource.group != GROUP:
        return None
    if old is not None:
        return _denied(new, "Cannot update chaos spec") if old.get("spec") != new.get("spec") else None
    problems = _problems(resource.kind, new.get("spec") or {})
    return _denied(new, ", ".join(problems)) if problems else None


def _denied(obj: Object, why: str) -> str:
    return f'admission webhook "v{str(obj["kind"]).lower()}.kb.io" denied the request: {why}'


def _problems(kind: str, spec: dict[str, Any]) -> list[str]:
    problems = []
    duration = spec.get("duration")
    if duration is not None:
        problems += _bad_duration("spec.duration", duration)
    if kind == "StressChaos":
        problems += _stress(spec)
    elif kind == "NetworkChaos":
        problems += _network(spec)
    elif kind == "IOChaos":
        if spec.get("action") == "fault" and not spec.get("errno"):
            problems.append(
                f"spec.errno: Invalid value: {spec.get('errno', 0)}: action fault: errno 0 is not supported"
            )
        if spec.get("delay"):
            problems += _bad_duration("spec.delay", spec["delay"])
    elif kind == "PodChaos" and spec.get("action") == "container-kill" and not spec.get("containerNames"):
        problems.append(
            "spec.containerNames: Invalid value: null: the name of container is required on container-kill "
            "action: invalid value"
        )
    return problems


def _bad_duration(path: str, text: str) -> list[str]:
    try:
        duration_seconds(text)
    except ValueError as error:
        return [f'{path}: Invalid value: "{text}": parse duration field error: {error}']
    return []


def _stress(spec: dict[str, Any]) -> list[str]:
    stressors = spec.get("stressors")
    if not spec.get("stressngStressors") and not stressors:
        return ['spec: Invalid value: "": missing stressors']
    cpu, memory = ((stressors or {}).get(name) for name in ("cpu", "memory"))
    if stressors and not cpu and not memory:
        return ['spec.stressors: Invalid value: "": missing stressors']
    problems = [
        f"spec.stressors.{name}: Invalid value: workers should always be positive"
        for name, stressor in (("cpu", cpu), ("memory", memory))
        if stressor and stressor.get("workers", 0) <= 0
    ]
    size = (memory or {}).get("size")
    if size:
        try:
            size_bytes(size, 0)
        except ValueError as error:
            problems.append(f'spec.stressors.memory.size: Invalid value: "{size}": incorrect bytes format: {error}')
    return problems


def _network(spec: dict[str, Any]) -> list[str]:
    direction = spec.get("direction", "to")
    if spec.get("action") == "partition" or direction == "to":
        return []
    where = f'spec.direction: Invalid value: "{direction}": '
    if spec.get("externalTargets") is not None:
        return [where + "external targets cannot be used with `from` and `both` direction in netem action yet"]
    if spec.get("target") is None:
        return [where + "`from` and `both` direction cannot be used when targets is empty in netem action"]
    return []
