"""What the processes of a container have got of the CPU that they ask for, as `ps`, `top` and /proc show it."""

from __future__ import annotations

from datetime import datetime

from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.usage import cpu_demand, cpu_limit


def cpu_share(container: Container) -> float:
    """The part of its demand that each process gets: all of it, or less where the quota holds the container back."""
    demand = cpu_demand(container)
    return min(1.0, cpu_limit(container) / demand) if demand else 1.0


def cores_used(container: Container, process: Process) -> float:
    return process.cpu * cpu_share(container)


def seconds_running(process: Process, now: datetime, speed: float) -> float:
    """Simulated seconds since the process started."""
    return max(0.0, (now - process.started).total_seconds() * speed) if process.started else 0.0


def cpu_seconds(container: Container, process: Process, now: datetime, speed: float) -> float:
    """CPU time that the process has used, as if it had always asked for what it asks for now."""
    return cores_used(container, process) * seconds_running(process, now, speed)
