"""tc: queueing disciplines of eth0, whoever put them there."""

from __future__ import annotations

import re

from pytest_microremed.embedded.sim.model import Netem
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.users import may_administer_network

DEVICES = ("lo", "eth0")
_NOT_PERMITTED = "RTNETLINK answers: Operation not permitted"
_CHANGES = ("add", "change", "replace", "del", "delete")


@command("tc")
async def tc(call: Call) -> int:
    words = [word for word in call.args[1:] if not re.fullmatch(r"-[a-zA-Z]+", word)]
    kind = words.pop(0) if words else ""
    if kind not in ("qdisc", "q", "class", "filter"):
        raise CommandError(f'Object "{kind}" is unknown, try "tc help".')
    action = words.pop(0) if words else "show"
    if action in ("show", "list", "ls", "s"):
        if kind in ("qdisc", "q"):
            _show(call, _device(words, required=False))
        return 0
    if action not in _CHANGES:
        raise CommandError(f'Command "{action}" is unknown, try "tc {kind} help".')
    device = _device(words, required=True)
    if device not in DEVICES:
        call.err.write(f'Cannot find device "{device}"\n'.encode())
        return 1
    if not may_administer_network(call.container):
        call.err.write(f"{_NOT_PERMITTED}\n".encode())
        return 2
    return _change(call, action, words) if kind in ("qdisc", "q") else 0


def _device(words: list[str], *, required: bool) -> str | None:
    if "dev" in words and words.index("dev") + 1 < len(words):
        return words[words.index("dev") + 1]
    if required:
        raise CommandError("qdisc: device is required")
    return None


def _show(call: Call, device: str | None) -> None:
    if device not in (None, *DEVICES):
        raise CommandError(f'Cannot find device "{device}"')
    if device in (None, "lo"):
        call.print("qdisc noqueue 0: dev lo root refcnt 2 ")
    if device == "lo":
        return
    where = "dev eth0 root refcnt 9 " if device is None else "root refcnt 9 "
    pod = call.container.pod
    netem = pod.netem
    parent = netem.handle if netem else ""
    if netem:
        call.print(f"qdisc netem {netem.handle} {where}limit 1000{described(netem)}")
    filters = [each.netem for each in pod.filters.values() if each.netem]
    if filters:
        _show_filters(call, filters, parent, "dev eth0 " if device is None else "")
    elif not netem:
        call.print(f"qdisc noqueue 0: {where}")


def _show_filters(call: Call, filters: list[Netem], parent: str, where: str) -> None:
    """Chaos Mesh's tree for impairments of some addresses only: prio bands, of which the last ones are impaired."""
    number = 2 if parent else 1
    root = f"parent {parent}1" if parent else "root refcnt 9"
    bands = 3 + len(filters)
    call.print(f"qdisc prio {number}: {where}{root} bands {bands} priomap 1 2 2 2 1 2 0 0 1 1 1 1 1 1 1 1")
    for band in range(1, 4):
        call.print(
            f"qdisc sfq {number + band}: {where}parent {number}:{band} limit 127p quantum 1514b depth 127 divisor 1024"
        )
    for index, netem in enumerate(filters):
        handle = number + 4 + index
        call.print(f"qdisc netem {handle}: {where}parent {number}:{4 + index} limit 1000{described(netem)}")


def described(netem: Netem) -> str:
    """` delay 1s loss 50%`, as iproute2 prints it."""
    text = ""
    if netem.delay_s:
        text += f" delay {_time(netem.delay_s)}"
        if netem.jitter_s:
            text += f"  {_time(netem.jitter_s)}"
    if netem.loss:
        text += f" loss {100 * netem.loss:g}%"
    return text


def _time(value: float) -> str:
    if value >= 1:
        return f"{value:g}s"
    return f"{value * 1e3:g}ms" if value >= 1e-3 else f"{value * 1e6:g}us"


def _change(call: Call, action: str, words: list[str]) -> int:
    pod = call.container.pod
    present = bool(pod.netem) or any(each.netem for each in pod.filters.values())
    if action in ("del", "delete"):
        if not present:
            call.err.write(b"Error: Cannot delete qdisc with handle of zero.\n")
            return 2
        pod.filters = {name: each for name, each in pod.filters.items() if not each.netem}
        pod.netem = Netem()
        return 0
    if "netem" not in words:
        return 0  # other disciplines change no packet's fate here
    if action == "add" and present:
        call.err.write(b"Error: Exclusivity flag on, cannot modify.\n")
        return 2
    if action == "change" and not present:
        call.err.write(b"Error: Qdisc not found. To create specify NLM_F_CREATE flag.\n")
        return 2
    netem = _parsed(words[words.index("netem") + 1 :])
    handle = words[words.index("handle") + 1] if "handle" in words[:-1] else "8001:"
    pod.filters = {name: each for name, each in pod.filters.items() if not each.netem}
    pod.netem = Netem(netem.delay_s, netem.jitter_s, netem.loss, handle)
    return 0


def _parsed(words: list[str]) -> Netem:
    delay = jitter = loss = 0.0
    index = 0
    try:
        while index < len(words):
            if words[index] in ("delay", "latency"):
                delay = _duration(words[index + 1])
                index += 2
                if index < len(words) and re.match(r"[\d.]", words[index]):
                    jitter = _duration(words[index])
                    index += 1
            elif words[index] in ("loss", "drop"):
                index += 2 if words[index + 1] == "random" else 1
                loss = float(words[index].rstrip("%")) / 100
                index += 1
            else:
                index += 1
    except (IndexError, ValueError):
        raise CommandError('Illegal "netem" arguments') from None
    return Netem(delay, jitter, min(max(loss, 0.0), 1.0))


def _duration(text: str) -> float:
    """`100ms`, `1s`, `200us`, `200msec`; a plain number is microseconds."""
    match = re.fullmatch(r"([\d.]+)(us|usec|usecs|ms|msec|msecs|s|sec|secs)?", text)
    if match is None:
        raise ValueError(text)
    unit = (match[2] or "us")[:2].rstrip("e")
    return float(match[1]) * {"us": 1e-6, "ms": 1e-3, "s": 1.0}[unit]
