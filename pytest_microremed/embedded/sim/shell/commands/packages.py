"""apt, which reaches no mirror from the simulated cluster."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_RESOLVING_S = 10.0
_MIRROR = "deb.debian.org"
_PRESENT = frozenset(
    {
        "bash", "bind9-dnsutils", "coreutils", "curl", "dnsutils", "findutils", "grep", "iproute2", "iptables",
        "iputils-ping", "mawk", "net-tools", "netcat", "netcat-openbsd", "procps", "psmisc", "sed", "tar", "util-linux",
        "wget",
    }
)  # fmt: skip
"""Packages whose commands every simulated Debian has."""


@command("apt", "apt-get", where="debian")
async def apt(call: Call) -> int:
    words = [word for word in call.args[1:] if not word.startswith("-")]
    if call.container.user != 0:
        raise CommandError("Could not open lock file /var/lib/dpkg/lock-frontend - open (13: Permission denied)", 100)
    action = words[0] if words else ""
    if action == "update":
        await call.services.clock.sleep(_RESOLVING_S)
        for suite in ("bookworm", "bookworm-updates"):
            call.print(f"Err:1 http://{_MIRROR}/debian {suite} InRelease\n  Temporary failure resolving '{_MIRROR}'")
        call.print("Reading package lists...")
        for suite in ("bookworm", "bookworm-updates"):
            url = f"http://{_MIRROR}/debian/dists/{suite}/InRelease"
            call.err.write(f"W: Failed to fetch {url}  Temporary failure resolving '{_MIRROR}'\n".encode())
        call.err.write(b"W: Some index files failed to download. They have been ignored, or old ones used instead.\n")
        return 0
    if action in ("install", "upgrade", "dist-upgrade"):
        call.print("Reading package lists...\nBuilding dependency tree...\nReading state information...")
        missing = [name for name in words[1:] if name not in _PRESENT]
        for name in words[1:]:
            if name in missing:
                call.err.write(f"E: Unable to locate package {name}\n".encode())
            else:
                call.print(f"{name} is already the newest version.")
        return 100 if missing else 0
    return 0
