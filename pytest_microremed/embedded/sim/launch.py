"""What a container does with its command: serve, sleep, or run to an end; recognised by its words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from pytest_microremed.embedded.sim.model import Container
from pytest_microremed.embedded.sim.profiles import Profile
from pytest_microremed.embedded.sim.shell.image_files import tool_at
from pytest_microremed.embedded.sim.shell.registry import installed

SHELLS = frozenset({"sh", "bash", "ash", "dash"})
_PYTHONS = re.compile(r"python3?(\.\d+)?")
_FOREVER = re.compile(r"sleep\s+(inf\w*)|while\s+(true|:|\[?\s*1)|until\s+false|for\s*\(\(\s*;;\s*\)\)|tail\s+-[fF]")
_SLEEP = re.compile(r"\bsleep\s+(\d+(?:\.\d+)?)([smhd]?)")
LONG_S = 3000.0
"""A script that sleeps longer is not run to its end."""
_PORT_ARGUMENT = re.compile(r"-m http\.server\s+(\d+)|-(?:-|D)(?:http[-_]|server\.)?port[= ](\d+)")
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


def command_line(container: Container) -> tuple[str, ...]:
    """What pid 1 is started with (Kubernetes: command replaces ENTRYPOINT, args replaces CMD)."""
    profile = _profile(container)
    command, args = container.spec.get("command"), tuple(container.spec.get("args") or ())
    if not command and args and profile.runs_commands and _is_present(args[0], container):
        return args
    return tuple(command or profile.entrypoint) + args


def plan(container: Container, argv: Sequence[str]) -> Plan:
    """What that command line will do in the container's image."""
    profile = _profile(container)
    program = PurePosixPath(argv[0]).name
    if program == PurePosixPath(profile.entrypoint[0]).name:
        match profile.role:
            case "pause":
                return Sleep(None)
            case "client":
                return Serve(profile, ())
            case "server":
                return Serve(profile, _ports(container, argv))
    if _PYTHONS.fullmatch(program) and "python3" in profile.tools:
        return _python(container, argv)
    if not _is_present(argv[0], container):
        return Missing(argv[0])
    if program in SHELLS and _starts_server(profile, " ".join(argv)):
        return Serve(profile, _ports(container, argv))
    return _shell(argv, program)


def _profile(container: Container) -> Profile:
    assert container.image is not None, "a container starts after its image has been pulled"
    return container.image.profile


def _python(container: Container, argv: Sequence[str]) -> Plan:
    code = " ".join(argv[1:])
    if _SERVES.search(code) or (len(argv) > 1 and argv[-1].endswith(".py")):
        return Serve(_profile(container), _ports(container, argv))
    return Sleep(None) if re.search(r"while\s+(True|1)", code) else Script()


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


def _ports(container: Container, argv: Sequence[str]) -> tuple[int, ...]:
    """Where a server listens: one from its arguments, its own ports, PORT, or the container's ports."""
    profile = _profile(container)
    if match := _PORT_ARGUMENT.search(" ".join(argv)):
        return (int(match[1] or match[2]),)
    if profile.ports:
        return profile.ports
    for variable in ("PORT", "SERVER_PORT"):
        if container.env.get(variable, "").isdigit():
            return (int(container.env[variable]),)
    declared = tuple(port["containerPort"] for port in container.spec.get("ports") or ())
    return declared or ((profile.default_port,) if profile.default_port else ())


def _is_present(binary: str, container: Container) -> bool:
    """Whether the image has such a program."""
    if binary in _profile(container).entrypoint:
        return True
    return bool(tool_at(binary, container)) if "/" in binary else installed(binary, container)
