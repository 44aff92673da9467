"""kill, pkill, killall, pgrep, pidof: find processes of the container and send them signals."""

from __future__ import annotations

import re
import signal

from pytest_microremed.embedded.sim.model import Container, Process
from pytest_microremed.embedded.sim.shell.procfs import command_name
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.users import may_signal

_NAMES = {s.name.removeprefix("SIG"): int(s) for s in signal.Signals}
HARMLESS = frozenset({0, signal.SIGCONT, signal.SIGCHLD, signal.SIGWINCH, signal.SIGURG, signal.SIGHUP})
"""Signals that end no process here; SIGHUP makes servers read their configuration again."""


_SHUTDOWN_S = 0.5
"""A server takes so long to shut down; the `kill` that asked for it has returned by then."""


def signal_number(text: str) -> int | None:
    """`9`, `KILL` or `SIGKILL` as a number; None if there is no such signal."""
    if text.isdigit():
        return int(text) if int(text) < 65 else None
    return _NAMES.get(text.upper().removeprefix("SIG"))


def _signal_option(words: list[str]) -> int:
    """Take the signal out of the words; SIGTERM if there is none. Raises `CommandError`."""
    for index, word in enumerate(words):
        if word in ("-s", "--signal", "-n") and index + 1 < len(words):
            text = words[index + 1]
            del words[index : index + 2]
        elif word.startswith("--signal="):
            text = word.partition("=")[2]
            del words[index]
        elif re.fullmatch(r"-(\d+|(SIG)?[A-Z][A-Z0-9]+)", word) and signal_number(word[1:]) is not None:
            text = word[1:]
            del words[index]
        else:
            continue
        number = signal_number(text)
        if number is None:
            raise CommandError(f"invalid signal '{text}'")
        return number
    return signal.SIGTERM


def send(call: Call, process: Process, number: int) -> bool:
    """Send a signal; False if the caller may not."""
    if not may_signal(call.container, call.process, process):
        return False
    # The kernel shields the first process of a PID namespace from signals sent inside it, unless it handles them.
    shielded = process.pid == 1 and number in (signal.SIGKILL, signal.SIGSTOP)
    if number not in HARMLESS and not shielded:
        if process.pid == 1:
            call.services.clock.call_later(_SHUTDOWN_S, _end_first, call.container, process, number)
        else:
            call.container.kill(process.pid, number)
    return True


def _end_first(container: Container, process: Process, number: int) -> None:
    if container.processes.get(1) is process:
        container.kill(1, number)


@command("kill")
async def kill(call: Call) -> int:
    words = list(call.args[1:])
    if words[:1] in (["-l"], ["-L"]):
        call.print(" ".join(f"{number}) SIG{name}" for name, number in sorted(_NAMES.items(), key=lambda i: i[1])))
        return 0
    number = _signal_option(words)
    words = [word for word in words if word != "--"]
    if not words:
        raise CommandError("usage: kill [-s sigspec | -signum | -sigspec] [pid | job]...", 2)
    status = 0
    for word in words:
        if not re.fullmatch(r"-?\d+", word):
            raise CommandError(f"Illegal number: {word}" if not word.startswith("%") else f"{word}: no such job", 2)
        pid = int(word)
        everyone = [p for p in list(call.container.processes.values()) if p.pid not in (1, call.process.pid)]
        targets = everyone if pid == -1 else [p for p in [call.container.processes.get(abs(pid))] if p]
        if not targets:
            call.complain(f"can't kill pid {pid}: No such process" if call.is_busybox else "No such process")
            status = 1
        for process in targets:
            if not send(call, process, number):
                call.complain(
                    f"can't kill pid {pid}: Operation not permitted" if call.is_busybox else "Operation not permitted"
                )
                status = 1
    return status


def _busybox(call: Call) -> bool:
    image = call.container.image
    return image is None or image.profile.userland != "debian"


