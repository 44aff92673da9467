"""cd, export, unset, set, shift, read, getopts: variables, arguments and options of the shell."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell.builtins.registry import builtin, number, say
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors, reader
from pytest_microremed.embedded.sim.shell.expansion import ExpansionError
from pytest_microremed.embedded.sim.shell.state import ShellState


@builtin("cd")
async def _cd(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    target = words[1] if len(words) > 1 else shell.variables.get("HOME", "/")
    if target == "-":
        target = shell.variables.get("OLDPWD", shell.cwd)
        say(descriptors, target)
    path = shell.files.absolute(target, shell.cwd)
    if not shell.files.is_directory(path):
        shell.diagnose(f"cd: can't cd to {target}: No such file or directory", descriptors)
        return 2
    shell.variables["OLDPWD"], shell.cwd = shell.cwd, path
    shell.variables["PWD"] = path
    return 0


@builtin("export", "readonly", "local", "declare", "typeset")
async def _declare(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    operands = [word for word in words[1:] if not word.startswith("-")]
    if not operands and words[0] == "export":
        for name, value in sorted(shell.variables.environment().items()):
            say(descriptors, f"export {name}='{value}'")
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


@builtin("unset")
async def _unset(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
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


@builtin("set")
async def _set(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    if len(words) == 1:
        for name, value in sorted(shell.variables.items()):
            say(descriptors, f"{name}='{value}'")
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


def set_option(shell: ShellState, name: str, on: bool) -> bool:
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


@builtin("shift")
async def _shift(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
    count = number(words, 1)
    if count > len(shell.arguments) - 1:
        raise ExpansionError("shift: can't shift that many")
    del shell.arguments[1 : 1 + count]
    return 0


@builtin("read")
async def _read(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
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


@builtin("getopts")
async def _getopts(shell: ShellState, words: list[str], descriptors: Descriptors) -> int:
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
