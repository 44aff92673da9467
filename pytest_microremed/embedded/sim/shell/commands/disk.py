"""du and df: how much room files take, and how much there is."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from pytest_microremed.embedded.sim.shell.commands.directories import BLOCK, human
from pytest_microremed.embedded.sim.shell.dialect import file_system_of
from pytest_microremed.embedded.sim.shell.filesystem import SHARED_MEMORY
from pytest_microremed.embedded.sim.shell.registry import Call, command

DISK_BYTES = 100 * 2**30
DISK_USED = 31 * 2**30


@command("du")
async def du(call: Call) -> int:
    options, operands = call.options("shkmabcxd:", ["max-depth=", "human-readable", "summarize", "bytes"])
    depth = 0 if {"s", "summarize"} & options.keys() else int(options.get("d") or options.get("max-depth") or 10**6)
    status = 0
    for name in operands or ["."]:
        path = call.path(name)
        if not call.files.exists(path):
            call.complain(f"cannot access '{name}': No such file or directory")
            status = 1
            continue
        everything = call.files.walk(path)
        totals = dict.fromkeys(everything, 0)
        for each in everything:
            size = -(-call.files.size(each) // BLOCK) * BLOCK
            step = each
            while step != path:
                totals[step] += size
                step = posixpath.dirname(step)
            totals[path] += size
        for each in reversed(everything):
            level = each[len(path.rstrip("/")) :].count("/")
            if level > depth or not (call.files.is_directory(each) or each == path or "a" in options):
                continue
            shown = name.rstrip("/") + each[len(path.rstrip("/")) :] if each != path else name
            readable = {"h", "human-readable"} & options.keys()
            text = human(totals[each]) if readable else str(totals[each] // (2**20 if "m" in options else 1024))
            call.print(f"{text}\t{shown}")
    return status


@command("df")
async def df(call: Call) -> int:
    options, operands = call.options("hkmTPaiB:t:", ["human-readable", "total", "output=", "print-type"])
    rows = [("overlay", "overlay", DISK_BYTES, DISK_USED, "/"), ("tmpfs", "tmpfs", 64 * 2**20, 0, "/dev")]
    shm = sum(call.files.size(path) for path in call.container.files if path.startswith(f"{SHARED_MEMORY}/"))
    for mount in call.container.mounts:
        device, kind = file_system_of(call.container, mount)
        size = sum(len(data) for data in mount.volume.files.values())
        rows.append((device, kind, DISK_BYTES, DISK_USED + size, mount.path))
    rows.append(("shm", "tmpfs", 64 * 2**20, shm, SHARED_MEMORY))
    if operands:
        wanted = [max((r for r in rows if _is_under(call.path(o), r[4])), key=lambda r: len(r[4])) for o in operands]
        rows = list(dict.fromkeys(wanted))
    readable = bool({"h", "human-readable"} & options.keys())
    show: Callable[[float], str] = (
        human if readable else lambda size: str(int(size) // (2**20 if "m" in options else 1024))
    )
    with_type = bool({"T", "print-type"} & options.keys())
    title = "Size" if readable else "1M-blocks" if "m" in options else "1K-blocks"
    kind_title = " Type    " if with_type else ""
    call.print(f"Filesystem    {kind_title} {title:>10}      Used Available Use% Mounted on")
    for device, kind, size, used, where in rows:
        kind_text = f" {kind:<8}" if with_type else ""
        share = -(-100 * used // size)
        call.print(
            f"{device:<14}{kind_text} {show(size):>10} {show(used):>9} {show(size - used):>9} {share:>3}% {where}"
        )
    return 0


def _is_under(path: str, directory: str) -> bool:
    return directory == "/" or path == directory or path.startswith(directory + "/")
