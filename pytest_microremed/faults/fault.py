"""The faults of the benchmark, as `fixtures/faults/*.yaml` describes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from pytest_microremed.cluster.kinds import CHAOS_KINDS, Obj
from pytest_microremed.data import fixtures_dir
from pytest_microremed.datafile import build, read_yaml
from pytest_microremed.errors import UsageError
from pytest_microremed.faults.mutation import VARIANTS, possible_variants
from pytest_microremed.systems.system import LOG_PATH, Workload

CheckName = Literal[
    "cpu-usage", "memory-usage", "disk-write", "packet-loss", "round-trip", "pod-health", "configuration"
]

_EXAMPLE = {
    "name": "exp-0123456789",
    "injector_namespace": "injector",
    "namespace": "system",
    "pod": "target-0",
    "container": "main",
    "disk_container": "main",
    "log_path": LOG_PATH,
    "memory_mib": "1024",
}
"""Stand-ins for what a resource template is given, to try it before there is a cluster."""


@dataclass(frozen=True)
class _FaultFile:
    """The keys of a fault's file."""

    title: str
    family: Literal["chaos", "configuration"]
    check: CheckName
    report: str
    resource: str | None = None
    variants: tuple[str, ...] = ()


@dataclass(frozen=True)
class Fault:
    """One kind of failure (MicroRemed, Table 1): how it is told, injected and checked."""

    name: str
    title: str
    """The failure type as the paper names it, told to the remediator."""
    family: Literal["chaos", "configuration"]
    check: CheckName
    """Which status check watches it."""
    report: str
    """Jinja2 text of the incident report; knows `target`, `namespace` and `log_path`, and never names the
    injector."""
    resource: str | None
    """Jinja2 template of the Chaos Mesh custom resource; None in the configuration family."""
    variants: tuple[str, ...]

    def report_for(self, workload: Workload, namespace: str) -> str:
        """What the remediator is told of this fault on this workload."""
        return _render(self.report, target=workload.name, namespace=namespace, log_path=LOG_PATH).strip()

    def render(self, values: dict[str, str]) -> Obj:
        """The custom resource to create. ValueError where the template, or what it renders to, is wrong."""
        rendered = yaml.safe_load(_render(self.resource or "", **values))
        if not isinstance(rendered, dict) or rendered.get("apiVersion") != CHAOS_KINDS[0].api_version:
            raise ValueError(f"does not render to an object of {CHAOS_KINDS[0].api_version}")
        known = [kind.kind for kind in CHAOS_KINDS]
        if rendered.get("kind") not in known:
            raise ValueError(f"kind {rendered.get('kind')!r} is none of {', '.join(known)}")
        metadata, spec = rendered.get("metadata"), rendered.get("spec")
        if not isinstance(metadata, dict) or not metadata.keys() >= {"name", "namespace"} or not isinstance(spec, dict):
            raise ValueError("lacks metadata.name, metadata.namespace or spec")
        if "duration" in spec:
            raise ValueError("has a duration: the fault would heal by waiting")
        return dict(rendered)

    def check_variant(self, workload: Workload, variant: str | None) -> None:
        """Raises UsageError, with what is possible, where the fault has no such variant on this workload."""
        if not self.variants:
            if variant is not None:
                raise UsageError(f"{self.name} has no variants, and {variant!r} was asked of it")
            return
        possible = [name for name in possible_variants(workload) if name in self.variants]
        if variant not in possible:
            asked = "without a variant" if variant is None else f"variant {variant!r}"
            raise UsageError(f"{self.name} on {workload.name}: {asked}; possible: {', '.join(possible)}")


def known_faults() -> list[str]:
    """The names that `load_fault` takes."""
    return sorted(path.stem for path in _folder().glob("*.yaml"))


@cache
def load_fault(name: str) -> Fault:
    """The fault of this name; UsageError if there is none, or its file is wrong."""
    path = _folder() / f"{name}.yaml"
    if name not in known_faults():
        raise UsageError(f"unknown fault {name!r}; known: {', '.join(known_faults())}")
    return read_fault(path)


def read_fault(path: Path) -> Fault:
    """The fault that a file describes; its templates are tried, so a mistake shows here and not in a run."""
    file = build(_FaultFile, read_yaml(path), path)
    fault = Fault(path.stem, file.title, file.family, file.check, file.report, file.resource, file.variants)
    if (fault.family == "chaos") != (fault.resource is not None):
        raise UsageError(f"{path}: resource: the family chaos has one, the family configuration has none")
    if (fault.family == "configuration") != bool(fault.variants):
        raise UsageError(f"{path}: variants: the family configuration has them, the family chaos has none")
    unknown = [variant for variant in fault.variants if variant not in VARIANTS]
    if unknown:
        raise UsageError(f"{path}: variants: unknown {unknown[0]!r}; known: {', '.join(VARIANTS)}")
    _try(path, "report", lambda: _render(fault.report, target="target", namespace="system", log_path=LOG_PATH))
    if fault.resource is not None:
        _try(path, "resource", lambda: fault.render(_EXAMPLE))
    return fault


def _try(path: Path, key: str, use: Callable[[], object]) -> None:
    from jinja2 import TemplateError

    try:
        use()
    except (TemplateError, yaml.YAMLError, ValueError) as error:
        reason = str(error).replace("\n", " ")
        raise UsageError(f"{path}: {key}: {reason}") from None


def _render(template: str, **values: str) -> str:
    from jinja2 import Environment, StrictUndefined

    # Renders YAML and plain text, never HTML.
    environment = Environment(undefined=StrictUndefined, autoescape=False)  # noqa: S701
    return environment.from_string(template).render(values)


def _folder() -> Path:
    return fixtures_dir() / "faults"
