"""sh, bash and ash: the shell as a command."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell.builtins.variables import set_option
from pytest_microremed.embedded.sim.shell.descriptors import Descriptors
from pytest_microremed.embedded.sim.shell.expansion import Variables
from pytest_microremed.embedded.sim.shell.interpreter import Shell
from pytest_microremed.embedded.sim.shell.parser import parse
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.streams import BytesReader
from pytest_microremed.embedded.sim.shell.syntax import ShellSyntaxError, Simple


@command("bash", "dash", where="debian")
async def bash(call: Call) -> int:
    return await sh(call)


@command("sh", "ash")
async def sh(call: Call) -> int:
    words = list(call.args[1:])
    variables = Variables(dict(call.env), set(call.env))
    variables.assigned.update({"PWD": call.cwd, "IFS": " \t\n", "OPTIND": "1", "PPID": str(call.process.ppid)})
    shell = Shell(call.files, call.services, call.process, variables, [call.args[0]], call.cwd)
    text: str | None = None
    from_command = False
    while words and words[0][:1] in ("-", "+") and len(words[0]) > 1:
        flag = words.pop(0)
        if flag in ("--", "--login", "--norc", "--noprofile", "--posix"):
            continue
        for letter in flag[1:]:
            if letter == "c":
                from_command = True
            elif letter == "o":
                set_option(shell, words.pop(0) if words else "", flag[0] == "-")
            elif letter not in "lis" and not set_option(shell, letter, flag[0] == "-"):
                raise CommandError(f"0: Illegal option -{letter}", 2)
    stdin = call.stdin
    if from_command:
        if not words:
            raise CommandError("0: -c requires an argument", 2)
        text = words.pop(0)
        if words:
            shell.arguments = words
    elif words:
        shell.arguments = words
        path = call.path(words[0])
        if not call.files.is_file(path):
            raise CommandError(f"0: cannot open {words[0]}: No such file", 127 if call.name == "bash" else 2)
        text = (await call.files.read(path)).decode("utf-8", "surrogateescape")
    else:
        text = (await call.stdin.read()).decode("utf-8", "surrogateescape")
        stdin = BytesReader()
    shell.in_place = _is_single(text)
    streams: Descriptors = {0: stdin, 1: call.out, 2: call.err}
    return await shell.run_text(text, streams)


def _is_single(text: str) -> bool:
    """Whether the program is one simple command, which then takes the shell's process over."""
    try:
        items = parse(text).items
    except (ShellSyntaxError, RecursionError):
        return False
    if len(items) != 1 or items[0].background or items[0].rest:
        return False
    return len(items[0].first.commands) == 1 and isinstance(items[0].first.commands[0], Simple)
