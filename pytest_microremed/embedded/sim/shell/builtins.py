"""Commands that act on the shell itself (POSIX 2.14 "Special Built-In Utilities" and some of 2.9.1's others)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, TypeAlias

from pytest_microremed.embedded.sim.shell import image_files, registry
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, reader, writer
from pytest_microremed.embedded.sim.shell.expansion import ExpansionError
from pytest_microremed.embedded.sim.shell.parser import parse

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.shell.interpreter import Shell

Builtin: TypeAlias = "Callable[[Shell, list[str], Descriptors], Awaitable[int]]"

SPECIAL = frozenset({":", "eval", "exec", "exit", "export", "readonly", "return", "set", "shift", "unset", "trap", "."})
WITHOUT_PROCESS = frozenset({"echo", "printf", "test", "[", "true", "false", "kill", "pwd"})
"""Ordinary commands that shells have built in: they run without a process of their own."""
_BUILTINS: dict[str, Builtin] = {}


def find(name: str) -> Builtin | None:
    return _BUILTINS.get(name)


def _builtin(*names: str) -> Callable[[Builtin], Builtin]:
    def register(function: Builtin) -> Builtin:
        for name in names:
            _BUILTINS[name] = function
        return function

    return register


def _say(descriptors: Descriptors, text: str) -> None:
    writer(descriptors, 1).write((text + "\n").encode("utf-8", "surrogateescape"))


def _number(words: list[str], default: int) -> int:
    if len(words) < 2:
        return default
    if not words[1].lstrip("-").isdigit():
        raise ExpansionError(f"{words[0]}: Illegal number: {words[1]}")
    return int(words[1])


@_builtin(":", "umask", "ulimit", "alias", "unalias", "hash", "times", "fg", "bg", "disown", "shopt")
async def _nothing(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    return 0


@_builtin("cd")
async def _cd(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    target = words[1] if len(words) > 1 else shell.variables.get("HOME", "/")
    if target == "-":
        target = shell.variables.get("OLDPWD", shell.cwd)
        _say(descriptors, target)
    path = shell.files.absolute(target, shell.cwd)
    if not shell.files.is_directory(path):
        shell.diagnose(f"cd: can't cd to {target}: No such file or directory", descriptors)
        return 2
    shell.variables["OLDPWD"], shell.cwd = shell.cwd, path
    shell.variables["PWD"] = path
    return 0


@_builtin("export", "readonly", "local", "declare", "typeset")
async def _declare(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    operands = [word for word in words[1:] if not word.startswith("-")]
    if not operands and words[0] == "export":
        for name, value in sorted(shell.variables.environment().items()):
            _say(descriptors, f"export {name}='{value}'")
    for operand in operands:
        name, given, value = operand.partition("=")
        if not name.isidentifier():
            raise ExpansionError(f"{words[0]}: {name}: bad variable name")
        if given:
            shell.variables[name] = value
        if words[0] == "export" or "-x" in words:
            shell.variables.exported.add(name)
        if words[0] == "readonly":
            shell.variables.read_only.add(name)
    return 0


@_builtin("unset")
async def _unset(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    functions = "-f" in words
    for name in words[1:]:
        if functions:
            shell.functions.pop(name, None)
        elif name in shell.variables.read_only:
            raise ExpansionError(f"unset: {name}: is read only")
        else:
            shell.variables.assigned.pop(name, None)
            shell.variables.exported.discard(name)
    return 0


@_builtin("set")
async def _set(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    if len(words) == 1:
        for name, value in sorted(shell.variables.items()):
            _say(descriptors, f"{name}='{value}'")
        return 0
    rest = words[1:]
    while rest and rest[0][:1] in "-+" and len(rest[0]) > 1:
        flag = rest.pop(0)
        if flag == "--":
            shell.arguments = [shell.arguments[0], *rest]
            return 0
        on = flag[0] == "-"
        for letter in flag[1:]:
            if letter == "o":
                name = rest.pop(0) if rest else ""
                if not set_option(shell, name, on):
                    raise ExpansionError(f"set: Illegal option -o {name}")
            elif not set_option(shell, letter, on):
                raise ExpansionError(f"set: Illegal option -{letter}")
    if rest:
        shell.arguments = [shell.arguments[0], *rest]
    return 0


def set_option(shell: Shell, name: str, on: bool) -> bool:
    """Switch an option by letter or name; False if there is no such option."""
    known = {"e": "errexit", "u": "nounset", "f": "noglob", "x": "xtrace"}
    accepted = {
        "m",
        "monitor",
        "n",
        "v",
        "verbose",
        "h",
        "b",
        "notify",
        "posix",
        "a",
        "allexport",
        "E",
        "errtrace",
    }
    full = known.get(name, name)
    if full in ("errexit", "nounset", "noglob", "xtrace", "pipefail"):
        setattr(shell.options, full, on)
        return True
    return name in accepted


@_builtin("shift")
async def _shift(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    count = _number(words, 1)
    if count > len(shell.arguments) - 1:
        raise ExpansionError("shift: can't shift that many")
    del shell.arguments[1 : 1 + count]
    return 0


@_builtin("exit")
async def _exit(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    from pytest_microremed.embedded.sim.shell.interpreter import Exit

    raise Exit(_number(words, shell.status) & 255)


@_builtin("return")
async def _return(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    from pytest_microremed.embedded.sim.shell.interpreter import Return

    raise Return(_number(words, shell.status) & 255)


@_builtin("break", "continue")
async def _leave(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    from pytest_microremed.embedded.sim.shell.interpreter import LoopControl

    levels = _number(words, 1)
    if levels < 1:
        raise ExpansionError(f"{words[0]}: Illegal number: {levels}")
    if shell.loops == 0:
        return 0
    raise LoopControl(levels, again=words[0] == "continue")


@_builtin("eval")
async def _eval(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    shell.status = 0
    return await shell.execute(parse(" ".join(words[1:])), descriptors)


@_builtin(".", "source")
async def _source(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    from pytest_microremed.embedded.sim.shell.interpreter import Return

    if len(words) < 2:
        raise ExpansionError(f"{words[0]}: filename argument required")
    path = shell.files.absolute(words[1], shell.cwd)
    if not shell.files.is_file(path):
        raise ExpansionError(f"{words[0]}: can't open '{words[1]}': No such file or directory")
    text = (await shell.files.read(path)).decode("utf-8", "surrogateescape")
    try:
        return await shell.execute(parse(text), descriptors)
    except Return as request:
        return request.code


@_builtin("exec")
async def _exec(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    from pytest_microremed.embedded.sim.shell.execution import execute
    from pytest_microremed.embedded.sim.shell.interpreter import Exit

    if len(words) == 1:
        return 0  # the redirections stay: `launch.simple` sees to it
    shell.process.command = tuple(words[1:])
    env = shell.variables.environment()
    raise Exit(await execute(words[1:], descriptors, env, shell.cwd, shell.files, shell.process))


@_builtin("read")
async def _read(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    names, raw, index = [], False, 1
    while index < len(words):
        if words[index].startswith("-") and len(words[index]) > 1:
            raw = raw or "r" in words[index]
            index += 1 + (words[index][-1] in "tpnd")
            continue
        names.append(words[index])
        index += 1
    line = (await reader(descriptors, 0).readline()).decode("utf-8", "surrogateescape")
    while not raw and line.endswith("\\\n"):
        line = line[:-2] + (await reader(descriptors, 0).readline()).decode("utf-8", "surrogateescape")
    complete = line.endswith("\n")
    text = line.rstrip("\n")
    if not raw:
        text = "".join(_without_backslashes(text))
    separators = shell.variables.get("IFS", " \t\n")
    for name, value in zip(names or ["REPLY"], _fields(text, len(names or [""]), separators), strict=True):
        shell.variables[name] = value
    return 0 if complete else 1


def _without_backslashes(text: str) -> list[str]:
    kept, escaped = [], False
    for char in text:
        if char == "\\" and not escaped:
            escaped = True
            continue
        kept.append(char)
        escaped = False
    return kept


def _fields(text: str, count: int, separators: str) -> list[str]:
    """The line cut into so many fields; the last one takes the rest."""
    blanks = "".join(char for char in separators if char in " \t\n")
    fields = []
    text = text.strip(blanks) if blanks else text
    for _ in range(count - 1):
        end = next((i for i, char in enumerate(text) if char in separators), len(text))
        fields.append(text[:end])
        rest = text[end:].lstrip(blanks) if blanks else text[end:]
        if rest[:1] and rest[0] in separators:
            rest = rest[1:].lstrip(blanks) if blanks else rest[1:]
        text = rest
    return [*fields, text]


@_builtin("trap")
async def _trap(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    if len(words) < 3:
        return 0
    for signal in words[2:]:
        name = "EXIT" if signal in ("0", "EXIT") else signal.removeprefix("SIG")
        if words[1] in ("-", ""):
            shell.traps.pop(name, None)
        else:
            shell.traps[name] = words[1]
    return 0


@_builtin("wait")
async def _wait(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    if len(words) == 1:
        await asyncio.gather(*shell.jobs.values(), return_exceptions=True)
        return 0
    status = 0
    for word in words[1:]:
        job = shell.jobs.get(int(word)) if word.isdigit() else None
        status = 127 if job is None else await asyncio.shield(job)
    return status


@_builtin("jobs")
async def _jobs(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    running = [pid for pid, job in shell.jobs.items() if not job.done()]
    for number, pid in enumerate(running, 1):
        process = shell.files.container.processes.get(pid)
        if process is not None:
            shown = str(pid) if "-p" in words else f"[{number}]   Running                 {' '.join(process.command)}"
            _say(descriptors, shown)
    return 0


@_builtin("type", "command")
async def _type(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    if words[0] == "command" and len(words) > 1 and words[1] not in ("-v", "-V"):
        from pytest_microremed.embedded.sim.shell import launch

        return await launch.run_named(shell, words[1:], descriptors)
    status = 0
    for name in words[1:]:
        if name in ("-v", "-V"):
            continue
        short = words[0] == "command" and "-v" in words
        where = _meaning(shell, name)
        if where is None:
            status = 127
            if not short:
                _say(descriptors, f"{name}: not found")
        else:
            _say(descriptors, where.split(" is ")[-1].replace("a shell builtin", name) if short else where)
    return status


def _meaning(shell: Shell, name: str) -> str | None:
    if name in shell.functions:
        return f"{name} is a function"
    if name in _BUILTINS or (name in WITHOUT_PROCESS and registry.installed(name, shell.files.container)):
        return f"{name} is a shell builtin"
    if registry.installed(name, shell.files.container):
        return f"{name} is {image_files.tool_path(name)}"
    return None


@_builtin("getopts")
async def _getopts(shell: Shell, words: list[str], descriptors: Descriptors) -> int:
    if len(words) < 3:
        raise ExpansionError("getopts: usage: getopts optstring name [arg ...]")
    arguments = words[3:] or shell.arguments[1:]
    index = int(shell.variables.get("OPTIND", "1")) - 1
    if index >= len(arguments) or not arguments[index].startswith("-") or arguments[index] == "-":
        shell.variables[words[2]] = "?"
        return 1
    letter = arguments[index][1]
    shell.variables["OPTIND"] = str(index + 2)
    position = words[1].find(letter)
    if position < 0:
        shell.variables[words[2]] = "?"
        shell.diagnose(f"Illegal option -{letter}", descriptors)
        return 0
    shell.variables[words[2]] = letter
    if words[1][position + 1 : position + 2] == ":":
        attached = arguments[index][2:]
        shell.variables["OPTARG"] = attached or (arguments[index + 1] if index + 1 < len(arguments) else "")
        shell.variables["OPTIND"] = str(index + (2 if attached else 3))
    return 0
