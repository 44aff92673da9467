"""What depends on the image's userland, and on how a volume is mounted."""

from __future__ import annotations

from pytest_microremed.embedded.sim.model import Container, Mount


def speaks_dash(container: Container) -> bool:
    """Whether /bin/sh is dash, and the tools are GNU's (Debian), rather than busybox."""
    return container.image is not None and container.image.profile.userland == "debian"


def is_bash(name: str) -> bool:
    """Whether a shell was called by that name."""
    return name.rsplit("/", 1)[-1] == "bash"


def shell_prefix(container: Container, name: str) -> str:
    """How the shell of that image begins its own messages: bash, dash and busybox each in their way."""
    if is_bash(name):
        return f"{name}: line 1: "
    return f"{name}: 1: " if speaks_dash(container) else f"{name}: "


def not_found(container: Container, shell: str, command: str, problem: str) -> str:
    """What a shell says about a command that it cannot run."""
    if is_bash(shell) and problem == "not found":
        problem = "command not found" if "/" not in command else "No such file or directory"
    return f"{shell_prefix(container, shell)}{command}: {problem}"


def file_system_of(container: Container, mount: Mount) -> tuple[str, str]:
    """Device and type of a mounted volume, as /proc/mounts names them.

    Chaos Mesh's IOChaos puts a FUSE file system (toda) over the mount.
    """
    if any(fault.container == container.name for fault in mount.volume.faults.values()):
        return "toda", "fuse"
    return ("tmpfs", "tmpfs") if mount.volume.in_memory else ("/dev/sda1", "ext4")
