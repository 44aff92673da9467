"""cut, sort, uniq, tr, paste, rev, nl, tac, column: lines and their fields."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_microremed.embedded.sim.shell.commands.output import unescape
from pytest_microremed.embedded.sim.shell.pattern import CLASSES
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command


async def lines_of(call: Call, operands: list[str]) -> list[str]:
    """All lines of the inputs, without newlines."""
    texts = [data.decode("utf-8", "surrogateescape") for _, data in await call.input(operands)]
    return [line for text in texts for line in text.removesuffix("\n").split("\n") if text]


@command("cut")
async def cut(call: Call) -> int:
    options, operands = call.options(
        "d:f:c:b:sn", ["delimiter=", "fields=", "characters=", "output-delimiter=", "complement"]
    )
    fields = options.get("f") or options.get("fields")
    positions = options.get("c") or options.get("characters") or options.get("b")
    if fields is None and positions is None:
        raise CommandError("you must specify a list of bytes, characters, or fields")
    delimiter = options.get("d") or options.get("delimiter") or "\t"
    joiner = options.get("output-delimiter", delimiter)
    chosen = _ranges(fields or positions or "")
    for line in await lines_of(call, operands):
        if positions is not None:
            call.print("".join(char for index, char in enumerate(line, 1) if chosen(index)))
        elif delimiter in line:
            parts = line.split(delimiter)
            call.print(
                joiner.join(part for index, part in enumerate(parts, 1) if chosen(index) != ("complement" in options))
            )
        elif "s" not in options:
            call.print(line)
    return 0


def _ranges(text: str) -> Callable[[int], bool]:
    spans = []
    for part in text.split(","):
        match = re.fullmatch(r"(\d*)(-?)(\d*)", part)
        if match is None or not part or part == "-" or part == "0":
            raise CommandError(f"invalid field value '{part}'")
        first = int(match[1] or 1)
        last = int(match[3]) if match[3] else (10**9 if match[2] else first)
        spans.append((first, last))
    return lambda index: any(first <= index <= last for first, last in spans)


@command("sort")
async def sort(call: Call) -> int:
    pairs, operands = call.option_pairs(
        "nrufhgbMVszck:t:o:T:S:", ["numeric-sort", "reverse", "unique", "key=", "field-separator="]
    )
    names = {"numeric-sort": "n", "reverse": "r", "unique": "u", "key": "k", "field-separator": "t"}
    options = {names.get(name, name): value for name, value in pairs}
    keys = [value for name, value in pairs if names.get(name, name) == "k"]
    lines = await lines_of(call, operands)
    separator = options.get("t")
    flags = "".join(name for name in options if name in "nrfhgbMV")
    orders = [_key(key, separator, flags) for key in keys] or [(_whole(flags), "r" in flags)]
    if "s" not in options:
        lines.sort(reverse="r" in flags)
    for order, backwards in reversed(orders):
        lines.sort(key=order, reverse=backwards)  # type: ignore[arg-type]
    if "u" in options:
        seen: set[object] = set()
        unique = []
        for line in lines:
            value = tuple(str(order(line)) for order, _ in orders)
            if value not in seen:
                seen.add(value)
                unique.append(line)
        lines = unique
    text = "".join(line + "\n" for line in lines)
    if "o" in options:
        await call.files.write(call.path(options["o"]), text.encode("utf-8", "surrogateescape"))
    else:
        call.print(text, end="")
    return 0


def _whole(flags: str) -> Callable[[str], object]:
    return lambda line: _value(line, flags)


def _key(key: str, separator: str | None, flags: str) -> tuple[Callable[[str], object], bool]:
    match = re.fullmatch(r"(\d+)(?:\.(\d+))?([a-zA-Z]*)(?:,(\d+)(?:\.(\d+))?([a-zA-Z]*))?", key)
    if match is None or match[1] == "0":
        raise CommandError(f"invalid number at field start: invalid count at start of '{key}'")
    own = match[3] + (match[6] or "") or flags
    first, last = int(match[1]) - 1, int(match[4]) if match[4] else None
    offset = int(match[2] or 1) - 1

    def value(line: str) -> object:
        fields = line.split(separator) if separator else re.findall(r"\s*\S+", line)
        return _value((separator or "").join(fields[first:last])[offset:], own)

    return value, "r" in own


def _value(text: str, flags: str) -> object:
    if "h" in flags:
        match = re.match(r"\s*([-+]?[\d.]+)([KMGTPkmgtp]?)", text)
        return (float(match[1]) * 1024 ** " KMGTP".index(match[2].upper() or " "),) if match else (0.0,)
    if "n" in flags or "g" in flags:
        match = re.match(r"\s*([-+]?\d+\.?\d*(?:[eE][-+]?\d+)?|[-+]?\.\d+)", text)
        return (float(match[1]),) if match else (0.0,)
    if "V" in flags:
        return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.findall(r"\d+|\D+", text))
    text = text.lstrip() if "b" in flags else text
    return (text.upper(),) if "f" in flags else (text,)


@command("uniq")
async def uniq(call: Call) -> int:
    options, operands = call.options("cdiuf:s:w:", ["count", "repeated", "ignore-case", "unique"])
    counted = "c" in options or "count" in options
    repeated, single = "d" in options or "repeated" in options, "u" in options or "unique" in options
    ignore_case = "i" in options or "ignore-case" in options
    groups: list[tuple[str, int]] = []
    previous: str | None = None
    for line in await lines_of(call, operands[:1]):
        value = line.lower() if ignore_case else line
        if "f" in options:
            value = " ".join(value.split()[int(options["f"]) :])
        if groups and value == previous:
            groups[-1] = (groups[-1][0], groups[-1][1] + 1)
        else:
            groups.append((line, 1))
        previous = value
    for line, count in groups:
        if (repeated and count < 2) or (single and count > 1):
            continue
        call.print(f"{count:>7} {line}" if counted else line)
    return 0


@command("tr")
async def tr(call: Call) -> int:
    options, operands = call.options("cCdst", ["complement", "delete", "squeeze-repeats"])
    complement = bool({"c", "C", "complement"} & options.keys())
    delete, squeeze = "d" in options or "delete" in options, "s" in options or "squeeze-repeats" in options
    if not operands or (len(operands) < 2 and not delete and not squeeze):
        raise CommandError("missing operand")
    first = _characters(operands[0])
    second = _characters(operands[1]) if len(operands) > 1 else ""
    text = (await call.stdin.read()).decode("latin-1")
    if complement:
        first = "".join(chr(code) for code in range(256) if chr(code) not in first)
    if delete:
        text = "".join(char for char in text if char not in first)
    elif second:
        padded = second + second[-1] * (len(first) - len(second))
        text = text.translate({ord(a): b for a, b in zip(reversed(first), reversed(padded[: len(first)]), strict=True)})
    if squeeze:
        squeezed = second or first
        text = re.sub(f"([{re.escape(squeezed)}])\\1+", r"\1", text) if squeezed else text
    call.out.write(text.encode("latin-1"))
    return 0


def _characters(text: str) -> str:
    """A set such as `a-z`, `[:upper:]` or `\\n`, written out."""
    text = re.sub(
        r"\[:(\w+):\]",
        lambda match: "".join(
            chr(c) for c in range(256) if re.match(f"[{CLASSES.get(match[1], '')}]", chr(c), re.ASCII)
        ),
        text,
    )
    text, _ = unescape(text)
    return re.sub(
        r"(.)-(.)",
        lambda match: "".join(chr(c) for c in range(ord(match[1]), ord(match[2]) + 1)),
        text,
        flags=re.DOTALL,
    )


@command("paste")
async def paste(call: Call) -> int:
    options, operands = call.options("sd:")
    joiner = unescape(options.get("d", "\t"))[0]
    if "s" in options:
        for operand in operands or ["-"]:
            call.print(joiner.join(await lines_of(call, [operand])))
        return 0
    columns = [await lines_of(call, [operand]) for operand in operands]
    for index in range(max(map(len, columns), default=0)):
        call.print(joiner.join(column[index] if index < len(column) else "" for column in columns))
    return 0


@command("rev")
async def rev(call: Call) -> int:
    for line in await lines_of(call, list(call.args[1:])):
        call.print(line[::-1])
    return 0


@command("tac")
async def tac(call: Call) -> int:
    for line in reversed(await lines_of(call, list(call.args[1:]))):
        call.print(line)
    return 0


@command("nl")
async def nl(call: Call) -> int:
    _, operands = call.options("b:w:s:n:")
    number = 0
    for line in await lines_of(call, operands):
        number += bool(line)
        call.print(f"{number:>6}\t{line}" if line else "")
    return 0


@command("column")
async def column(call: Call) -> int:
    options, operands = call.options("ts:o:")
    rows = [line.split(options.get("s")) for line in await lines_of(call, operands) if line.strip()]
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(max(map(len, rows), default=0))]
    for row in rows:
        call.print("  ".join(f"{cell:<{widths[i]}}" for i, cell in enumerate(row)).rstrip())
    return 0
