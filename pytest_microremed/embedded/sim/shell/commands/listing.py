"""ps and top, in the forms of procps (Debian) and busybox."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_microremed.embedded.sim.model import Process
from pytest_microremed.embedded.sim.shell import accounting, procfs
from pytest_microremed.embedded.sim.shell.dialect import speaks_dash
from pytest_microremed.embedded.sim.shell.procfs import command_name, free_memory
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.users import process_user, user_name

MIB = 2**20


class Row:
    """A process as the columns show it."""

    def __init__(self, call: Call, process: Process) -> None:
        self.call = call
        self.process = process

    @property
    def user(self) -> str:
        return user_name(process_user(self.call.container, self.process))

    @property
    def cpu(self) -> float:
        """Per cent of one core."""
        return 100 * accounting.cores_used(self.call.container, self.process)

    @property
    def memory(self) -> float:
        """Per cent of the node's memory."""
        return 100 * self.process.memory / self.call.services.node.memory_bytes

    @property
    def resident(self) -> int:
        """KiB."""
        return self.process.memory // 1024

    @property
    def virtual(self) -> int:
        """KiB."""
        return self.resident * 3

    @property
    def state(self) -> str:
        return "R" if self.process.cpu >= 0.5 or self.process is self.call.process else "S"

    @property
    def seconds(self) -> int:
        call = self.call
        return int(accounting.cpu_seconds(call.container, self.process, call.services.now(), call.services.clock.speed))

    @property
    def elapsed(self) -> int:
        return int(accounting.seconds_running(self.process, self.call.services.now(), self.call.services.clock.speed))

    @property
    def started(self) -> str:
        return f"{self.process.started:%H:%M}" if self.process.started else "00:00"

    @property
    def name(self) -> str:
        return command_name(self.process)

    @property
    def line(self) -> str:
        return " ".join(self.process.command)


def _clock(seconds: int, *, hours: bool = True) -> str:
    minutes, seconds = divmod(seconds, 60)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"


