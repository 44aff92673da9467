"""What a configuration fault changes in a workload's pod template; a fixed rule, so that a case is always
the same."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Literal

from pytest_microremed.cluster.kinds import Obj
from pytest_microremed.errors import UsageError
from pytest_microremed.systems.system import Dependency, Workload

Variant = Literal["resource-limits", "environment-variable", "dependency-address"]
VARIANTS: tuple[Variant, ...] = ("resource-limits", "environment-variable", "dependency-address")

STARVED: Obj = {
    "requests": {"cpu": "1m", "memory": "100Mi"},
    "limits": {"cpu": "2m", "memory": "200Mi"},
}
"""The resources of the public MicroRemed code (papers.md 3.1): no program comes up with them."""


@dataclass(frozen=True)
class Mutation:
    """One change of the main container in a pod template."""

    variant: Variant
    container: str
    variable: str | None = None
    """The environment variable that is set; None where resources are."""
    value: str | None = None
    dependency: Dependency | None = None
    """What the variable is the address of."""

    def apply(self, template: Obj) -> Obj:
        """A copy of the pod template with the change in it. ValueError if it has no such container."""
        changed = copy.deepcopy(template)
        container = self._container(changed)
        if self.variable is None:
            container["resources"] = copy.deepcopy(STARVED)
            return changed
        # An entry of `env` wins over one of the same name from `envFrom`, so this also overrides ConfigMaps.
        entries = [entry for entry in container.get("env") or [] if entry["name"] != self.variable]
        place = next((n for n, e in enumerate(container.get("env") or []) if e["name"] == self.variable), len(entries))
        entries.insert(place, {"name": self.variable, "value": self.value})
        container["env"] = entries
        return changed

    def is_in(self, template: Obj) -> bool:
        """Whether the template has the change, as it was made."""
        try:
            container = self._container(template)
        except ValueError:
            return False
        if self.variable is None:
            return bool(container.get("resources", {}).get("limits") == STARVED["limits"])
        return any(e["name"] == self.variable and e.get("value") == self.value for e in container.get("env") or [])

    def _container(self, template: Obj) -> Obj:
        for container in template["spec"]["containers"]:
            if container["name"] == self.container:
                found: Obj = container
                return found
        raise ValueError(f"the template has no container {self.container}")


def possible_variants(workload: Workload) -> list[str]:
    """The variants that make sense on this workload; resource limits do on every one."""
    possible = ["resource-limits"]
    if _variable(workload) is not None:
        possible.append("environment-variable")
    if workload.dependencies:
        possible.append("dependency-address")
    return possible


def mutation_for(workload: Workload, variant: str) -> Mutation:
    """The change that this variant makes on this workload. UsageError where it cannot have it."""
    if variant not in possible_variants(workload):
        raise UsageError(f"{workload.name}: no variant {variant!r}; possible: {', '.join(possible_variants(workload))}")
    if variant == "dependency-address":
        dependency = workload.dependencies[0]
        wrong = f"{dependency.service}-legacy"
        value = wrong if dependency.host_only else f"{wrong}:{dependency.port}"
        return Mutation("dependency-address", workload.container, dependency.variable, value, dependency)
    if variant == "environment-variable":
        chosen = _variable(workload)
        assert chosen is not None  # it is possible
        return Mutation("environment-variable", workload.container, chosen[0], _wrong(chosen[1]))
    return Mutation("resource-limits", workload.container)


def _variable(workload: Workload) -> tuple[str, str] | None:
    """The variable whose wrong value hurts most, with its right value; None if there is none but mere
    switches.

    In this order: the port that the program listens on; the port of a dependency (`X_PORT` beside
    `X_HOST`); any other.
    """
    own = workload.environment
    listening = [(name, value) for name, value in own.items() if value == str(workload.port)]
    ports = [
        (d.variable.removesuffix("_HOST") + "_PORT", str(d.port))
        for d in workload.dependencies
        if d.host_only and d.variable.endswith("_HOST")
    ]
    others = [(name, value) for name, value in own.items() if not name.startswith(("DISABLE_", "ENABLE_"))]
    return next(iter(listening + ports + others), None)


def _wrong(value: str) -> str:
    """A port that nobody listens on, none of what is counted, another name than the right one."""
    if not value.isdecimal():
        return f"{value}-legacy"
    return str(int(value) - 1000) if int(value) > 2000 else "0"
