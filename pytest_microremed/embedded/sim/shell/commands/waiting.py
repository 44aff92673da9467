"""sleep, timeout, nohup, setsid, time, watch, nice: commands about time, and those that only run another one."""

from __future__ import annotations

import asyncio
import math
import re
import signal
from collections.abc import Sequence

from pytest_microremed.embedded.sim.shell.commands.signals import signal_number
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_UNITS = {"": 1, "ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_TIMED_OUT = 124


def seconds(text: str) -> float:
    """`1.5`, `10s`, `2m`, `infinity`. Raises ValueError."""
    if text in ("infinity", "inf"):
        return math.inf
    match = re.fullmatch(r"(\d+\.?\d*|\.\d+)(ms|[smhd]?)", text)
    if match is None:
        raise ValueError(text)
    return float(match[1]) * _UNITS[match[2]]


@command("sleep", "usleep")
async def sleep(call: Call) -> int:
    if len(call.args) < 2:
        raise CommandError("missing operand")
    try:
        total = sum(seconds(word) for word in call.args[1:])
    except ValueError as error:
        raise CommandError(f"invalid number '{error}'") from None
    if math.isinf(total):
        await asyncio.Event().wait()
    await call.services.clock.sleep(total / 1e6 if call.name == "usleep" else total)
    return 0


@command("timeout")
async def timeout(call: Call) -> int:
    words = list(call.args[1:])
    number: int | None = signal.SIGTERM
    old_style = False
    while words and words[0].startswith("-"):
        flag = words.pop(0)
        if flag in ("-s", "--signal", "-k", "--kill-after") and words:
            value = words.pop(0)
            number = signal_number(value) if flag in ("-s", "--signal") else number
        elif flag == "-t":  # busybox before 1.30
            old_style = True
            break
        elif flag.startswith("--signal="):
            number = signal_number(flag.partition("=")[2])
        elif flag.startswith(("-s", "-k")):
            number = signal_number(flag[2:]) if flag.startswith("-s") else number
    if len(words) < 2 or number is None:
        raise CommandError("missing operand" if not old_style else "usage: timeout SECS PROG ARGS", 125)
    try:
        limit = seconds(words[0])
    except ValueError:
        raise CommandError(f"invalid time interval '{words[0]}'", 125) from None
    before = set(call.container.processes)
    work = asyncio.ensure_future(call.run(words[1:], call.stdin, None))
    alarm = asyncio.ensure_future(_alarm(call, limit))
    done, _ = await asyncio.wait({work, alarm}, return_when=asyncio.FIRST_COMPLETED)
    if work in done:
        alarm.cancel()
        return work.result()
    children = [p.pid for p in call.container.processes.values() if p.ppid == call.process.pid and p.pid not in before]
    for pid in children:
        call.container.kill(pid, number)
    code = await work
    return 128 + signal.SIGKILL if number == signal.SIGKILL else _TIMED_OUT if code else code


async def _alarm(call: Call, limit: float) -> None:
    await call.services.clock.sleep(limit if limit and not math.isinf(limit) else 1e9)


@command("nohup", "setsid", "nice", "ionice", "stdbuf", "chroot", "taskset", "doas", "sudo", "busybox")
async def wrap(call: Call) -> int:
    words = list(call.args[1:])
    takes_value = {"nice": ("-n",), "ionice": ("-c", "-n", "-p"), "stdbuf": ("-o", "-e", "-i")}.get(call.name, ())
    while words and words[0].startswith("-"):
        if words.pop(0) in takes_value and words:
            words.pop(0)
    if call.name in ("chroot", "taskset") and words:
        words.pop(0)
    if not words:
        raise CommandError("missing operand", 125)
    return await call.run(words, call.stdin, None)


@command("time")
async def time(call: Call) -> int:
    words: Sequence[str] = [word for word in call.args[1:] if word not in ("-p", "-v")]
    start = call.services.waited
    code = await call.run(words, call.stdin, None)
    elapsed = call.services.waited - start
    minutes, rest = divmod(elapsed, 60)
    text = f"real\t{int(minutes)}m {rest:.2f}s\nuser\t0m 0.00s\nsys\t0m 0.00s\n"
    if not call.is_busybox:
        text = f"\nreal\t{int(minutes)}m{rest:.3f}s\nuser\t0m0.001s\nsys\t0m0.002s\n"
    if "-p" in call.args:
        text = f"real {elapsed:.2f}\nuser 0.00\nsys 0.00\n"
    call.err.write(text.encode())
    return code


@command("watch")
async def watch(call: Call) -> int:
    options, operands = call.options("+n:dt")
    interval = float(options.get("n", "2"))
    while True:
        await call.run(["sh", "-c", " ".join(operands)], None, None)
        await call.out.drain()
        await call.services.clock.sleep(interval)
