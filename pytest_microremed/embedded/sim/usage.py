"""CPU and memory of containers: what their processes ask for, and what their limits leave them."""

from __future__ import annotations

import random
from collections.abc import Iterable

from pytest_microremed.embedded.api.quantity import parse_quantity
from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.sim.model import Container, PodSandbox, Process

NODE_CORES = 32
NODE_MEMORY = 128 * 2**30
SYSTEM_USAGE = Usage(0.35, 3 * 2**30)
"""What the node's own services use: kubelet, container runtime, kernel."""
JITTER = 0.03


def cpu_limit(container: Container) -> float:
    """Cores that the container may use; those of the node where it has no limit."""
    limit = _limit(container, "cpu")
    return float(NODE_CORES if limit is None else limit)


def memory_limit(container: Container) -> int | None:
    """Bytes that the container may use; None = no limit."""
    limit = _limit(container, "memory")
    return None if limit is None else int(limit)


def cpu_demand(container: Container) -> float:
    """Cores that its processes would use if nothing held them back."""
    return sum(process.cpu for process in container.processes.values())


def memory_bytes(container: Container) -> int:
    """Bytes that its processes and memory-backed files hold."""
    return sum(process.memory for process in container.processes.values()) + container.files_in_memory()


def fair_share(container: Container, process: Process) -> float:
    """Cores that a process would get if it wanted many: what the others leave, at least an equal share."""
    limit = cpu_limit(container)
    others = sum(other.cpu for other in container.processes.values() if other is not process)
    return max(limit - others, limit / (1 + others))


def largest_process(container: Container) -> Process:
    """Whom the kernel's OOM killer picks."""
    return max(container.processes.values(), key=lambda process: (process.memory, -process.pid))


def sample(pod: PodSandbox, rng: random.Random) -> dict[str, Usage]:
    """Usage of the running containers at this moment, as metrics of a real node scatter."""
    return {
        container.name: Usage(
            min(cpu_limit(container), cpu_demand(container) * rng.uniform(1 - JITTER, 1 + JITTER)),
            int(min(memory_limit(container) or NODE_MEMORY, memory_bytes(container)) * rng.uniform(0.997, 1)),
        )
        for container in pod.containers.values()
        if container.state == "running"
    }


def total(usages: Iterable[Usage]) -> Usage:
    """The node's usage: its own services and all containers."""
    cpu, memory = SYSTEM_USAGE.cpu_cores, SYSTEM_USAGE.memory_bytes
    for usage in usages:
        cpu, memory = cpu + usage.cpu_cores, memory + usage.memory_bytes
    return Usage(min(cpu, NODE_CORES), min(memory, NODE_MEMORY))


def _limit(container: Container, resource: str) -> float | None:
    text = ((container.spec.get("resources") or {}).get("limits") or {}).get(resource)
    return None if text is None else float(parse_quantity(text))
