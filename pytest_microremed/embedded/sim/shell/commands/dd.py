"""dd: copies blocks, in the time that the volume takes for them."""

from __future__ import annotations

import re

from pytest_microremed.embedded.sim.shell import processes
from pytest_microremed.embedded.sim.shell.descriptors import Zeros, open_to_read
from pytest_microremed.embedded.sim.shell.dialect import speaks_dash
from pytest_microremed.embedded.sim.shell.filesystem import BYTES_PER_S, KEPT_BYTES, OPERATION_S
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_SUFFIXES = {
    "": 1, "c": 1, "w": 2, "b": 512, "k": 1024, "kb": 1000, "kib": 1024, "m": 2**20, "mb": 10**6, "mib": 2**20,
    "g": 2**30, "gb": 10**9, "gib": 2**30,
}  # fmt: skip
_MOST_OPERATIONS = 100_000


def size(text: str) -> int:
    """`1M`, `4k`, `10MB`, `2x512` in bytes. Raises `CommandError`."""
    total = 1
    for factor in text.lower().split("x"):
        match = re.fullmatch(r"(\d+)([a-z]*)", factor)
        if match is None or match[2] not in _SUFFIXES:
            raise CommandError(f"invalid number '{text}'")
        total *= int(match[1]) * _SUFFIXES[match[2]]
    return total


@command("dd")
async def dd(call: Call) -> int:
    options: dict[str, str] = {}
    for word in call.args[1:]:
        name, given, value = word.partition("=")
        known = ("if", "of", "bs", "ibs", "obs", "count", "skip", "seek", "conv", "oflag", "iflag", "status")
        if not given or name not in known:
            raise CommandError(f"unrecognized operand '{word}'")
        options[name] = value
    block = size(options.get("bs") or options.get("obs") or options.get("ibs") or "512")
    if block == 0:
        raise CommandError("invalid number '0'")
    count = size(options["count"]) if "count" in options else None
    target = call.path(options["of"]) if "of" in options else None
    source = call.path(options["if"]) if "if" in options else None
    endless = source in ("/dev/zero", "/dev/urandom", "/dev/random") and count is None
    to_file = target is not None and not call.files.is_device(target)
    if endless and not to_file:
        await processes.spin(call.container, call.process)
    if endless:
        count = 10 * 2**30 // block  # until the disk is full
    started = call.services.waited
    data, length = await _read(call, source, block, count, size(options.get("skip", "0")))
    blocks, rest = divmod(length, block)
    if to_file and target is not None:
        await _write(call, target, data, length, block, options)
    elif target is None:
        call.out.write(data)
    if source is not None and not call.files.is_device(source):
        for _ in range(min(blocks + bool(rest), _MOST_OPERATIONS)):
            await call.files.spend(source, "read", block)
    elapsed = max(call.services.waited - started, length / BYTES_PER_S, 1e-6)
    _report(call, blocks, rest, length, elapsed, options.get("status", ""))
    return 0


async def _read(call: Call, source: str | None, block: int, count: int | None, skip: int) -> tuple[bytes, int]:
    """What is copied, and its length; of more than is worth keeping, only the beginning is there."""
    stream = call.stdin if source is None else await open_to_read(source, call.files, {0: call.stdin})
    if isinstance(stream, Zeros):
        length = block * (count or 0)
        return bytes(min(length, KEPT_BYTES)), length
    data = await stream.read()
    data = data[skip * block :]
    if count is not None:
        data = data[: block * count]
    return data, len(data)


async def _write(call: Call, target: str, data: bytes, length: int, block: int, options: dict[str, str]) -> None:
    files = call.files
    await files.spend(target, "open", 0)
    seek = size(options.get("seek", "0")) * block
    keep = "notrunc" in options.get("conv", "") or seek
    before = files.content(target) if keep and files.is_file(target) else b""
    content = before[:seek].ljust(min(seek, KEPT_BYTES), b"\0") + data + before[seek + length :]
    total = max(seek + length, len(before) if keep else 0)
    files.put(target, content, size=None if total == len(content) else total)
    waited = 0.0
    operations = -(-length // block)
    start = call.services.waited
    for _ in range(min(operations, _MOST_OPERATIONS)):
        await files.spend(target, "write", 0)
    waited = call.services.waited - start
    flags = options.get("oflag", "") + options.get("conv", "")
    synced = any(flag in flags for flag in ("direct", "sync"))
    plain = length / BYTES_PER_S + operations * OPERATION_S * (4 if synced else 1)
    if "fsync" in flags or "fdatasync" in flags:
        await files.spend(target, "fsync", 0)
    if not waited or plain > waited:
        await call.services.clock.sleep(max(0.0, plain - waited))


def _report(call: Call, blocks: int, rest: int, length: int, elapsed: float, status: str) -> None:
    if status == "none":
        return
    records = f"{blocks}+{int(bool(rest))}"
    text = f"{records} records in\n{records} records out\n"
    if status != "noxfer":
        rate = length / elapsed
        if speaks_dash(call.container):
            readable = ", ".join(
                part for part in (_human(length, 1000, ("kB", "MB", "GB")), _human(length, 1024, ("KiB", "MiB", "GiB")))
                if part
            )  # fmt: skip
            shown = f"{length} bytes ({readable})" if readable else f"{length} bytes"
            speed = _human(rate, 1000, ("kB", "MB", "GB")) or f"{rate:.0f} B"
            text += f"{shown} copied, {elapsed:.6g} s, {speed}/s\n"
        else:
            speed = (
                f"{rate / 2**30:.1f}GB"
                if rate >= 2**30
                else f"{rate / 2**20:.1f}MB"
                if rate >= 2**20
                else (f"{rate / 1024:.1f}KB")
            )
            readable = _busybox(length)
            text += f"{length} bytes ({readable}) copied, {elapsed:.6f} seconds, {speed}/s\n"
    call.err.write(text.encode())


def _human(value: float, base: int, units: tuple[str, ...]) -> str:
    if value < base:
        return ""
    index = 0
    value /= base
    while value >= base and index < len(units) - 1:
        value /= base
        index += 1
    return f"{value:.0f} {units[index]}" if value >= 10 else f"{value:.1f} {units[index]}"


def _busybox(length: int) -> str:
    for unit, factor in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if length >= factor:
            return f"{length / factor:.1f}{unit}"
    return f"{length}B"
