"""The kernel's own files: /proc here, and those under /sys."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.shell import accounting, cgroupfs
from pytest_microremed.embedded.sim.shell.dialect import file_system_of
from pytest_microremed.embedded.sim.shell.services import ShellServices
from pytest_microremed.embedded.sim.usage import memory_bytes

PAGE = 4096


def serves(path: str) -> bool:
    """Whether the path is in one of these file systems."""
    return path.startswith(("/proc/", "/sys/"))


def paths(container: Container) -> Iterator[str]:
    yield from cgroupfs.paths()
    for name in _SYSTEM:
        yield "/proc/" + name
    for pid in ("self", *container.processes):
        for name in _PROCESS:
            yield f"/proc/{pid}/{name}"


def read(path: str, container: Container, services: ShellServices) -> bytes | None:
    """The contents now; None if there is no such file."""
    if path.startswith("/sys/"):
        return cgroupfs.read(path, container, services)
    name = path.removeprefix("/proc/")
    system = _SYSTEM.get(name)
    if system is not None:
        return system(container, services).encode()
    pid, _, rest = name.partition("/")
    process = _process(pid, container)
    about = _PROCESS.get(rest)
    return about(process, container, services).encode() if process and about else None


def _process(pid: str, container: Container) -> Process | None:
    """The process of that number; `self` is who asks, which is the youngest one."""
    if pid == "self":
        return container.processes[max(container.processes)] if container.processes else None
    return container.processes.get(int(pid)) if pid.isdigit() else None


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


def _stat_of_node(container: Container, services: ShellServices) -> str:
    ticks = int(uptime(services) * 100)
    busy = min(1.0, _load(container, services) / services.node.cores)
    user, idle = int(ticks * busy), int(ticks * (1 - busy))
    rows = [f"cpu  {user * services.node.cores} 0 {ticks // 90} {idle * services.node.cores} 0 0 0 0 0 0"]
    rows += [f"cpu{number} {user} 0 {ticks // 90} {idle} 0 0 0 0 0 0" for number in range(services.node.cores)]
    running = 1 + sum(1 for process in container.processes.values() if process.cpu >= 0.5)
    return "\n".join(rows) + f"\nprocesses 48213\nprocs_running {running}\nprocs_blocked 0\n"


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


_SYSTEM: dict[str, Callable[[Container, ShellServices], str]] = {
    "loadavg": _loadavg,
    "meminfo": _meminfo,
    "cpuinfo": _cpuinfo,
    "uptime": _uptime,
    "stat": _stat_of_node,
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
