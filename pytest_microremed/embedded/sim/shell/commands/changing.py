"""mkdir, rm, rmdir, cp, mv, touch, chmod, chown, ln, truncate, mktemp, sync: changing files."""

from __future__ import annotations

import errno
import posixpath
import re
import secrets

from pytest_microremed.embedded.sim.shell.commands.dd import size as parse_size
from pytest_microremed.embedded.sim.shell.filesystem import failure
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command


@command("mkdir")
async def mkdir(call: Call) -> int:
    options, operands = call.options("pvm:", ["parents", "mode=", "verbose"])
    status = 0
    for name in operands:
        path = call.path(name)
        steps = [path]
        if "p" in options or "parents" in options:
            while posixpath.dirname(steps[0]) != steps[0]:
                steps.insert(0, posixpath.dirname(steps[0]))
            steps = [step for step in steps if not call.files.is_directory(step)]
        try:
            for step in steps:
                call.files.make_directory(step)
        except OSError as error:
            call.complain(
                f"can't create directory '{name}': {error.strerror}"
                if call.is_busybox
                else (f"cannot create directory '{name}': {error.strerror}")
            )
            status = 1
    return status


@command("rm", "unlink")
async def rm(call: Call) -> int:
    options, operands = call.options("rRfiv", ["recursive", "force", "no-preserve-root"])
    recursive = bool({"r", "R", "recursive"} & options.keys())
    force = bool({"f", "force"} & options.keys())
    status = 0
    for name in operands:
        path = call.path(name)
        try:
            if not call.files.exists(path):
                raise failure(errno.ENOENT, path)
            if call.files.is_directory(path) and not recursive:
                raise failure(errno.EISDIR, path)
            if path == "/":
                raise CommandError("it is dangerous to operate recursively on '/'")
            await call.files.spend(path, "unlink", 0)
            for each in reversed(call.files.walk(path)):
                call.files.remove(each)
        except OSError as error:
            if force and error.errno == errno.ENOENT:
                continue
            words = "Is a directory" if error.errno == errno.EISDIR else error.strerror
            call.complain(f"can't remove '{name}': {words}" if call.is_busybox else f"cannot remove '{name}': {words}")
            status = 1
    if not operands and not force:
        raise CommandError("missing operand")
    return status


@command("rmdir")
async def rmdir(call: Call) -> int:
    _, operands = call.options("p")
    status = 0
    for name in operands:
        path = call.path(name)
        try:
            if call.files.is_file(path):
                raise failure(errno.ENOTDIR, path)
            call.files.remove(path)
        except OSError as error:
            call.complain(f"'{name}': {error.strerror}")
            status = 1
    return status


async def _copy(call: Call, source: str, target: str, *, recursive: bool) -> None:
    """Copy a file, or a directory with all in it."""
    files = call.files
    if files.is_directory(source):
        if not recursive:
            raise CommandError(f"omitting directory '{source}'")
        for each in files.walk(source):
            inside = target + each[len(source.rstrip("/")) :]
            if files.is_directory(each):
                if not files.is_directory(inside):
                    files.make_directory(inside)
            else:
                await _copy(call, each, inside, recursive=False)
        return
    data = await files.read(source)
    long = files.size(source)
    await files.spend(target, "write", len(data))
    files.put(target, data, size=long if long > len(data) else None)
    files.set_mode(target, files.attributes(source).mode)


@command("cp", "mv", "install")
async def copy(call: Call) -> int:
    options, operands = call.options("rRapfivnuTt:dLPm:D", ["recursive", "force", "preserve=", "no-clobber"])
    if "t" in options:
        operands.append(options["t"])
    if len(operands) < 2:
        raise CommandError(
            "missing file operand" if not operands else f"missing destination file operand after '{operands[0]}'"
        )
    *sources, target = operands
    moving = call.name == "mv"
    recursive = moving or bool({"r", "R", "a", "recursive"} & options.keys())
    into = call.files.is_directory(call.path(target)) and "T" not in options
    if len(sources) > 1 and not into:
        raise CommandError(f"target '{target}' is not a directory")
    status = 0
    for name in sources:
        source = call.path(name)
        where = posixpath.join(call.path(target), posixpath.basename(source)) if into else call.path(target)
        try:
            if not call.files.exists(source):
                raise failure(errno.ENOENT, source)
            await _copy(call, source, where, recursive=recursive)
            if moving:
                for each in reversed(call.files.walk(source)):
                    call.files.remove(each)
        except OSError as error:
            where_said = name if error.errno == errno.ENOENT and not call.files.exists(source) else target
            verb = "can't stat" if call.is_busybox else "cannot stat"
            call.complain(
                f"{verb} '{where_said}': {error.strerror}"
                if where_said == name
                else (f"can't create '{where_said}': {error.strerror}")
            )
            status = 1
    return status


