"""The box of a remediator's programs: a folder, an environment and, where it is possible, isolation.

With bubblewrap (`bwrap`) a program sees its own folder, the Python installation and the system's programs
and libraries read-only, and nothing else of the host; its processes end with it. Without it, the environment
holds no secret and the kubeconfig no right beyond the case, but the program runs as the user: it can read and
change, by absolute paths, what the user can, and read other processes' environments in /proc. The network is
open either way, because the API server is reached over it; nor are memory, disk space or the number of
processes limited.
"""

from __future__ import annotations

import functools
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from pytest_microremed.errors import InfrastructureError
from pytest_microremed.playbook.processes import MARKER, end_processes

_SYSTEM_FOLDERS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_SYSTEM_FILES = (
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/pki",
    "/etc/resolv.conf",
    "/etc/ssl",
    "/run/systemd/resolve",
    "/sys",
)
"""What programs of the system need beside /usr; no file in which a host keeps a secret."""

_SYSTEM_PATH = ("/usr/bin", "/bin")
_TRIAL_S = 10.0
"""Seconds for bubblewrap to show that it works."""


class Box:
    """A context: the folder and whatever process it was home to are gone at its end."""

    def __init__(self, parent: Path, kubeconfig: str) -> None:
        """Make the box's folder in `parent`; `kubeconfig` is YAML text."""
        self.folder = Path(tempfile.mkdtemp(prefix="box-", dir=parent)).resolve()
        self.project = self.folder / "project"
        self.home = self.folder / "home"
        self.temporary = self.folder / "tmp"
        for folder in (self.project, self.home, self.temporary):
            folder.mkdir(mode=0o700)
        self.kubeconfig = self.folder / "kubeconfig"
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(kubeconfig, encoding="utf-8")
        self._mark = secrets.token_hex(8)

    def __enter__(self) -> Box:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end_processes()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def environment(self) -> dict[str, str]:
        """All variables of the box's programs; none is taken over from the host."""
        loopback = "localhost,127.0.0.1,::1"
        return {
            MARKER: self._mark,
            "PATH": search_path(),
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LC_ALL": "C.UTF-8",
            "KUBECONFIG": str(self.kubeconfig),
            "KUBECACHEDIR": str(self.home / ".kube" / "cache"),
            "K8S_AUTH_KUBECONFIG": str(self.kubeconfig),
            "NO_PROXY": loopback,
            "no_proxy": loopback,
        }

    def wrap(self, command: Sequence[str]) -> list[str]:
        """The command line that runs `command` in the box's project folder, isolated if the machine can."""
        if isolation() == "none":
            return list(command)
        return [*_bwrap(self.folder, self.project), *command]

    def end_processes(self) -> None:
        """End what still runs of the box's programs, whatever session or group it moved to."""
        end_processes(self._mark)


def search_path() -> str:
    """PATH of the box: first the programs installed beside this Python, then the system's."""
    return os.pathsep.join((str(Path(sys.executable).parent), *_SYSTEM_PATH))


def find_program(name: str, way_out: str) -> str:
    """Path of a program of the box; InfrastructureError with the way out if it is missing."""
    path = shutil.which(name, path=search_path())
    if path is None:
        raise InfrastructureError(f"{name} is not in {search_path()}: {way_out}")
    return path


@functools.cache
def isolation() -> str:
    """`bwrap` if bubblewrap is installed and works here, else `none`; tried once per process."""
    if shutil.which("bwrap") is None:
        return "none"
    with tempfile.TemporaryDirectory(prefix="microremed-bwrap-") as folder:
        command = [*_bwrap(Path(folder).resolve(), Path(folder).resolve()), sys.executable, "-S", "-c", ""]
        try:
            tried = subprocess.run(
                command, capture_output=True, stdin=subprocess.DEVNULL, timeout=_TRIAL_S, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return "none"
    return "bwrap" if tried.returncode == 0 else "none"


def _bwrap(folder: Path, working_folder: Path) -> list[str]:
    """Arguments of bwrap(1). Later mounts cover earlier ones: the box and Python may be under /tmp."""
    command = [shutil.which("bwrap") or "bwrap", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    command += ["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-uts"]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--ro-bind", "/usr", "/usr"]  # noqa: S108
    for path in map(Path, _SYSTEM_FOLDERS):
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), str(path)]
        elif path.is_dir():
            command += ["--ro-bind", str(path), str(path)]
    for name in _SYSTEM_FILES:
        command += ["--ro-bind-try", name, name]
    for prefix in sorted({sys.prefix, sys.base_prefix}):
        if not Path(prefix).is_relative_to("/usr"):
            command += ["--ro-bind", prefix, prefix]
    command += ["--bind", str(folder), str(folder), "--chdir", str(working_folder)]
    return [*command, "--"]