def _elapsed(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return (f"{days}-" if days else "") + (f"{hours:02d}:" if hours or days else "") + f"{minutes:02d}:{rest:02d}"


_COLUMNS: dict[str, tuple[str, int, Callable[[Row], str]]] = {
    "pid": ("PID", 7, lambda row: str(row.process.pid)),
    "ppid": ("PPID", 7, lambda row: str(row.process.ppid)),
    "pgid": ("PGID", 7, lambda row: str(row.process.pid)),
    "user": ("USER", -8, lambda row: row.user),
    "uid": ("UID", 5, lambda row: str(process_user(row.call.container, row.process))),
    "%cpu": ("%CPU", 4, lambda row: f"{row.cpu:.1f}" if row.cpu < 100 else f"{row.cpu:.0f}"),
    "%mem": ("%MEM", 4, lambda row: f"{row.memory:.1f}"),
    "rss": ("RSS", 6, lambda row: str(row.resident)),
    "vsz": ("VSZ", 7, lambda row: str(row.virtual)),
    "stat": ("STAT", -4, lambda row: row.state),
    "tty": ("TTY", -8, lambda row: "?"),
    "time": ("TIME", 8, lambda row: _clock(row.seconds)),
    "etime": ("ELAPSED", 11, lambda row: _elapsed(row.elapsed)),
    "etimes": ("ELAPSED", 7, lambda row: str(row.elapsed)),
    "lstart": (
        "STARTED",
        24,
        lambda row: f"{row.process.started:%a %b %e %H:%M:%S %Y}" if row.process.started else "",
    ),
    "start": ("STARTED", 8, lambda row: row.started),
    "ni": ("NI", 3, lambda row: "0"),
    "nlwp": ("NLWP", 4, lambda row: "1"),
    "comm": ("COMMAND", -15, lambda row: row.name),
    "args": ("COMMAND", -27, lambda row: row.line),
}
_OTHER_NAMES = {
    "pcpu": "%cpu", "pmem": "%mem", "cmd": "args", "command": "args", "ucmd": "comm", "rssize": "rss", "vsize": "vsz",
    "s": "stat", "state": "stat", "tt": "tty", "tname": "tty", "cputime": "time", "euser": "user", "ruser": "user",
    "ucomm": "comm", "lwp": "pid", "tid": "pid", "euid": "uid", "stime": "start", "start_time": "start", "nice": "ni",
}  # fmt: skip
_SORT_KEYS: dict[str, Callable[[Row], float]] = {
    "pid": lambda row: row.process.pid,
    "%cpu": lambda row: row.cpu,
    "%mem": lambda row: row.memory,
    "rss": lambda row: row.resident,
    "vsz": lambda row: row.virtual,
    "time": lambda row: row.seconds,
    "etime": lambda row: row.elapsed,
    "etimes": lambda row: row.elapsed,
    "start": lambda row: -row.elapsed,
}


@command("ps")
async def ps(call: Call) -> int:
    rows = [Row(call, process) for process in sorted(call.container.processes.values(), key=lambda p: p.pid)]
    words = list(call.args[1:])
    columns, sort, chosen, headers, flags = "", "", "", True, ""
    pids: set[int] | None = None
    while words:
        word = words.pop(0)
        if word.startswith("--sort"):
            sort = word.partition("=")[2] or (words.pop(0) if words else "")
        elif word in ("--no-headers", "--no-heading", "--noheaders", "h"):
            headers = False
        elif word in ("-C", "-p", "--pid", "-q", "p") and words:
            value = words.pop(0)
            if word == "-C":
                chosen = value
            else:
                pids = {int(pid) for pid in value.replace(",", " ").split() if pid.isdigit()}
        elif word.lstrip("-").endswith(("o", "O")) and words and not word.startswith("--"):
            columns += ("," if columns else "") + words.pop(0)
            flags += word.strip("-oO")
        elif word.startswith("-o"):
            columns += ("," if columns else "") + word[2:]
        elif not word.startswith("--"):
            flags += word
    if pids is not None:
        rows = [row for row in rows if row.process.pid in pids]
    if chosen:
        rows = [row for row in rows if row.name in chosen.split(",")]
    if sort:
        rows = _sorted(rows, sort)
    if columns:
        _print_columns(call, rows, columns, headers=headers)
    elif not speaks_dash(call.container):
        _print_busybox(call, rows)
    elif "u" in flags:
        _print_user(call, rows, headers=headers)
    elif "f" in flags:
        _print_full(call, rows, headers=headers)
    else:
        own = pids is not None or any(flag in flags for flag in "eAx")
        _print_columns(call, rows if own else _own(call, rows), "pid,tty,time,comm", headers=headers)
    return 0 if rows else 1


def _own(call: Call, rows: Sequence[Row]) -> list[Row]:
    """Without a terminal, procps' plain `ps` shows what shares the caller's: all that was not started by the image."""
    return [row for row in rows if process_user(call.container, row.process) == call.container.user]


def _sorted(rows: list[Row], sort: str) -> list[Row]:
    for key in reversed(sort.split(",")):
        name = key.lstrip("+-").lower()
        by = _SORT_KEYS.get(_OTHER_NAMES.get(name, name))
        if by is None:
            raise CommandError("error: unknown sort specifier")
        rows = sorted(rows, key=by, reverse=key.startswith("-"))
    return rows


def _print_columns(call: Call, rows: Sequence[Row], columns: str, *, headers: bool) -> None:
    chosen: list[tuple[str, int, Callable[[Row], str]]] = []
    for given in columns.replace(" ", ",").split(","):
        name, renamed, title = given.strip().partition("=")
        if not name:
            continue
        column = _COLUMNS.get(_OTHER_NAMES.get(name.lower(), name.lower()))
        if column is None:
            raise CommandError(f'error: unknown user-defined format specifier "{name}"')
        chosen.append((title if renamed else column[0], column[1], column[2]))
    lines = [[title for title, _, _ in chosen]] if headers and any(title for title, _, _ in chosen) else []
    lines += [[show(row) for _, _, show in chosen] for row in rows]
    for line in lines:
        cells = [
            cell if index == len(chosen) - 1 and width < 0 else f"{cell:<{-width}}" if width < 0 else f"{cell:>{width}}"
            for index, (cell, (_, width, _)) in enumerate(zip(line, chosen, strict=True))
        ]
        call.print(" ".join(cells))


def _print_busybox(call: Call, rows: Sequence[Row]) -> None:
    call.print("PID   USER     TIME  COMMAND")
    for row in rows:
        call.print(f"{row.process.pid:>5} {row.user:<8} {_clock(row.seconds, hours=False):>5} {row.line}")


def _print_user(call: Call, rows: Sequence[Row], *, headers: bool) -> None:
    if headers:
        call.print("USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND")
    for row in rows:
        cpu = f"{row.cpu:.1f}" if row.cpu < 100 else f"{row.cpu:.0f}"
        call.print(
            f"{row.user:<8} {row.process.pid:>7} {cpu:>4} {row.memory:>4.1f} {row.virtual:>6} {row.resident:>5} "
            f"{'?':<8} {row.state:<4} {row.started:<5} {_clock(row.seconds, hours=False):>6} {row.line}"
        )


def _print_full(call: Call, rows: Sequence[Row], *, headers: bool) -> None:
    if headers:
        call.print("UID          PID    PPID  C STIME TTY          TIME CMD")
    for row in rows:
        call.print(
            f"{row.user:<8} {row.process.pid:>7} {row.process.ppid:>7} {min(99, int(row.cpu)):>2} {row.started} "
            f"{'?':<8} {_clock(row.seconds)} {row.line}"
        )


@command("top")
async def top(call: Call) -> int:
    options, _ = call.options("bn:d:o:p:Hu:cw::1iSs", [])
    rounds = int(options["n"]) if options.get("n", "").isdigit() else None
    if "b" not in options and rounds is None:
        raise CommandError("failed tty get")
    delay = float(options.get("d", 3))
    done = 0
    while rounds is None or done < rounds:
        if done:
            await call.services.clock.sleep(delay)
        _print_top(call, options.get("o", "%CPU"))
        await call.out.drain()
        done += 1
    return 0


def _print_top(call: Call, sort: str) -> None:
    container, services = call.container, call.services
    rows = [Row(call, process) for process in container.processes.values()]
    by_memory = sort.strip("+-").upper() in ("%MEM", "RES", "MEM")
    rows.sort(key=lambda row: (-(row.memory if by_memory else row.cpu), row.process.pid))
    total, used, free, cached = free_memory(container, services)
    node_busy = min(100.0, 100 * float(procfs.loads(container, services)[0]) / services.node.cores)
    load = ", ".join(procfs.loads(container, services))
    if not speaks_dash(container):
        call.print(
            f"Mem: {used // 1024}K used, {free // 1024}K free, 1024K shrd, {cached // 10240}K buff, "
            f"{cached // 1024}K cached\n"
            f"CPU: {node_busy:3.0f}% usr   1% sys   0% nic {max(0, 99 - node_busy):3.0f}% idle   0% io   0% irq   "
            "0% sirq\n"
            f"Load average: {load.replace(',', '')} {max(1, sum(r.state == 'R' for r in rows))}/{600 + len(rows)} 481\n"
            "  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND"
        )
        for row in rows:
            share = row.cpu / services.node.cores
            call.print(
                f"{row.process.pid:>5} {row.process.ppid:>5} {row.user:<8} {row.state:<4} {row.virtual:>6} "
                f"{100 * row.virtual * 1024 / total:>3.0f}%   0 {share:>3.0f}% {row.line}"
            )
        return
    running = sum(row.state == "R" for row in rows)
    call.print(
        f"top - {services.now():%H:%M:%S} up 12 days,  0 users,  load average: {load}\n"
        f"Tasks: {len(rows):>3} total, {running:>3} running, {len(rows) - running:>3} sleeping,   0 stopped,   "
        "0 zombie\n"
        f"%Cpu(s): {node_busy:4.1f} us,  1.0 sy,  0.0 ni, {max(0.0, 99 - node_busy):4.1f} id,  0.0 wa,  0.0 hi,  "
        "0.0 si,  0.0 st\n"
        f"MiB Mem : {total / MIB:8.1f} total, {free / MIB:8.1f} free, {used / MIB:8.1f} used, "
        f"{cached / MIB:8.1f} buff/cache\n"
        f"MiB Swap:      0.0 total,      0.0 free,      0.0 used. {(free + cached) / MIB:8.1f} avail Mem\n\n"
        "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND"
    )
    for row in rows:
        call.print(
            f"{row.process.pid:>7} {row.user:<8}  20   0 {row.virtual:>7} {row.resident:>6} {row.resident // 3:>6} "
            f"{row.state} {row.cpu:>5.1f} {row.memory:>5.1f} {_clock(row.seconds, hours=False) + '.00':>9} {row.name}"
        )