@command("touch")
async def touch(call: Call) -> int:
    options, operands = call.options("cad:mr:t:", ["no-create", "date="])
    status = 0
    for name in operands:
        path = call.path(name)
        try:
            if call.files.exists(path):
                call.files.set_modified(path, call.services.now())
            elif not {"c", "no-create"} & options.keys():
                await call.files.write(path, b"")
        except OSError as error:
            call.complain(
                f"{name}: {error.strerror}" if call.is_busybox else f"cannot touch '{name}': {error.strerror}"
            )
            status = 1
    return status


@command("chmod")
async def chmod(call: Call) -> int:
    words = [word for word in call.args[1:] if not re.fullmatch(r"-[Rfvc]+", word)]
    recursive = any(re.fullmatch(r"-[fvc]*R[fvc]*", word) for word in call.args[1:])
    if len(words) < 2:
        raise CommandError("missing operand")
    change, status = words[0], 0
    for name in words[1:]:
        path = call.path(name)
        if not call.files.exists(path):
            call.complain(
                f"{name}: No such file or directory"
                if call.is_busybox
                else (f"cannot access '{name}': No such file or directory")
            )
            status = 1
            continue
        for each in call.files.walk(path) if recursive else [path]:
            call.files.set_mode(each, changed_mode(change, call.files.attributes(each).mode))
    return status


def changed_mode(change: str, mode: int) -> int:
    """`755` or `u+x,go-w` applied to a mode. Raises `CommandError`."""
    if re.fullmatch(r"[0-7]{1,4}", change):
        return int(change, 8)
    for clause in change.split(","):
        match = re.fullmatch(r"([ugoa]*)([-+=])([rwxXst]*)", clause)
        if match is None:
            raise CommandError(f"invalid mode: '{change}'")
        bits = sum({"r": 4, "w": 2, "x": 1, "X": 1}.get(letter, 0) for letter in set(match[3]))
        who = match[1].replace("a", "ugo") or "ugo"
        mask = sum(bits << shift for letter, shift in (("u", 6), ("g", 3), ("o", 0)) if letter in who)
        everything = sum(7 << shift for letter, shift in (("u", 6), ("g", 3), ("o", 0)) if letter in who)
        mode = mode | mask if match[2] == "+" else mode & ~mask if match[2] == "-" else (mode & ~everything) | mask
    return mode


@command("chown", "chgrp")
async def chown(call: Call) -> int:
    words = [word for word in call.args[1:] if not word.startswith("-")]
    missing = [name for name in words[1:] if not call.files.exists(call.path(name))]
    for name in missing:
        call.complain(f"{name}: No such file or directory")
    if call.container.user != 0 and len(words) > 1:
        raise CommandError(f"{words[1]}: Operation not permitted")
    return 1 if missing or len(words) < 2 else 0


@command("truncate")
async def truncate(call: Call) -> int:
    options, operands = call.options("s:cr:", ["size=", "no-create"])
    given = options.get("s") or options.get("size")
    if given is None:
        raise CommandError("you must specify a size")
    size = parse_size(given.lstrip("+-"))
    for name in operands:
        path = call.path(name)
        before = call.files.content(path) if call.files.is_file(path) else b""
        kept = before[:size].ljust(min(size, 2**20), b"\0")
        call.files.put(path, kept, size=size if size > len(kept) else None)
    return 0


@command("mktemp")
async def mktemp(call: Call) -> int:
    options, operands = call.options("dp:tqu", ["directory", "tmpdir="])
    folder = options.get("p") or options.get("tmpdir") or "/tmp"  # noqa: S108 the container's
    template = operands[0] if operands else posixpath.join(folder, "tmp.XXXXXX")
    name = re.sub("X+$", lambda match: secrets.token_hex(8)[: len(match[0])], template)
    path = call.path(name)
    if "u" in options:
        pass
    elif {"d", "directory"} & options.keys():
        call.files.make_directory(path)
    else:
        await call.files.write(path, b"")
    call.print(path)
    return 0


@command("sync", "fsync")
async def sync(call: Call) -> int:
    for mount in call.container.mounts:
        await call.files.spend(posixpath.join(mount.path, "."), "fsync", 0)
    return 0


@command("ln")
async def ln(call: Call) -> int:
    options, operands = call.options("sfnv", ["symbolic", "force"])
    if len(operands) != 2:
        raise CommandError("missing file operand")
    target = call.path(operands[1])
    if call.files.exists(target) and not {"f", "force"} & options.keys():
        raise CommandError(f"{operands[1]}: File exists")
    await _copy(call, call.path(operands[0]), target, recursive=False)
    return 0