def matching(call: Call, wanted: str, *, full: bool, exact: bool, ignore_case: bool = False) -> list[Process]:
    """Processes whose name (or, with `full`, whole command line) matches the extended regular expression."""
    try:
        shape = re.compile(wanted, re.IGNORECASE if ignore_case else 0)
    except re.error:
        raise CommandError(f"{wanted}: invalid regular expression", 2) from None
    found = []
    for process in list(call.container.processes.values()):
        text = " ".join(process.command) if full else command_name(process)
        if process.pid != call.process.pid and (shape.fullmatch(text) if exact else shape.search(text)):
            found.append(process)
    return found


@command("pkill", "pgrep")
async def pkill(call: Call) -> int:
    words = list(call.args[1:])
    number = _signal_option(words) if call.name == "pkill" else 0
    flags = {"full": False, "exact": False, "ignore_case": False}
    listed, newest, oldest, inverse, counted, quiet = "", False, False, False, False, False
    parent: int | None = None
    patterns = []
    while words:
        word = words.pop(0)
        if word == "--":
            patterns += words
            break
        if word in ("-P", "-u", "-U", "-g", "-s", "-t", "-d") and words:
            value = words.pop(0)
            parent = int(value) if word == "-P" and value.isdigit() else parent
        elif word.startswith("--"):
            flags["full"] = flags["full"] or word == "--full"
            flags["exact"] = flags["exact"] or word == "--exact"
        elif word.startswith("-") and len(word) > 1:
            flags["full"] = flags["full"] or "f" in word
            flags["exact"] = flags["exact"] or "x" in word
            flags["ignore_case"] = flags["ignore_case"] or "i" in word
            listed += "".join(letter for letter in word if letter in "la")
            newest, oldest, inverse = newest or "n" in word, oldest or "o" in word, inverse or "v" in word
            counted, quiet = counted or "c" in word, quiet or "q" in word
        else:
            patterns.append(word)
    if not patterns and parent is None:
        raise CommandError("no matching criteria specified", 2)
    found = matching(call, patterns[0] if patterns else "", **flags)
    if inverse:
        found = [p for p in call.container.processes.values() if p not in found and p.pid != call.process.pid]
    if parent is not None:
        found = [p for p in found if p.ppid == parent]
    if newest or oldest:
        found = found[-1:] if newest else found[:1]
    if call.name == "pgrep":
        return _list(call, found, listed, counted=counted, quiet=quiet)
    status = 0 if found else 1
    for process in found:
        if not send(call, process, number):
            call.complain(f"killing pid {process.pid} failed: Operation not permitted")
            status = 1
    return status


def _list(call: Call, found: list[Process], listed: str, *, counted: bool, quiet: bool) -> int:
    if counted:
        call.print(str(len(found)))
    elif not quiet:
        for process in found:
            shown = " ".join(process.command) if "a" in listed else command_name(process) if "l" in listed else ""
            call.print(f"{process.pid} {shown}".rstrip())
    return 0 if found else 1


@command("killall")
async def killall(call: Call) -> int:
    words = list(call.args[1:])
    number = _signal_option(words)
    names = [word for word in words if not word.startswith("-")]
    if not names:
        raise CommandError("usage: killall [-s signal] name ...")
    status = 0
    for name in names:
        found = [p for p in matching(call, re.escape(name), full=False, exact=True) if p.pid != call.process.pid]
        if not found:
            call.complain(f"{name}: no process killed" if call.is_busybox else f"{name}: no process found")
            status = 1
        for process in found:
            if not send(call, process, number):
                call.complain(f"{name}({process.pid}): Operation not permitted")
                status = 1
    return status


@command("pidof")
async def pidof(call: Call) -> int:
    names = [word for word in call.args[1:] if not word.startswith("-")]
    found = [p.pid for name in names for p in matching(call, re.escape(name), full=False, exact=True)]
    if found:
        call.print(" ".join(str(pid) for pid in sorted(found, reverse=True)))
    return 0 if found else 1
