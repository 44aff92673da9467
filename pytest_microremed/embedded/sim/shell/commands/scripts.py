"""xargs, env, printenv, which, basename, dirname, expr, tput: helpers of scripts."""

from __future__ import annotations

import posixpath
import shlex

from pytest_microremed.embedded.sim.shell import image_files, registry
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_FAILED = 123


@command("xargs")
async def xargs(call: Call) -> int:
    words = list(call.args[1:])
    per_run, replace, lines_only, skip_empty, zero = 0, "", False, False, False
    delimiter = ""
    while words and words[0].startswith("-") and len(words[0]) > 1:
        flag = words.pop(0)
        letter, attached = flag[1], flag[2:]
        if letter in "nLPsdIia" and not flag.startswith("--"):
            value = attached or ("{}" if letter == "i" else words.pop(0) if words else "")
            if letter in "nL":
                per_run = int(value) if value.isdigit() else 1
                lines_only = lines_only or letter == "L"
            elif letter in "Ii":
                replace, lines_only = value, True
            elif letter == "d":
                delimiter = value.replace("\\n", "\n").replace("\\0", "\0")
        else:
            skip_empty = skip_empty or flag in ("-r", "--no-run-if-empty") or (letter != "-" and "r" in flag)
            zero = zero or flag in ("-0", "--null") or (letter != "-" and "0" in flag)
    text = (await call.stdin.read()).decode("utf-8", "surrogateescape")
    if zero or delimiter:
        items = [item for item in text.split("\0" if zero else delimiter) if item.strip("\n")]
    elif lines_only:
        items = [line.strip() for line in text.split("\n") if line.strip()]
    else:
        try:
            items = shlex.split(text)
        except ValueError:
            raise CommandError("unmatched single quote; by default quotes are special to xargs") from None
    command_words = words or ["echo"]
    if not items and (skip_empty or replace):
        return 0
    if replace:
        runs = [[word.replace(replace, item) for word in command_words] for item in items]
    elif per_run:
        runs = [[*command_words, *items[i : i + per_run]] for i in range(0, len(items), per_run)]
    else:
        runs = [[*command_words, *items]]
    status = 0
    for run in runs:
        code = await call.run(run, None, None)
        if code in (126, 127):
            return code
        status = _FAILED if code else status
    return status


@command("env", "printenv")
async def env(call: Call) -> int:
    words = list(call.args[1:])
    if call.name == "printenv":
        names = [word for word in words if not word.startswith("-")]
        if not names:
            return _print_environment(call, dict(call.env))
        for name in names:
            if name in call.env:
                call.print(call.env[name])
        return 0 if all(name in call.env for name in names) else 1
    environment = dict(call.env)
    while words and (words[0].startswith("-") or "=" in words[0]):
        word = words.pop(0)
        if word in ("-i", "--ignore-environment", "-"):
            environment = {}
        elif word in ("-u", "--unset") and words:
            environment.pop(words.pop(0), None)
        elif "=" in word and not word.startswith("-"):
            name, _, value = word.partition("=")
            environment[name] = value
    if not words:
        return _print_environment(call, environment)
    return await call.run(words, call.stdin, None, environment)


def _print_environment(call: Call, environment: dict[str, str]) -> int:
    for name, value in environment.items():
        call.print(f"{name}={value}")
    return 0


@command("which")
async def which(call: Call) -> int:
    status = 0
    for name in call.args[1:]:
        if name.startswith("-"):
            continue
        base = posixpath.basename(name)
        if registry.installed(base, call.container):
            call.print(name if "/" in name else image_files.tool_path(base))
        else:
            status = 1
    return status


@command("basename")
async def basename(call: Call) -> int:
    if len(call.args) < 2:
        raise CommandError("missing operand")
    name = posixpath.basename(call.args[1].rstrip("/")) or "/"
    suffix = call.args[2] if len(call.args) > 2 else ""
    call.print(name.removesuffix(suffix) if suffix and name != suffix else name)
    return 0


@command("dirname")
async def dirname(call: Call) -> int:
    for name in call.args[1:]:
        call.print(posixpath.dirname(name.rstrip("/")) or ("/" if name.startswith("/") else "."))
    return 0


@command("readlink", "realpath")
async def readlink(call: Call) -> int:
    status = 0
    for name in [word for word in call.args[1:] if not word.startswith("-")]:
        path = call.path(name)
        if path.startswith("/proc/") and path.endswith("/exe"):
            process = call.container.processes.get(int(path.split("/")[2])) if path.split("/")[2].isdigit() else None
            status = 0 if process else 1
            if process:
                call.print(process.command[0])
        elif call.name == "realpath" or "-f" in call.args:
            call.print(path)
        else:
            status = 1
    return status


@command("expr")
async def expr(call: Call) -> int:
    value = _expression(list(call.args[1:]))
    call.print(value)
    return 1 if value in ("", "0") else 0


def _expression(words: list[str]) -> str:
    """POSIX expr: left to right by precedence, arithmetic and comparisons."""
    if not words:
        raise CommandError("missing operand", 2)
    if len(words) == 1:
        return words[0]
    if words[0] == "length" and len(words) == 2:
        return str(len(words[1]))
    for operators in (("|",), ("&",), ("=", "==", "!=", "<", "<=", ">", ">="), ("+", "-"), ("*", "/", "%")):
        for index in range(len(words) - 2, 0, -1):
            if words[index] in operators:
                return _operation(_expression(words[:index]), words[index], _expression(words[index + 1 :]))
    raise CommandError("syntax error", 2)


def _operation(left: str, operator: str, right: str) -> str:
    if operator == "|":
        return left if left not in ("", "0") else right
    if operator == "&":
        return left if left not in ("", "0") and right not in ("", "0") else "0"
    try:
        a, b = int(left), int(right)
    except ValueError:
        if operator in ("+", "-", "*", "/", "%"):
            raise CommandError("non-integer argument", 2) from None
        return str(int(_compared(left, operator, right)))
    if operator in ("/", "%"):
        if b == 0:
            raise CommandError("division by zero", 2)
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return str(quotient if operator == "/" else a - b * quotient)
    if operator in ("+", "-", "*"):
        return str({"+": a + b, "-": a - b, "*": a * b}[operator])
    return str(int(_compared(a, operator, b)))


def _compared(left: int | str, operator: str, right: int | str) -> bool:
    order = (left > right) - (left < right)  # type: ignore[operator]
    return {"=": not order, "==": not order, "!=": bool(order), "<": order < 0, "<=": order <= 0, ">": order > 0,
            ">=": order >= 0}[operator]  # fmt: skip
