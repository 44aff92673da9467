"""The files of a container's image: the usual ones under /etc, and the tools that it has."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from pytest_microremed.embedded.sim.addresses import DNS_IP
from pytest_microremed.embedded.sim.model import Container
from pytest_microremed.embedded.sim.shell import registry
from pytest_microremed.embedded.sim.shell.services import ShellServices

SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_DIRECTORIES = (
    "/bin/", "/sbin/", "/dev/", "/etc/", "/home/", "/lib/", "/mnt/", "/opt/", "/proc/", "/root/", "/run/", "/srv/",
    "/sys/", "/tmp/", "/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/local/bin/", "/usr/share/",  # noqa: S108
    "/var/log/", "/var/run/", "/var/tmp/", "/var/lib/",  # noqa: S108 the container's
)  # fmt: skip
_FILES = ("/etc/passwd", "/etc/group", "/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/os-release")
_SYSTEM_TOOLS = frozenset({"ip", "tc", "iptables", "ip6tables", "arp", "route", "ifconfig", "reboot", "sysctl"})


def tool_path(name: str) -> str:
    """Where a tool is installed."""
    if name in (
        "sh",
        "bash",
        "ash",
        "ls",
        "cat",
        "ps",
        "kill",
        "ping",
        "echo",
        "sleep",
        "date",
        "grep",
        "sed",
        "cp",
        "mv",
        "rm",
    ):
        return f"/bin/{name}"
    return f"/sbin/{name}" if name in _SYSTEM_TOOLS else f"/usr/bin/{name}"


def tool_at(path: str, container: Container) -> str | None:
    """The tool that a path of the image names."""
    directory, _, name = path.rpartition("/")
    in_path = directory in SEARCH_PATH.split(":")
    return name if in_path and registry.installed(name, container) else None


def is_tool(path: str) -> bool:
    return path.rpartition("/")[0] in SEARCH_PATH.split(":")


def paths(container: Container) -> Sequence[str]:
    return _paths(frozenset(registry.tools(container)))


@lru_cache
def _paths(tools: frozenset[str]) -> Sequence[str]:
    return (*_DIRECTORIES, *_FILES, *(tool_path(name) for name in sorted(tools)))


def read(path: str, container: Container, services: ShellServices) -> bytes | None:
    """The contents; None if the image has no such file."""
    if tool_at(path, container):
        return b"\x7fELF\x02\x01\x01"
    pod = container.pod
    texts = {
        "/etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
        "/etc/group": "root:x:0:\nnobody:x:65534:\n",
        "/etc/hosts": "# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost "
        f"ip6-loopback\n{pod.ip}\t{pod.name}\n",
        "/etc/hostname": pod.name + "\n",
        "/etc/resolv.conf": f"search {pod.namespace}.svc.cluster.local svc.cluster.local cluster.local\n"
        f"nameserver {DNS_IP}\noptions ndots:5\n",
        "/etc/os-release": 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\n'
        "ID=debian\n",
    }
    text = texts.get(path)
    return None if text is None else text.encode()
