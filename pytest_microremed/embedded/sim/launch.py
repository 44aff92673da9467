"""What a container does with its command: serve, sleep, or run to an end; recognised by its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pytest_microremed.embedded.sim.images import Image
from pytest_microremed.embedded.sim.profiles import Profile

SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_PYTHONS = re.compile(r"python3?(\.\d+)?")
_FOREVER = re.compile(r"sleep\s+(inf\w*)|while\s+(true|:|\[?\s*1)|until\s+false|for\s*\(\(\s*;;\s*\)\)|tail\s+-[fF]")
_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)([smhd]?)")
LONG_S = 3000.0
"""A script that sleeps longer is not run to its end."""
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SERVES = re.compile(
    r"http\.server|HTTPServer|socketserver|serve_forever|flask|fastapi|uvicorn|gunicorn|aiohttp|\.listen\("
)


@dataclass(frozen=True)
class Serve:
    """A long-lived program of that profile."""

    profile: Profile
    ports: tuple[int, ...]


@dataclass(frozen=True)
class Sleep:
    """It does nothing for so many simulated seconds, then ends well; None = for ever."""

    seconds: float | None


@dataclass(frozen=True)
class Script:
    """A short command line, whose output and exit code the shell tells."""


@dataclass(frozen=True)
class Missing:
    """The program to start is not in the image."""

    binary: str


Plan = Serve | Sleep | Script | Missing

_TERM_CODES = {"go": 2, "spring": 143, "node": 143, "python": 143, "plain": 143, "http.server": 143}
_TRAP = re.compile(r"""trap\s+(?:'([^']*)'|"([^"]*)"|(\S+)).*\b(?:SIG)?TERM\b""")


def termination_code(plan: Plan, argv: Sequence[str]) -> int | None:
    """The exit code on SIGTERM; None where pid 1 has no handler, so that the signal does not reach it."""
    if isinstance(plan, Serve):
        return _TERM_CODES.get(plan.profile.style, 0)
    if argv[0] == "/pause":
        return 0
    trap = _TRAP.search(" ".join(argv))
    if trap is None:
        return None
    code = re.search(r"exit\s+(\d+)", trap[1] or trap[2] or trap[3])
    return int(code[1]) if code else 0


def command_line(spec: dict[str, Any], image: Image) -> tuple[str, ...]:
    """What pid 1 is started with (Kubernetes: command replaces ENTRYPOINT, args replaces CMD)."""
    command = tuple(spec.get("command") or image.profile.entrypoint)
    return command + tuple(spec.get("args") or ())


def plan(spec: dict[str, Any], image: Image, argv: Sequence[str], env: dict[str, str]) -> Plan:
    """What that command line will do in that image."""
    profile = image.profile
    program = PurePosixPath(argv[0]).name
    is_own = not spec.get("command") or program == PurePosixPath(profile.entrypoint[0]).name
    if is_own and profile.role == "pause":
        return Sleep(None)
    if is_own and profile.role == "client":
        return Serve(profile, ())
    if is_own and profile.role == "server":
        return Serve(profile, _ports(spec, profile, argv, env))
    if _PYTHONS.fullmatch(program) and program in profile.tools | {"python3"}:
        return _python(spec, profile, argv, env)
    if not _is_present(argv[0], profile):
        return Missing(argv[0])
    if program in SHELLS and _starts_server(profile, " ".join(argv)):
        return Serve(profile, _ports(spec, profile, argv, env))
    return _shell(argv, program)


def _python(spec: dict[str, Any], profile: Profile, argv: Sequence[str], env: dict[str, str]) -> Plan:
    if profile.name != "python" and "python3" not in profile.tools:
        return Missing(argv[0])
    code = " ".join(argv[1:])
    if _SERVES.search(code) or (len(argv) > 1 and argv[-1].endswith(".py")):
        return Serve(profile, _ports(spec, profile, argv, env))
    if re.search(r"while\s+(True|1)", code):
        return Sleep(None)
    return Script()


def _starts_server(profile: Profile, script: str) -> bool:
    """Whether a shell script ends in the image's own server, or in a Python one."""
    own = profile.role == "server" and PurePosixPath(profile.entrypoint[0]).name in script
    return own or ("python3" in profile.tools and bool(_SERVES.search(script)))


def _shell(argv: Sequence[str], program: str) -> Plan:
    if program == "sleep":
        text = "sleep " + " ".join(argv[1:])
    elif program == "tail":
        text = " ".join(argv)
    elif program in SHELLS and "-c" in argv[1:-1]:
        text = argv[list(argv).index("-c") + 1]
    elif program in SHELLS:
        return Script()
    else:
        text = ""
    if _FOREVER.search(text):
        return Sleep(None)
    seconds = sum(float(amount) * _UNITS[unit] for amount, unit in _SLEEP.findall(text))
    return Sleep(seconds) if program == "sleep" or seconds >= LONG_S else Script()


def _ports(spec: dict[str, Any], profile: Profile, argv: Sequence[str], env: dict[str, str]) -> tuple[int, ...]:
    """Where a server listens: its own ports, or one from its arguments, PORT, or the container's ports."""
    if profile.ports:
        return profile.ports
    line = " ".join(argv)
    if match := re.search(r"-m http\.server\s+(\d+)|--(?:http[-_])?port[= ](\d+)", line):
        return (int(match[1] or match[2]),)
    if env.get("PORT", "").isdigit():
        return (int(env["PORT"]),)
    declared = tuple(port["containerPort"] for port in spec.get("ports") or ())
    if declared:
        return declared
    return (profile.default_port,) if profile.default_port else ()


def _is_present(binary: str, profile: Profile) -> bool:
    """Whether such a program is in the image; any name without a path may be one of the userland's."""
    if profile.userland == "none":
        return binary in profile.entrypoint
    name = PurePosixPath(binary).name
    folder = binary.removesuffix(name)
    return name in profile.tools or (name in _USERLAND and folder in ("", *_FOLDERS))


_FOLDERS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/")
_USERLAND = SHELLS | frozenset((
    "sleep", "tail", "cat", "echo", "env", "printf", "true", "false", "test", "ls", "date", "touch", "rm",
    "cp", "mv", "chmod", "chown", "dd", "wget", "nc", "ping", "ip", "ps", "top", "kill", "grep", "sed", "awk",
    "hostname", "nslookup", "netstat", "find", "wc", "head", "sort", "timeout", "nohup", "stat", "df", "du",
    "id", "mkdir",
))  # fmt: skip
