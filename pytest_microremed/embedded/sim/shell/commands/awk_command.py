"""awk as a command."""

from __future__ import annotations

import re

from pytest_microremed.embedded.sim.shell.awk import Awk, AwkSyntaxError, parse
from pytest_microremed.embedded.sim.shell.awk.evaluation import AwkError
from pytest_microremed.embedded.sim.shell.commands.output import unescape
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command


@command("awk", "mawk", "gawk")
async def awk(call: Call) -> int:
    words = list(call.args[1:])
    variables: dict[str, str] = {}
    text: str | None = None
    while words and words[0].startswith("-") and len(words[0]) > 1:
        flag = words.pop(0)
        if flag == "--":
            break
        letter, value = flag[1], flag[2:]
        if letter in "Fvf":
            value = value or (words.pop(0) if words else "")
            if letter == "F":
                variables["FS"] = "\t" if value == "t" else unescape(value)[0]
            elif letter == "v":
                name, _, given = value.partition("=")
                variables[name] = unescape(given)[0]
            else:
                text = (await call.files.read(call.path(value))).decode("utf-8", "surrogateescape")
        elif not flag.startswith("--"):
            raise CommandError(f"unrecognized option: {letter}")
    if text is None:
        if not words:
            raise CommandError("usage: awk [-F fs][-v var=value] [prog | -f progfile] [file ...]", 1)
        text = words.pop(0)
    try:
        program = parse(text)
    except AwkSyntaxError as error:
        raise CommandError(str(error), 2) from None
    runner = Awk(program, lambda piece: call.print(piece, end=""), variables)
    runner.set_environment(call.env)
    names = []
    for word in words:
        assignment = re.fullmatch(r"([A-Za-z_]\w*)=(.*)", word, re.DOTALL)
        if assignment:
            runner.variables[assignment[1]] = assignment[2]
        else:
            names.append(word)
    needs_input = any(rule.kind != "BEGIN" for rule in program.rules)
    inputs = await call.input(names) if needs_input else []
    try:
        code = runner.run(
            [("" if name == "-" else name, data.decode("utf-8", "surrogateescape")) for name, data in inputs]
        )
    except (AwkError, RecursionError) as error:
        raise CommandError(f"cmd. line:1: {error}", 2) from None
    return code or (2 if needs_input and len(inputs) < len(names or ["-"]) else 0)
