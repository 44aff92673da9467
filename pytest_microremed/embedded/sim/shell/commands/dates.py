"""date, uptime: the time of day in the container (UTC)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from pytest_microremed.embedded.sim.shell import procfs
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_FORMATS = {"F": "%Y-%m-%d", "T": "%H:%M:%S", "R": "%H:%M", "D": "%m/%d/%y", "h": "%b", "r": "%I:%M:%S %p"}


def formatted(moment: datetime, form: str) -> str:
    """`date`'s format, GNU's %N and %3N included."""

    def replace(match: re.Match[str]) -> str:
        flag, width, letter = match["flag"], match["width"], match["letter"]
        if letter == "N":
            return f"{moment.microsecond * 1000:09d}"[: int(width or 9)]
        if letter == "s":
            return str(int(moment.timestamp()))
        if letter in "nt%":
            return {"n": "\n", "t": "\t", "%": "%"}[letter]
        text = moment.strftime(_FORMATS.get(letter, f"%{letter}"))
        if letter == "z":
            text = "+0000"
        return text.lstrip("0") or "0" if flag == "-" else text

    return re.sub(r"%(?P<flag>[-_0]?)(?P<width>\d?)(?P<letter>[a-zA-Z%])", replace, form)


@command("date")
async def date(call: Call) -> int:
    options, operands = call.options("ud:r:RI::s:D:", ["utc", "date=", "iso-8601=", "rfc-3339=", "rfc-email"])
    moment = call.services.now()
    text = options.get("d") or options.get("date")
    if text:
        moment = _parsed(text, moment)
    if "r" in options:
        path = call.path(options["r"])
        if not call.files.exists(path):
            raise CommandError(f"{options['r']}: No such file or directory")
        moment = call.files.attributes(path).modified
    if "s" in options:
        raise CommandError("can't set date: Operation not permitted")
    form = next((word[1:] for word in operands if word.startswith("+")), None)
    if form is None:
        form = "%Y-%m-%dT%H:%M:%S+00:00" if {"I", "iso-8601"} & options.keys() else "%a %b %e %H:%M:%S UTC %Y"
    call.print(formatted(moment, form))
    return 0


def _parsed(text: str, now: datetime) -> datetime:
    text = text.strip()
    if text.startswith("@"):
        return datetime.fromtimestamp(float(text[1:]), UTC)
    relative = re.fullmatch(r"(?:now )?([-+]?\d+) ?(second|sec|minute|min|hour|day|week)s?( ago)?", text)
    if relative:
        unit = {"sec": "seconds", "min": "minutes"}.get(relative[2], relative[2] + "s")
        amount = int(relative[1]) * (-1 if relative[3] else 1)
        return now + timedelta(**{unit: amount})
    if text in ("now", "today", ""):
        return now
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"invalid date '{text}'") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


@command("uptime")
async def uptime(call: Call) -> int:
    up = timedelta(seconds=procfs.uptime(call.services))
    hours, minutes = divmod(up.seconds // 60, 60)
    load = ", ".join(procfs.loads(call.container, call.services))
    now = call.services.now()
    call.print(f" {now:%H:%M:%S} up {up.days} days, {hours:2d}:{minutes:02d},  0 users,  load average: {load}")
    return 0
