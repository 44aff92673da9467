"""sed as a command."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.sed import Script, SedError, edit


@command("sed")
async def sed(call: Call) -> int:
    args = ["--in-place" if word.startswith("-i") and len(word) > 2 and word != "-in" else word for word in call.args]
    suffix = next((word[2:] for word in call.args if word.startswith("-i") and len(word) > 2 and word != "-in"), "")
    pairs, operands = call.with_args(args).option_pairs(
        "nEre:f:isuz", ["quiet", "silent", "regexp-extended", "expression=", "file=", "in-place", "separate"]
    )
    options = {name for name, _ in pairs}
    parts = [value for name, value in pairs if name in ("e", "expression")]
    for name, value in pairs:
        if name in ("f", "file"):
            parts.append((await call.files.read(call.path(value))).decode("utf-8", "surrogateescape"))
    if not parts:
        if not operands:
            raise CommandError("no script specified")
        parts = [operands.pop(0)]
    extended, quiet = bool(options & {"E", "r", "regexp-extended"}), bool(options & {"n", "quiet", "silent"})
    in_place = bool(options & {"i", "in-place"})
    try:
        script = Script("\n".join(parts), extended=extended)
    except SedError as error:
        raise CommandError(str(error)) from None
    status = 0
    texts: list[str] = []
    for name in operands or ["-"]:
        try:
            data = await (call.stdin.read() if name == "-" else call.files.read(call.path(name)))
        except OSError as error:
            call.complain(f"can't read {name}: {error.strerror}")
            status = 2
            continue
        text = data.decode("utf-8", "surrogateescape")
        if not in_place:
            texts.append(text)
            continue
        path = call.path(name)
        if suffix:
            await call.files.write(path + suffix, data)
        edited = "".join(f"{line}\n" for line in edit(script.commands, _lines(text), quiet=quiet))
        await call.files.write(path, edited.encode("utf-8", "surrogateescape"))
    if texts:
        for line in edit(script.commands, [line for text in texts for line in _lines(text)], quiet=quiet):
            call.print(line)
    return status


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
