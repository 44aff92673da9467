"""nslookup, dig, host, getent: names on the cluster's DNS."""

from __future__ import annotations

from pytest_microremed.embedded.sim.addresses import CLUSTER_DOMAIN, DNS_IP, is_address
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command


def _full_name(call: Call, name: str) -> str:
    """The name that answers in the search path, as `nslookup` prints it."""
    if name.endswith(CLUSTER_DOMAIN) or is_address(name):
        return name
    namespace = call.container.pod.namespace
    for domain in (f"{namespace}.svc.{CLUSTER_DOMAIN}", f"svc.{CLUSTER_DOMAIN}", CLUSTER_DOMAIN):
        if call.services.network.resolve(f"{name}.{domain}.", namespace):
            return f"{name}.{domain}"
    return name


@command("nslookup")
async def nslookup(call: Call) -> int:
    operands = [word for word in call.args[1:] if not word.startswith("-")]
    if not operands:
        raise CommandError("usage: nslookup HOST [DNS_SERVER]")
    name = operands[0]
    addresses = call.services.network.resolve(name, call.container.pod.namespace)
    await call.services.clock.sleep(0.01)
    call.print(
        f"Server:\t\t{DNS_IP}\nAddress:\t{DNS_IP}:53\n"
        if call.is_busybox
        else f"Server:\t\t{DNS_IP}\nAddress:\t{DNS_IP}#53\n"
    )
    if not addresses:
        call.print(f"** server can't find {name}: NXDOMAIN\n")
        return 1
    full = _full_name(call, name)
    for address in addresses:
        call.print(f"Name:\t{full}\nAddress: {address}")
    call.print("")
    return 0


@command("host", where="debian")
async def host(call: Call) -> int:
    operands = [word for word in call.args[1:] if not word.startswith("-")]
    name = operands[0] if operands else ""
    addresses = call.services.network.resolve(name, call.container.pod.namespace)
    for address in addresses:
        call.print(f"{_full_name(call, name)} has address {address}")
    if not addresses:
        call.print(f"Host {name} not found: 3(NXDOMAIN)")
    return 0 if addresses else 1


@command("dig", where="debian")
async def dig(call: Call) -> int:
    operands = [
        word for word in call.args[1:] if not word.startswith(("-", "+", "@")) and word not in ("A", "ANY", "IN")
    ]
    name = operands[0] if operands else "."
    searching = "+search" in call.args
    addresses = call.services.network.resolve(
        name if searching else name.rstrip(".") + ".", call.container.pod.namespace
    )
    if "+short" in call.args:
        for address in addresses:
            call.print(address)
        return 0
    status = "NOERROR" if addresses else "NXDOMAIN"
    call.print(
        f"\n;; ->>HEADER<<- opcode: QUERY, status: {status}, id: 4711\n\n"
        f";; QUESTION SECTION:\n;{name.rstrip('.')}.\t\t\tIN\tA\n"
    )
    if addresses:
        call.print(";; ANSWER SECTION:")
        for address in addresses:
            call.print(f"{(_full_name(call, name) if searching else name).rstrip('.')}.\t30\tIN\tA\t{address}")
    call.print(f"\n;; SERVER: {DNS_IP}#53({DNS_IP})")
    return 0


@command("getent")
async def getent(call: Call) -> int:
    operands = [word for word in call.args[1:] if not word.startswith("-")]
    database = operands[0] if operands else ""
    if database in ("hosts", "ahosts", "ahostsv4"):
        status = 0 if operands[1:] else 2
        for name in operands[1:]:
            addresses = call.services.network.resolve(name, call.container.pod.namespace)
            for address in addresses:
                kind = "STREAM " if database != "hosts" else "    "
                call.print(f"{address:<15} {kind}{_full_name(call, name)}")
            status = status if addresses else 2
        return status
    if database in ("passwd", "group"):
        for line in call.files.content(f"/etc/{database}").decode().splitlines():
            if not operands[1:] or line.split(":")[0] in operands[1:]:
                call.print(line)
        return 0
    raise CommandError(f"Unknown database: {database}", 1)
