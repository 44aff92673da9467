"""cat, head, tail, tee, wc: whole files and streams."""

from __future__ import annotations

import re

from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, open_to_write
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.streams import Writer

_FOLLOW_S = 1.0


@command("cat")
async def cat(call: Call) -> int:
    options, operands = call.options("nAbsvET")
    status, number = 0, 0
    for name in operands or ["-"]:
        try:
            stream = call.stdin if name == "-" else await call.open(name)
        except OSError as error:
            call.complain(f"{name}: {error.strerror}")
            status = 1
            continue
        while chunk := await (stream.readline() if options else stream.read(64 * 1024)):
            if "n" in options or ("b" in options and chunk.strip()):
                number += 1
                call.out.write(f"{number:>6}\t".encode())
            call.out.write(chunk.replace(b"\n", b"$\n") if "E" in options or "A" in options else chunk)
            await call.out.drain()
    return status


def _count(call: Call, default: int) -> tuple[dict[str, str], list[str], str]:
    """Options, operands and the count as given (`-n 5`, `-5`, `-c 10`, `+3`)."""
    args = [
        f"-n{word[1:]}" if re.fullmatch(r"-\d+", word) and before not in ("-n", "-c", "--lines", "--bytes") else word
        for before, word in zip(["", *call.args], call.args, strict=False)
    ]
    options, operands = call.with_args(args).options("n:c:qvfFs:", ["lines=", "bytes=", "quiet", "follow", "retry"])
    count = options.get("n") or options.get("lines") or options.get("c") or options.get("bytes") or str(default)
    if not re.fullmatch(r"[-+]?\d+[kKmM]?", count):
        raise CommandError(f"invalid number '{count}'")
    return options, operands, count


def _size(count: str) -> int:
    factor = {"k": 1024, "m": 2**20}.get(count[-1:].lower(), 1)
    return int(count.rstrip("kKmM")) * factor


@command("head")
async def head(call: Call) -> int:
    options, operands, count = _count(call, 10)
    in_bytes = "c" in options or "bytes" in options
    status = 0
    for index, name in enumerate(operands or ["-"]):
        try:
            stream = call.stdin if name == "-" else await call.open(name)
        except OSError as error:
            call.complain(
                f"{name}: {error.strerror}" if "No such" not in str(error) else _cannot_open(call, name, error)
            )
            status = 1
            continue
        if len(operands) > 1 and "q" not in options:
            call.print(f"{'' if index == 0 else chr(10)}==> {name} <==")
        number = _size(count)
        if number < 0:
            pieces = await stream.read()
            lines = pieces.splitlines(keepends=True)
            call.out.write(pieces[:number] if in_bytes else b"".join(lines[:number]))
        elif in_bytes:
            while number > 0 and (chunk := await stream.read(number)):
                call.out.write(chunk)
                number -= len(chunk)
        else:
            while number > 0 and (line := await stream.readline()):
                call.out.write(line)
                number -= 1
    return status


def _cannot_open(call: Call, name: str, error: OSError) -> str:
    return f"cannot open '{name}' for reading: {error.strerror}"


@command("tail")
async def tail(call: Call) -> int:
    options, operands, count = _count(call, 10)
    in_bytes = "c" in options or "bytes" in options
    status = 0
    for index, name in enumerate(operands or ["-"]):
        try:
            stream = call.stdin if name == "-" else await call.open(name)
            data = await stream.read()
        except OSError as error:
            call.complain(_cannot_open(call, name, error))
            status = 1
            continue
        if len(operands) > 1 and "q" not in options:
            call.print(f"{'' if index == 0 else chr(10)}==> {name} <==")
        pieces = data if in_bytes else data.splitlines(keepends=True)
        number = abs(_size(count))
        kept = (
            pieces[number - 1 :]
            if count.startswith("+") and number
            else pieces[len(pieces) - min(number, len(pieces)) :]
        )
        call.out.write(kept if isinstance(kept, bytes) else b"".join(kept))
    retried = "F" in options or "retry" in options
    if operands and (retried or (not status and {"f", "follow"} & options.keys())):
        await _follow(call, operands[-1])
    return status


async def _follow(call: Call, name: str) -> None:
    """Print what is added to the file, until killed."""
    path = call.path(name)
    seen = len(call.files.content(path)) if call.files.is_file(path) else 0
    while True:
        await call.out.drain()
        await call.services.clock.sleep(_FOLLOW_S)
        content = call.files.content(path) if call.files.is_file(path) else b""
        seen = 0 if len(content) < seen else seen
        call.out.write(content[seen:])
        seen = len(content)


@command("tee")
async def tee(call: Call) -> int:
    options, operands = call.options("ai")
    outputs: list[Writer] = [call.out]
    for name in operands:
        streams: Descriptors = {1: call.out, 2: call.err}
        outputs.append(await open_to_write(call.path(name), call.files, streams, append="a" in options))
    while chunk := await call.stdin.read(64 * 1024):
        for out in outputs:
            out.write(chunk)
            await out.drain()
    return 0


@command("wc")
async def wc(call: Call) -> int:
    options, operands = call.options("lwcmL", ["lines", "words", "bytes", "chars"])
    short = {"lines": "l", "words": "w", "bytes": "c", "chars": "m"}
    wanted = {short.get(name, name) for name in options} or {"l", "w", "c"}
    rows: list[tuple[dict[str, int], str]] = []
    inputs = await call.input(operands)
    for name, data in inputs:
        longest = max((len(line) for line in data.decode("utf-8", "replace").split("\n")), default=0)
        counts = {
            "l": data.count(b"\n"), "w": len(data.split()), "m": len(data.decode("utf-8", "replace")),
            "c": len(data), "L": longest,
        }  # fmt: skip
        rows.append((counts, "" if name == "-" and not operands else name))
    if len(rows) > 1:
        rows.append(({key: sum(row[key] for row, _ in rows) for key in "lwmcL"}, "total"))
    single = len(wanted) == 1 and len(rows) == 1
    width = 0 if single else max([len(str(n)) for row, _ in rows for n in row.values()] + [7 if not operands else 1])
    for counts, name in rows:
        numbers = " ".join(f"{counts[key]:>{width}}" for key in "lwmcL" if key in wanted)
        call.print(f"{numbers} {name}".rstrip())
    return 0 if len(inputs) == len(operands or ["-"]) else 1
