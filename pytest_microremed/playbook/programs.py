"""Which programs inside a container only read, and with which arguments."""

from __future__ import annotations

import getopt
import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass


def names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_FREE = names(
    """
    cat cut df dig du echo egrep fgrep free getent grep head host id iostat ls lsof netstat nproc nslookup
    pgrep pidof printenv ps pwd readlink stat test tr true uname uptime vmstat wc which whoami
    """
)
"""Programs that change nothing, whatever their arguments are."""

_SHELLS = ("sh", "bash", "ash")
_FOLDERS = ("/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/")
_PING_LIMIT = 100
_SHOW: tuple[list[str], ...] = ([], ["show"], ["list"], ["ls"])
_SILENCED = re.compile(r"(?<=\s)(?:[12&]?>\s*/dev/null|2>&1)(?=[\s;|&]|$)")
_SEPARATORS = ("|", ";", "&&", "||")

Options = list[tuple[str, str]]
"""Each option as it was given, with its value."""


@dataclass(frozen=True)
class _Usage:
    """The options with which a program only reads, as getopt(3) has them, and what else must hold."""

    hint: str
    options: str = ""
    long_options: frozenset[str] = frozenset()
    holds: Callable[[Options, list[str]], bool] = lambda options, rest: True

    def fits(self, arguments: Sequence[str]) -> bool:
        known = {name.rstrip("=") for name in self.long_options}
        if any(a.startswith("--") and a[2:].partition("=")[0] not in known for a in arguments):
            return False  # getopt would complete an abbreviation to one of the few names that it knows here
        try:
            options, rest = getopt.gnu_getopt(list(arguments), self.options, list(self.long_options))
        except getopt.GetoptError:
            return False
        return not any(r.startswith("-") and r != "-" for r in rest) and self.holds(options, rest)


def _values(options: Options, *names: str) -> list[str]:
    return [value for name, value in options if name in names]


def _alone(options: Options, rest: list[str]) -> bool:
    return not rest


def _only_printed(targets: list[str]) -> bool:
    return all(target in ("-", "/dev/null") for target in targets)


def _curl(options: Options, urls: list[str]) -> bool:
    return (
        _only_printed(_values(options, "-o", "--output"))
        and all(method in ("GET", "HEAD") for method in _values(options, "-X", "--request"))
        and not any("%output" in form for form in _values(options, "-w", "--write-out"))
        and all(re.match(r"https?://|(?!.*://)", url) for url in urls)
    )


def _wget(options: Options, urls: list[str]) -> bool:
    targets = _values(options, "-O", "--output-document")
    return bool(targets or ("--spider", "") in options) and _only_printed(targets)


def _ping(options: Options, hosts: list[str]) -> bool:
    counts = _values(options, "-c")
    return bool(counts) and all(count.isdigit() and int(count) <= _PING_LIMIT for count in counts)


def _ip(options: Options, rest: list[str]) -> bool:
    objects = ("a", "addr", "address", "r", "route", "l", "link", "n", "neigh")
    return bool(rest) and rest[0] in objects and rest[1:2] in _SHOW


def _tc(options: Options, rest: list[str]) -> bool:
    return bool(rest) and rest[0] in ("qdisc", "class", "filter") and rest[1:2] in _SHOW


def _top(options: Options, rest: list[str]) -> bool:
    counts = _values(options, "-n")
    return bool(counts and _values(options, "-b")) and all(map(str.isdigit, counts)) and not rest


_USAGES = {
    "curl": _Usage(
        "a GET or HEAD request that writes no file",
        "sSvikILf46m:H:w:o:X:A:",
        names(
            """
            silent show-error verbose include insecure head location fail max-time= connect-timeout= header=
            write-out= output= request= user-agent=
            """
        ),
        _curl,
    ),
    "date": _Usage("date [+FORMAT]", "uR", names("utc"), lambda options, rest: all(r[:1] == "+" for r in rest)),
    "env": _Usage("env without arguments", holds=_alone),
    "hostname": _Usage("hostname without a name", "fiIs", holds=_alone),
    "ip": _Usage("ip addr, route, link or neigh [show]", "46brdsojc", holds=_ip),
    "mount": _Usage("mount without arguments", holds=_alone),
    "nc": _Usage("nc -z HOST PORT", "zvnuw:", holds=lambda options, rest: ("-z", "") in options),
    "ping": _Usage(f"ping -c N HOST, N at most {_PING_LIMIT}", "46c:i:nqs:W:w:", holds=_ping),
    "sleep": _Usage("sleep N, N below 10", holds=lambda options, rest: re.fullmatch(r"\d", " ".join(rest)) is not None),
    "sort": _Usage("sort with options that only order", "bdfghinrsuVk:t:"),
    "ss": _Usage("ss with options that only show", "46aeHilmnoprstux"),
    "tail": _Usage("tail without -f", "n:c:qv0123456789", names("lines= bytes=")),
    "tc": _Usage("tc qdisc, class or filter show", "djps", holds=_tc),
    "top": _Usage("top -b -n N", "bcd:Hin:o:p:u:w:", holds=_top),
    "wget": _Usage(
        "wget -qO- URL or wget --spider URL",
        "qSO:T:t:",
        names("quiet spider server-response no-check-certificate timeout= tries= header= output-document="),
        _wget,
    ),
}

READERS = tuple(sorted(_FREE | _USAGES.keys()))
"""The programs that are allowed at all."""


def check_program(words: Sequence[str]) -> str | None:
    """Why a program with its arguments is refused; None if it only reads."""
    if not words:
        return "no program is named"
    folder = next((f for f in _FOLDERS if words[0].startswith(f)), "")
    name, arguments = words[0].removeprefix(folder), words[1:]
    if name in _FREE:
        return None
    if name in _SHELLS:
        return _check_script(arguments)
    if name == "timeout" and re.fullmatch(r"\d+s?", "".join(arguments[:1])):
        return check_program(arguments[1:])
    if name not in _USAGES:
        return f"{words[0]} is refused; allowed are {', '.join(READERS)}, and sh -c with a pipeline of these"
    usage = _USAGES[name]
    return None if usage.fits(arguments) else f"{name} is allowed only as {usage.hint}"


def _check_script(arguments: Sequence[str]) -> str | None:
    """`sh -c SCRIPT`: simple commands joined by | ; && ||, quoted as usual, with nothing expanded and nothing
    written.

    Without expansions the words that are judged here are those that the shell runs; without compound commands
    each simple command begins with its program.
    """
    if len(arguments) != 2 or arguments[0] != "-c":
        return "a shell is allowed only as sh -c SCRIPT"
    script = arguments[1]
    if any(sign in script for sign in "$`\n\r"):
        return "$, ` and line breaks are refused in sh -c; printenv shows variables"
    lexer = shlex.shlex(_SILENCED.sub(" ", script), posix=True, punctuation_chars=";|&<>()")
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError as error:
        return f"the script cannot be split into words: {error}"
    command: list[str] = []
    for word in [*words, ";"]:
        if word in _SEPARATORS:
            if command and (reason := check_program(command)):
                return reason
            command = []
        elif word and set(word) <= set(";|&<>()"):
            return f"{word} is refused in sh -c"
        else:
            command.append(word)
    return None
