"""id, whoami, hostname, uname, nproc, free, mount, lsof and the like: the container and its node."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell import procfs
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.users import user_name


@command("id")
async def identity(call: Call) -> int:
    uid = call.container.user
    name = user_name(uid)
    if "-u" in call.args or "-g" in call.args:
        call.print(name if "-n" in call.args else str(uid))
    else:
        known = f"({name})" if not name.isdigit() else ""
        call.print(f"uid={uid}{known} gid={uid}{known} groups={uid}{known}")
    return 0


@command("whoami")
async def whoami(call: Call) -> int:
    name = user_name(call.container.user)
    if name.isdigit():
        raise CommandError(
            f"unknown uid {name}" if call.is_busybox else f"cannot find name for user ID {name}: No such user"
        )
    call.print(name)
    return 0


@command("hostname")
async def hostname(call: Call) -> int:
    operands = [word for word in call.args[1:] if not word.startswith("-")]
    if operands:
        raise CommandError("sethostname: Operation not permitted")
    call.print(call.container.pod.ip if {"-i", "-I"} & set(call.args) else call.container.pod.name)
    return 0


@command("uname")
async def uname(call: Call) -> int:
    facts = {
        "s": "Linux", "n": call.container.pod.name, "r": call.services.node.kernel,
        "v": "#1 SMP PREEMPT_DYNAMIC", "m": "x86_64", "o": "GNU/Linux",
    }  # fmt: skip
    flags = "".join(word.lstrip("-") for word in call.args[1:]) or "s"
    wanted = "snrvmo" if "a" in flags else flags
    call.print(" ".join(text for flag, text in facts.items() if flag in wanted))
    return 0


@command("arch")
async def arch(call: Call) -> int:
    call.print("x86_64")
    return 0


@command("nproc")
async def nproc(call: Call) -> int:
    call.print(str(call.services.node.cores))
    return 0


@command("free")
async def free(call: Call) -> int:
    options, _ = call.options("bkmghs:c:tw", ["human", "mega", "giga"])
    divisor = (
        2**20
        if {"m", "mega"} & options.keys()
        else 2**30
        if {"g", "giga"} & options.keys()
        else 1
        if "b" in options
        else 1024
    )
    total, used, free_bytes, cached = procfs.free_memory(call.container, call.services)

    def shown(size: int) -> str:
        if {"h", "human"} & options.keys():
            return f"{size / 2**30:.1f}Gi"
        return str(size // divisor)

    call.print("               total        used        free      shared  buff/cache   available")
    row = "".join(f"{shown(size):>12}" for size in (total, used, free_bytes, 2**20, cached, free_bytes + cached))
    call.print(f"Mem:    {row}\nSwap:   {shown(0):>12}{shown(0):>12}{shown(0):>12}")
    return 0


@command("mount")
async def mount(call: Call) -> int:
    if len(call.args) > 2:
        raise CommandError("permission denied (are you root?)")
    for line in call.files.content("/proc/mounts").decode().splitlines():
        device, where, kind, options, _, _ = line.split(" ")
        call.print(f"{device} on {where} type {kind} ({options})")
    return 0


@command("umount")
async def umount(call: Call) -> int:
    operands = [word for word in call.args[1:] if not word.startswith("-")]
    raise CommandError(f"can't unmount {operands[0] if operands else ''}: Operation not permitted")


@command("sysctl", "dmesg", "reboot", "shutdown", "poweroff", "modprobe", "systemctl", "service", "swapoff")
async def privileged(call: Call) -> int:
    texts = {
        "dmesg": "klogctl: Operation not permitted",
        "systemctl": "System has not been booted with systemd as init system (PID 1). Can't operate.",
    }
    raise CommandError(texts.get(call.name, "Operation not permitted"))


@command("clear", "reset", "stty", "tput", "ulimit")
async def terminal(call: Call) -> int:
    return 0


@command("cal", "who", "w", "users", "last")
async def nobody(call: Call) -> int:
    return 0
