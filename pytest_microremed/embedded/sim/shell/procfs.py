"""The kernel's own files: /proc, and the control group's under /sys/fs/cgroup (version 2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.shell import accounting
from pytest_microremed.embedded.sim.shell.dialect import file_system_of
from pytest_microremed.embedded.sim.shell.services import ShellServices
from pytest_microremed.embedded.sim.usage import cpu_limit, memory_bytes, memory_limit

CGROUP = "/sys/fs/cgroup/"
PAGE = 4096
_PERIOD_US = 100_000


def serves(path: str) -> bool:
    """Whether the path is in one of these file systems."""
    return path.startswith(("/proc/", "/sys/"))


def paths(container: Container) -> Iterator[str]:
    for name in _SYSTEM:
        yield "/proc/" + name
    for pid in container.processes:
        yield f"/proc/{pid}/"
        for name in _PROCESS:
            yield f"/proc/{pid}/{name}"
    for name in _CONTROL_GROUP:
        yield CGROUP + name
    for name in _NETWORK:
        yield "/sys/class/net/eth0/" + name


def read(path: str, container: Container, services: ShellServices) -> bytes | None:
    """The contents now; None if there is no such file."""
    if path.startswith(CGROUP):
        group = _CONTROL_GROUP.get(path[len(CGROUP) :])
        return group(container, services).encode() if group else None
    if path.startswith("/sys/class/net/eth0/"):
        text = _NETWORK.get(path.rsplit("/", 1)[1])
        return text.encode() if text else None
    name = path.removeprefix("/proc/")
    system = _SYSTEM.get(name)
    if system is not None:
        return system(container, services).encode()
    pid, _, rest = name.partition("/")
    process = container.processes.get(int(pid)) if pid.isdigit() else None
    about = _PROCESS.get(rest)
    return about(process, container, services).encode() if process and about else None


def command_name(process: Process) -> str:
    """The kernel's short name of a process (comm)."""
    return process.command[0].split("/")[-1].split(" ")[0].removesuffix(":")[:15] if process.command else ""


def _load(container: Container, services: ShellServices) -> float:
    return services.node.load + sum(accounting.cores_used(container, p) for p in container.processes.values())


def loads(container: Container, services: ShellServices) -> tuple[str, str, str]:
    """The load averages of 1, 5 and 15 minutes."""
    load = _load(container, services)
    return f"{load:.2f}", f"{load * 0.93:.2f}", f"{load * 0.81:.2f}"


def _loadavg(container: Container, services: ShellServices) -> str:
    running = 1 + sum(1 for process in container.processes.values() if process.cpu >= 0.5)
    averages = " ".join(loads(container, services))
    return f"{averages} {running}/{612 + len(container.processes)} 48213\n"


def free_memory(container: Container, services: ShellServices) -> tuple[int, int, int, int]:
    """Total, used, free and cached bytes of the node, as a container sees them."""
    total = services.node.memory_bytes
    used = total // 4 + memory_bytes(container)
    cached = total // 5
    return total, used, max(0, total - used - cached), cached


def _meminfo(container: Container, services: ShellServices) -> str:
    total, _, free, cached = free_memory(container, services)
    rows = {
        "MemTotal": total, "MemFree": free, "MemAvailable": free + cached, "Buffers": cached // 10,
        "Cached": cached - cached // 10, "SwapCached": 0, "SwapTotal": 0, "SwapFree": 0,
    }  # fmt: skip
    return "".join(f"{name + ':':<16}{value // 1024:>8} kB\n" for name, value in rows.items())


def _cpuinfo(container: Container, services: ShellServices) -> str:
    return "".join(
        f"processor\t: {number}\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\n"
        f"model name\t: Intel(R) Xeon(R) Platinum 8259CL CPU @ 2.50GHz\ncpu MHz\t\t: 2499.998\n"
        f"cache size\t: 36608 KB\ncpu cores\t: {services.node.cores}\n\n"
        for number in range(services.node.cores)
    )


def _uptime(container: Container, services: ShellServices) -> str:
    up = uptime(services)
    return f"{up:.2f} {up * services.node.cores * 0.9:.2f}\n"


def uptime(services: ShellServices) -> float:
    """Seconds that the node has been up."""
    return 86_400 * 12 + services.clock.seconds() % 86_400


