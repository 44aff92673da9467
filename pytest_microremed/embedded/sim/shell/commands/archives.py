"""tar, which `kubectl cp` needs at both ends."""

from __future__ import annotations

import io
import posixpath
import tarfile

from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command


@command("tar")
async def tar(call: Call) -> int:
    words = list(call.args[1:])
    if words and not words[0].startswith("-"):
        words[0] = f"-{words[0]}"
    options, operands = call.with_args([call.args[0], *words]).options(
        "cxtvzf:C:mpPhok", ["create", "extract", "list", "file=", "directory=", "no-same-owner", "warning=", "exclude="]
    )
    directory = call.path(options.get("C") or options.get("directory") or ".")
    name = options.get("f") or options.get("file") or "-"
    if not call.files.is_directory(directory):
        raise CommandError(f"can't change directory to '{directory}': No such file or directory", 2)
    if {"c", "create"} & options.keys():
        data = await _packed(call, directory, operands, compress="z" in options)
        if name == "-":
            call.out.write(data)
        else:
            await call.files.write(call.path(name), data)
        return 0
    data = await (call.stdin.read() if name == "-" else call.files.read(call.path(name)))
    try:
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            for member in archive.getmembers():
                if {"t", "list"} & options.keys():
                    call.print(member.name)
                elif not operands or member.name in operands:
                    _unpack(call, archive, member, directory)
                    if "v" in options:
                        call.print(member.name)
    except tarfile.TarError:
        raise CommandError("This does not look like a tar archive" if data else "short read", 2) from None
    return 0


async def _packed(call: Call, directory: str, names: list[str], *, compress: bool) -> bytes:
    files = call.files
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz" if compress else "w") as archive:
        for name in names:
            root = files.absolute(name, directory)
            if not files.exists(root):
                raise CommandError(f"{name}: Cannot stat: No such file or directory", 2)
            for path in files.walk(root):
                shown = name.strip("/") + path[len(root) :]
                info = tarfile.TarInfo(shown)
                info.mode, info.mtime = files.attributes(path).mode, int(files.attributes(path).modified.timestamp())
                if files.is_directory(path):
                    info.type = tarfile.DIRTYPE
                    archive.addfile(info)
                else:
                    data = await files.read(path)
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def _unpack(call: Call, archive: tarfile.TarFile, member: tarfile.TarInfo, directory: str) -> None:
    path = call.files.absolute(member.name.lstrip("/"), directory)
    if not (path + "/").startswith(directory.rstrip("/") + "/"):
        raise CommandError(f"{member.name}: Member name contains '..'", 2)
    missing = [] if member.isdir() else [posixpath.dirname(path)]
    missing += [path] if member.isdir() else []
    while missing and not call.files.is_directory(posixpath.dirname(missing[0])):
        missing.insert(0, posixpath.dirname(missing[0]))
    for each in missing:
        if not call.files.is_directory(each):
            call.files.make_directory(each)
    content = archive.extractfile(member) if member.isfile() else None
    if content is not None:
        call.files.put(path, content.read())
        call.files.set_mode(path, member.mode & 0o7777)
