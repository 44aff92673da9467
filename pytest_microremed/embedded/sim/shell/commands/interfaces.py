"""ip, ifconfig, route, netstat, ss, iptables, arp: the pod's network stack."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_microremed.embedded.sim.model import Filter
from pytest_microremed.embedded.sim.shell.dialect import speaks_dash
from pytest_microremed.embedded.sim.shell.procfs import command_name
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command
from pytest_microremed.embedded.sim.shell.users import may_administer_network

_PORTS = (80, 443, 3000, 3306, 3550, 5000, 5050, 5432, 5672, 6379, 7000, 7070, 8000, 8080, 8443, 8848, 9090, 9555, 9848,
          15672, 25672, 27017, 50051)  # fmt: skip
_MAC = "0a:58:0a:f4"
_ANY = "0.0.0.0"  # noqa: S104 printed only


def mac(ip: str) -> str:
    return _MAC + "".join(f":{int(part):02x}" for part in ip.split(".")[2:])


def gateway(ip: str) -> str:
    return ip.rsplit(".", 1)[0] + ".1"


def listening(call: Call) -> Iterator[tuple[int, str]]:
    """Ports on which programs of the pod accept connections, with `pid/name` of the listener where it is in sight."""
    declared = {
        entry["containerPort"]
        for container in call.container.pod.containers.values()
        for entry in container.spec.get("ports") or ()
    }
    for port in sorted(declared.union(_PORTS)):
        for container in call.container.pod.containers.values():
            if container.program is not None and container.program.listens(port):
                first = container.processes.get(1) if container is call.container else None
                yield port, f"1/{command_name(first)}" if first else "-"


@command("ip")
async def ip(call: Call) -> int:
    words = [word for word in call.args[1:] if word not in ("-4", "-o", "-br", "-brief", "-s", "-c", "-color")]
    kind = words[0] if words else ""
    action = words[1] if len(words) > 1 else "show"
    if kind and action not in ("show", "list", "ls", "get", "dev", "lst"):
        if not may_administer_network(call.container):
            raise CommandError("RTNETLINK answers: Operation not permitted", 2)
        raise CommandError("RTNETLINK answers: Invalid argument", 2)
    pod = call.container.pod
    if kind in ("a", "ad", "addr", "address"):
        if {"-br", "-brief"} & set(call.args):
            call.print(f"lo               UNKNOWN        127.0.0.1/8 \neth0             UP             {pod.ip}/24 ")
        else:
            _print_links(call, addresses=True)
    elif kind in ("l", "li", "link"):
        _print_links(call, addresses=False)
    elif kind in ("r", "ro", "route"):
        net = pod.ip.rsplit(".", 1)[0] + ".0/24"
        call.print(f"default via {gateway(pod.ip)} dev eth0 \n{net} dev eth0 proto kernel scope link src {pod.ip} ")
    elif kind in ("n", "neigh", "neighbour"):
        call.print(f"{gateway(pod.ip)} dev eth0 lladdr {mac(gateway(pod.ip))} REACHABLE")
    elif kind != "rule":
        raise CommandError(
            f'Object "{kind}" is unknown, try "ip help".' if kind else "usage: ip [OPTIONS] OBJECT { COMMAND }", 1
        )
    return 0


def _print_links(call: Call, *, addresses: bool) -> None:
    pod = call.container.pod
    queue = "netem" if pod.netem else "prio" if any(each.netem for each in pod.filters.values()) else "noqueue"
    length = " qlen 1000" if queue != "noqueue" else ""
    call.print(
        "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN qlen 1000\n"
        "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00"
    )
    if addresses:
        call.print("    inet 127.0.0.1/8 scope host lo\n       valid_lft forever preferred_lft forever")
    call.print(
        f"2: eth0@if12: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc {queue} state UP{length}\n"
        f"    link/ether {mac(pod.ip)} brd ff:ff:ff:ff:ff:ff"
    )
    if addresses:
        broadcast = pod.ip.rsplit(".", 1)[0] + ".255"
        call.print(
            f"    inet {pod.ip}/24 brd {broadcast} scope global eth0\n       valid_lft forever preferred_lft forever"
        )


@command("ifconfig")
async def ifconfig(call: Call) -> int:
    pod = call.container.pod
    broadcast = pod.ip.rsplit(".", 1)[0] + ".255"
    call.print(
        f"eth0      Link encap:Ethernet  HWaddr {mac(pod.ip).upper()}\n"
        f"          inet addr:{pod.ip}  Bcast:{broadcast}  Mask:255.255.255.0\n"
        "          UP BROADCAST RUNNING MULTICAST  MTU:1450  Metric:1\n\n"
        "lo        Link encap:Local Loopback\n          inet addr:127.0.0.1  Mask:255.0.0.0\n"
        "          UP LOOPBACK RUNNING  MTU:65536  Metric:1"
    )
    return 0


@command("route")
async def route(call: Call) -> int:
    pod = call.container.pod
    net = pod.ip.rsplit(".", 1)[0] + ".0"
    call.print(
        "Kernel IP routing table\nDestination     Gateway         Genmask         Flags Metric Ref    Use Iface\n"
        f"{_ANY:<15} {gateway(pod.ip):<15} {_ANY:<15} UG    0      0        0 eth0\n"
        f"{net:<15} {_ANY:<15} {'255.255.255.0':<15} U     0      0        0 eth0"
    )
    return 0


@command("arp")
async def arp(call: Call) -> int:
    address = gateway(call.container.pod.ip)
    call.print(f"? ({address}) at {mac(address)} [ether]  on eth0")
    return 0


@command("netstat")
async def netstat(call: Call) -> int:
    flags = "".join(word.lstrip("-") for word in call.args[1:])
    if "r" in flags:
        return await route(call)
    shows_program = "p" in flags
    call.print(
        "Active Internet connections (only servers)"
        if "l" in flags
        else "Active Internet connections (servers and established)"
    )
    program = "   PID/Program name" if shows_program else ""
    call.print(f"Proto Recv-Q Send-Q Local Address           Foreign Address         State    {program}")
    for port, owner in listening(call):
        local = f"{_ANY}:{port}"
        call.print(
            f"tcp        0      0 {local:<23} {_ANY + ':*':<23} LISTEN      {owner if shows_program else ''}".rstrip()
        )
    return 0


@command("ss", where="debian")
async def ss(call: Call) -> int:
    flags = "".join(word.lstrip("-") for word in call.args[1:])
    users = f"{'Process':>10}" if "p" in flags else ""
    call.print(f"State    Recv-Q   Send-Q     Local Address:Port       Peer Address:Port  {users}".rstrip())
    for port, owner in listening(call):
        pid, _, name = owner.partition("/")
        shown = f'users:(("{name}",pid={pid},fd=3))' if "p" in flags and name else ""
        call.print(f"LISTEN   0        4096             0.0.0.0:{port:<12}      0.0.0.0:*      {shown}".rstrip())
    return 0


@command("iptables", "ip6tables", where="debian")
async def iptables(call: Call) -> int:
    if not may_administer_network(call.container):
        raise CommandError(
            "v1.8.9 (nf_tables): Could not fetch rule set generation id: Permission denied (you must be root)", 4
        )
    words = list(call.args[1:])
    pod = call.container.pod
    drops = [(name, each) for name, each in pod.filters.items() if each.drop]
    if {"-F", "--flush"} & set(words):
        pod.filters = {name: each for name, each in pod.filters.items() if not each.drop}
        pod.changed()
    elif {"-S", "--list-rules"} & set(words):
        call.print("-P INPUT ACCEPT\n-P FORWARD ACCEPT\n-P OUTPUT ACCEPT")
        for number, (_, each) in enumerate(drops):
            chain, match = ("INPUT", "src") if each.drop == "in" else ("OUTPUT", "dst")
            call.print(f"-A CHAOS-{chain} -m set --match-set chaos_{number} {match} -j DROP")
    elif {"-L", "--list"} & set(words) or any(
        word.startswith("-") and "L" in word and not word.startswith("--") for word in words
    ):
        _list_chains(call, drops)
    return 0


def _list_chains(call: Call, drops: list[tuple[str, Filter]]) -> None:
    for chain, direction in (("INPUT", "in"), ("FORWARD", ""), ("OUTPUT", "out")):
        call.print(f"Chain {chain} (policy ACCEPT)\ntarget     prot opt source               destination")
        for number, (_, each) in enumerate(drops):
            if direction and each.drop == direction:
                match = "src" if direction == "in" else "dst"
                call.print(
                    f"DROP       all  --  anywhere             anywhere             match-set chaos_{number} {match}"
                )
        call.print("")


@command("traceroute", "tracepath")
async def traceroute(call: Call) -> int:
    operands = [word for word in call.args[1:] if not word.startswith("-")]
    if not operands:
        raise CommandError("usage: traceroute HOST", 2)
    report = call.services.network.ping(call.container.pod, operands[0], 3)
    if report.ip is None:
        raise CommandError(f"bad address '{operands[0]}'")
    trips = "  ".join("*" if trip is None else f"{trip * 1000:.3f} ms" for trip in report.round_trips)
    head = "" if speaks_dash(call.container) else ", 46 byte packets"
    call.print(f"traceroute to {operands[0]} ({report.ip}), 30 hops max{head}\n 1  {report.ip}  {trips}")
    return 0