def _net_dev(container: Container, services: ShellServices) -> str:
    head = (
        "Inter-|   Receive                                                |  Transmit\n"
        " face |bytes    packets errs drop fifo frame compressed multicast"
        "|bytes    packets errs drop fifo colls carrier compressed\n"
    )
    packets = int(services.clock.seconds()) * 3
    none_in, none_out = "    0    0    0     0          0         0", "    0    0    0     0       0          0"
    row = "{:>6}: {:>7} {:>7}" + none_in + " {:>8} {:>7}" + none_out + "\n"
    return (
        head + row.format("lo", 1840, 22, 1840, 22) + row.format("eth0", packets * 410, packets, packets * 380, packets)
    )


def _mounts(container: Container, services: ShellServices) -> str:
    rows = [
        "overlay / overlay rw,relatime 0 0",
        "proc /proc proc rw,nosuid,nodev,noexec,relatime 0 0",
        "tmpfs /dev tmpfs rw,nosuid,size=65536k,mode=755 0 0",
        "cgroup /sys/fs/cgroup cgroup2 ro,nosuid,nodev,noexec,relatime 0 0",
        "shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0",
    ]
    for mount in container.mounts:
        options = "ro,relatime" if mount.read_only else "rw,relatime"
        device, file_system = file_system_of(container, mount)
        rows.append(f"{device} {mount.path} {file_system} {options} 0 0")
    return "\n".join(rows) + "\n"


def _status(process: Process, container: Container, services: ShellServices) -> str:
    state = "R (running)" if process.cpu >= 0.5 else "S (sleeping)"
    resident = process.memory // 1024
    return (
        f"Name:\t{command_name(process)}\nUmask:\t0022\nState:\t{state}\nTgid:\t{process.pid}\nPid:\t{process.pid}\n"
        f"PPid:\t{process.ppid}\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"
        f"VmPeak:\t{resident * 3} kB\nVmSize:\t{resident * 3} kB\n"
        f"VmRSS:\t{resident} kB\nThreads:\t1\n"
    )


def _stat(process: Process, container: Container, services: ShellServices) -> str:
    ticks = int(accounting.cpu_seconds(container, process, services.clock.now(), services.clock.speed) * 100)
    state = "R" if process.cpu >= 0.5 else "S"
    pages = process.memory // PAGE
    return (
        f"{process.pid} ({command_name(process)}) {state} {process.ppid} {process.pid} {process.pid} 0 -1 4194304 "
        f"0 0 0 0 {ticks} {ticks // 20} 0 0 20 0 1 0 0 {process.memory * 3} {pages}\n"
    )


def _environ(process: Process, container: Container, services: ShellServices) -> str:
    return "".join(f"{name}={value}\0" for name, value in container.env.items())


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


_SYSTEM: dict[str, Callable[[Container, ShellServices], str]] = {
    "loadavg": _loadavg,
    "meminfo": _meminfo,
    "cpuinfo": _cpuinfo,
    "uptime": _uptime,
    "mounts": _mounts,
    "net/dev": _net_dev,
    "version": lambda container, services: f"Linux version {services.node.kernel} (gcc-12) #1 SMP PREEMPT_DYNAMIC\n",
    "sys/kernel/hostname": lambda container, services: container.pod.name + "\n",
}
_PROCESS: dict[str, Callable[[Process, Container, ShellServices], str]] = {
    "cmdline": lambda process, container, services: "".join(f"{word}\0" for word in process.command),
    "comm": lambda process, container, services: command_name(process) + "\n",
    "status": _status,
    "stat": _stat,
    "environ": _environ,
    "oom_score_adj": lambda process, container, services: "0\n",
    "cgroup": lambda process, container, services: "0::/\n",
    "mounts": lambda process, container, services: _mounts(container, services),
}
_CONTROL_GROUP: dict[str, Callable[[Container, ShellServices], str]] = {
    "cpu.max": _cpu_max,
    "cpu.stat": _cpu_stat,
    "memory.max": _memory_max,
    "memory.current": lambda container, services: f"{memory_bytes(container)}\n",
    "memory.events": lambda container, services: "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\n",
    "cgroup.procs": lambda container, services: "".join(f"{pid}\n" for pid in container.processes),
    "pids.current": lambda container, services: f"{len(container.processes)}\n",
}
_NETWORK = {"address": "0a:58:0a:f4:00:0b\n", "mtu": "1450\n", "operstate": "up\n"}
