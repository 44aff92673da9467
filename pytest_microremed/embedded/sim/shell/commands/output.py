"""echo, printf, true, false, yes, seq, test: what shells have built in, and other small ones."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from pytest_microremed.embedded.sim.shell import processes
from pytest_microremed.embedded.sim.shell.dialect import speaks_dash
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.streams import Null

_ESCAPES = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "e": "\x1b",
}


def unescape(text: str, *, octal_needs_zero: bool = False) -> tuple[str, bool]:
    r"""Replace `\n`, `\t`, `\0101`, `\x41` …; the second value tells that a `\c` ended the output."""
    result, index = "", 0
    octal = re.compile(r"\\0[0-7]{0,3}" if octal_needs_zero else r"\\[0-7]{1,3}")
    hexadecimal = re.compile(r"\\x[0-9a-fA-F]{1,2}")
    while index < len(text):
        char = text[index]
        following = text[index + 1 : index + 2]
        if char != "\\" or not following:
            result += char
            index += 1
        elif following == "c":
            return result, True
        elif number := octal.match(text, index):
            result += chr(int(number[0][1:] or "0", 8) & 255)
            index = number.end()
        elif number := hexadecimal.match(text, index):
            result += chr(int(number[0][2:], 16))
            index = number.end()
        else:
            result += _ESCAPES.get(following, "\\" + following)
            index += 2
    return result, False


@command("echo")
async def echo(call: Call) -> int:
    """Dash interprets escapes always and knows only -n; busybox and bash want -e."""
    words = list(call.args[1:])
    newline, escapes = True, speaks_dash(call.container)
    letters = "n" if escapes else "neE"
    while words and re.fullmatch(f"-[{letters}]+", words[0]):
        for letter in words.pop(0)[1:]:
            newline = newline and letter != "n"
            escapes = (escapes or letter == "e") and letter != "E"
    text = " ".join(words)
    if escapes:
        text, ended = unescape(text, octal_needs_zero=True)
        newline = newline and not ended
    call.print(text, end="\n" if newline else "")
    return 0


@command("printf")
async def printf(call: Call) -> int:
    if len(call.args) < 2:
        raise CommandError("usage: printf format [arg ...]", 2)
    words = list(call.args[1:])
    if words[0] == "--" and len(words) > 1:
        words.pop(0)
    form, arguments = words[0], words[1:]
    status = 0
    while True:
        before = len(arguments)
        text, ended, failed = _formatted(call, form, arguments)
        call.print(text, end="")
        status = status or failed
        if ended or not arguments or len(arguments) == before:
            return status


_DIRECTIVE = re.compile(r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d+)?)?(?P<type>[a-zA-Z%])")


def _formatted(call: Call, form: str, arguments: list[str]) -> tuple[str, bool, int]:
    """One pass of the format over the arguments, which are used up."""
    result, index, status = "", 0, 0
    while index < len(form):
        if form[index] == "%":
            directive = _DIRECTIVE.match(form, index)
            if directive is None:
                call.complain(f"%{form[index + 1 : index + 2]}: invalid directive")
                return result, True, 1
            index = directive.end()
            if directive["type"] == "%":
                result += "%"
                continue
            try:
                piece, ended = _converted(directive, arguments)
            except ValueError as error:
                call.complain(str(error))
                piece, ended, status = _converted(directive, ["0"])[0], False, 1
            result += piece
            if ended:
                return result, True, status
        else:
            end = form.find("%", index)
            piece, ended = unescape(form[index : end if end >= 0 else len(form)])
            result += piece
            if ended:
                return result, True, status
            index = end if end >= 0 else len(form)
    return result, False, status


def _converted(directive: re.Match[str], arguments: list[str]) -> tuple[str, bool]:
    flags, kind = directive["flags"], directive["type"]
    width, precision = directive["width"] or "", directive["precision"]
    has_precision = "." in directive[0]
    if width == "*":
        width = str(_integer(arguments.pop(0) if arguments else "0"))
    if precision == "*":
        precision = str(_integer(arguments.pop(0) if arguments else "0"))
    argument = arguments.pop(0) if arguments else ""
    shape = f"%{flags}{width}" + (f".{precision or 0}" if has_precision else "")
    if kind in "sb":
        text, ended = unescape(argument, octal_needs_zero=True) if kind == "b" else (argument, False)
        return (shape + "s") % text, ended
    if kind == "c":
        return f"%{flags}{width}s" % argument[:1], False
    if kind in "diuoxX":
        number = _integer(argument)
        if kind in "uoxX" and number < 0:
            number += 2**64
        return (shape + ("d" if kind in "iu" else kind)) % number, False
    if kind in "eEfFgG":
        try:
            return (shape + kind) % float(argument or 0), False
        except ValueError:
            raise ValueError(f"{argument}: expected numeric value") from None
    raise CommandError(f"%{kind}: invalid directive")


def _integer(text: str) -> int:
    text = text.strip()
    if text[:1] in ("'", '"'):
        return ord(text[1]) if len(text) > 1 else 0
    if not text:
        return 0
    match = re.fullmatch(r"([-+]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9]\d*)", text)
    if match is None:
        raise ValueError(f"{text}: expected numeric value")
    base = 16 if match[2][:2] in ("0x", "0X") else 8 if match[2].startswith("0") and len(match[2]) > 1 else 10
    value = int(match[2], base)
    return -value if match[1] == "-" else value


@command("true")
async def true(call: Call) -> int:
    return 0


@command("false")
async def false(call: Call) -> int:
    return 1


@command("yes")
async def yes(call: Call) -> int:
    if isinstance(call.out, Null):
        await processes.spin(call.container, call.process)
    line = " ".join(call.args[1:]) or "y"
    while True:
        for _ in range(512):
            call.print(line)
        await call.out.drain()
        await call.services.clock.sleep(0.001)


@command("seq")
async def seq(call: Call) -> int:
    words, flags = list(call.args[1:]), ""
    separator = "\n"
    while words and re.match(r"-[a-z-]", words[0]):
        flag = words.pop(0)
        flags += flag[1:2]
        if flag.startswith("-s"):
            separator = flag[2:] or (words.pop(0) if words else "")
    try:
        numbers = [Decimal(word) for word in words]
    except InvalidOperation:
        raise CommandError(f"invalid floating point argument: '{words[-1]}'") from None
    if not 1 <= len(numbers) <= 3:
        raise CommandError("missing operand" if not numbers else f"extra operand '{words[3]}'")
    first, step = (
        (numbers[0] if len(numbers) > 1 else Decimal(1)),
        (numbers[1] if len(numbers) == 3 else Decimal(1)),
    )
    if not step:
        raise CommandError("invalid Zero increment value: '0'")
    values: list[str] = []
    while (first <= numbers[-1] if step > 0 else first >= numbers[-1]) and len(values) < 1_000_000:
        values.append(str(first))
        first += step
    width = max(map(len, values), default=0) if "w" in flags else 0
    if values:
        call.print(separator.join(value.zfill(width) for value in values))
    return 0
