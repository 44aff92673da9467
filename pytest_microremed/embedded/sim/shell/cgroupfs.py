"""The files under /sys that a container sees: its control group (version 2) and its network device."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_microremed.embedded.sim.model import Container
from pytest_microremed.embedded.sim.shell import accounting
from pytest_microremed.embedded.sim.shell.services import ShellServices
from pytest_microremed.embedded.sim.usage import cpu_limit, memory_bytes, memory_limit

_GROUP = "/sys/fs/cgroup/"
_DEVICE = "/sys/class/net/eth0/"
_PERIOD_US = 100_000


def paths() -> Iterator[str]:
    yield from (_GROUP + name for name in _CONTROL_GROUP)
    yield from (_DEVICE + name for name in _NETWORK)


def read(path: str, container: Container, services: ShellServices) -> bytes | None:
    """The contents now; None if there is no such file."""
    if path.startswith(_GROUP):
        group = _CONTROL_GROUP.get(path[len(_GROUP) :])
        return group(container, services).encode() if group else None
    text = _NETWORK.get(path[len(_DEVICE) :]) if path.startswith(_DEVICE) else None
    return text.encode() if text else None


def _cpu_max(container: Container, services: ShellServices) -> str:
    limit = cpu_limit(container)
    return f"{'max' if limit >= services.node.cores else round(limit * _PERIOD_US)} {_PERIOD_US}\n"


def _cpu_stat(container: Container, services: ShellServices) -> str:
    share = accounting.cpu_share(container)
    now, speed = services.clock.now(), services.clock.speed
    running = list(container.processes.values())
    used = sum(accounting.cpu_seconds(container, process, now, speed) for process in running)
    periods = int(max((accounting.seconds_running(process, now, speed) for process in running), default=0) * 10)
    throttled = periods if share < 1 else 0
    rows = {
        "usage_usec": int(used * 1e6), "user_usec": int(used * 0.9e6), "system_usec": int(used * 0.1e6),
        "nr_periods": periods, "nr_throttled": throttled,
        "throttled_usec": int(throttled * _PERIOD_US * (1 - share)),
    }  # fmt: skip
    return "".join(f"{name} {value}\n" for name, value in rows.items())


def _memory_max(container: Container, services: ShellServices) -> str:
    limit = memory_limit(container)
    return f"{'max' if limit is None else limit}\n"


def _memory_stat(container: Container, services: ShellServices) -> str:
    shared = container.files_in_memory()
    return f"anon {memory_bytes(container) - shared}\nfile {shared}\nshmem {shared}\n"


_CONTROL_GROUP: dict[str, Callable[[Container, ShellServices], str]] = {
    "cpu.max": _cpu_max,
    "cpu.stat": _cpu_stat,
    "memory.max": _memory_max,
    "memory.current": lambda container, services: f"{memory_bytes(container)}\n",
    "memory.stat": _memory_stat,
    "memory.swap.max": lambda container, services: "0\n",
    "memory.events": lambda container, services: "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n",
    "cgroup.procs": lambda container, services: "".join(f"{pid}\n" for pid in container.processes),
    "pids.current": lambda container, services: f"{len(container.processes)}\n",
}
_NETWORK = {"address": "0a:58:0a:f4:00:0b\n", "mtu": "1450\n", "operstate": "up\n"}
