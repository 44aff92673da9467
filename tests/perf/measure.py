"""Prints what the embedded cluster and the harness cost, as a table (`make perf`); nothing here passes or fails.

Ratios are taken within one run on one machine, so they can be compared; absolute figures cannot.
"""

from __future__ import annotations

import os
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import yaml

from pytest_microremed.case import Case, load_folder
from pytest_microremed.clock import ScaledClock, WallClock
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.credentials import issue_agent
from pytest_microremed.cluster.embedded import open_embedded
from pytest_microremed.data import cases_dir
from pytest_microremed.playbook.runner import PlaybookRunner
from pytest_microremed.posing import dismantle, pose
from pytest_microremed.recorder import Recorder
from pytest_microremed.registry import Registry, RemediatorContext
from pytest_microremed.stopwatch import Stopwatch
from pytest_microremed.systems.baseline import deploy
from pytest_microremed.systems.system import load_system
from pytest_microremed.testbed import Testbed
from pytest_microremed.trial import Trial

T = TypeVar("T")
SERVER = """
import sys, time, pathlib
start = time.perf_counter()
from pytest_microremed.embedded.cluster import EmbeddedCluster
from pytest_microremed.embedded.api import certificates, control_plane
from pytest_microremed.embedded.sim import simulation
imported = time.perf_counter()
cluster = EmbeddedCluster(pathlib.Path(sys.argv[1]))
cluster.start()
started = time.perf_counter()
print(imported - start, started - imported, flush=True)
sys.stdin.read()
"""


def main() -> None:
    rows = [*server_rows(), *case_rows()]
    width = max(len(name) for name, _, _ in rows)
    print(f"{'measured'.ljust(width)}  {'figure':>10}  wanted")
    for name, figure, wanted in rows:
        print(f"{name.ljust(width)}  {figure:>10}  {wanted}")


def server_rows() -> Iterator[tuple[str, str, str]]:
    """A server process of its own: start, memory with Train-Ticket deployed, requests a second."""
    with tempfile.TemporaryDirectory(prefix="microremed-perf-") as folder:
        times = [_serve(Path(folder) / str(n), lambda *_: None)[0] for n in range(5)]
        imports, starts = ([t[i] for t in times] for i in (0, 1))
        yield "server start, median of 5 (s)", f"{statistics.median(starts):.3f}", "< 0.3"
        yield "its imports in a new process (s)", f"{statistics.median(imports):.3f}", ""

        def load(process: subprocess.Popen[str], kubeconfig: Path) -> tuple[float, float, float]:
            cluster = Cluster(kubeconfig, name="perf", clock=ScaledClock(100.0))
            system = load_system("train-ticket")
            deploy(cluster, system, system.namespace)
            path = f"/apis/apps/v1/namespaces/{system.namespace}/deployments/ts-order-service"
            before = _cpu_seconds(process.pid)
            gets, seconds = _get_often(kubeconfig, path)
            per_core = gets / (_cpu_seconds(process.pid) - before)
            cluster.close()
            return _resident_mb(process.pid), per_core, gets / seconds

        _, (memory, per_core, rate) = _serve(Path(folder) / "load", load)
        yield "server memory with Train-Ticket (MB)", f"{memory:.0f}", "< 150"
        yield "GET of a Deployment a second of the server's CPU", f"{per_core:.0f}", ">= 3000"
        yield "the same a second by one client, one after the other", f"{rate:.0f}", ""


def case_rows() -> Iterator[tuple[str, str, str]]:
    """Whole cases with the oracle against the same playbook by plain ansible-playbook on the same cluster and fault."""
    whole: list[float] = []
    alone: list[float] = []
    with tempfile.TemporaryDirectory(prefix="microremed-perf-") as name:
        folder = Path(name)
        testbed = Testbed(open_embedded(folder / "cluster"))
        oracle = Registry().resolve("oracle")(RemediatorContext(model=None, t_max=1))
        for case in sample():
            testbed.become(load_system(case.system))  # deploying a system is not part of a case
            seconds, playbook = _case(testbed, case, oracle, folder)
            whole.append(seconds)
            alone.append(_plain(testbed, case, playbook, folder))
            figures = f"{whole[-1]:.2f} / {alone[-1]:.2f}"
            yield f"{case.system} {case.fault}: case / playbook (s)", figures, f"ratio {whole[-1] / alone[-1]:.2f}"
        testbed.cluster.close()
    yield "median case / median playbook", f"{statistics.median(whole) / statistics.median(alone):.2f}", "<= 2.0"


def sample() -> list[Case]:
    """One hard case of each fault and system."""
    first: dict[tuple[str, str], Case] = {}
    for case in load_folder(cases_dir()):
        if case.level == "hard":
            first.setdefault((case.system, case.fault), case)
    return [first[key] for key in sorted(first)]


def _case(testbed: Testbed, case: Case, oracle: Any, folder: Path) -> tuple[float, str]:
    """Wall seconds of the case from posing to restored, and its playbook."""
    start = time.perf_counter()
    recorder = Recorder(case, "oracle", None, Stopwatch(WallClock()), lambda _: None)
    posed = pose(testbed, case, recorder)
    oracle.prepare(case, posed.workload)
    kubeconfig = issue_agent(testbed.cluster, posed.namespace)
    from pytest_microremed.briefing import brief

    incident = brief(posed, lambda _: (_ for _ in ()).throw(NotImplementedError))
    result = Trial(posed, PlaybookRunner(kubeconfig, folder), recorder, 0).run(incident, oracle)
    dismantle(posed, recorder.stopwatch)
    assert result.recovered, result.explain()
    return time.perf_counter() - start, result.attempts[0].playbook or ""


def _plain(testbed: Testbed, case: Case, playbook: str, folder: Path) -> float:
    """Wall seconds of the playbook by plain ansible-playbook on the same fault."""
    recorder = Recorder(case, "plain", None, Stopwatch(WallClock()), lambda _: None)
    posed = pose(testbed, case, recorder)
    with tempfile.TemporaryDirectory(dir=folder) as name:
        home = Path(name)
        (home / "kubeconfig").write_text(issue_agent(testbed.cluster, posed.namespace))
        (home / "playbook.yml").write_text(playbook)
        (home / "inventory").write_text(
            f"localhost ansible_connection=local ansible_python_interpreter={sys.executable} ansible_become=false\n"
        )
        path = os.pathsep.join((str(Path(sys.executable).parent), "/usr/bin", "/bin"))
        environment = {
            "PATH": path,
            "HOME": name,
            "KUBECONFIG": str(home / "kubeconfig"),
            "LC_ALL": "C.UTF-8",
        }
        start = time.perf_counter()
        run = subprocess.run(
            ["ansible-playbook", "-i", "inventory", "playbook.yml"],
            cwd=home, env=environment, capture_output=True, check=False,
        )  # fmt: skip
        seconds = time.perf_counter() - start
        assert run.returncode == 0, run.stdout.decode()
    dismantle(posed, recorder.stopwatch)
    return seconds


def _serve(folder: Path, use: Callable[[subprocess.Popen[str], Path], T]) -> tuple[tuple[float, float], T]:
    """Seconds of import and of start in a new server process, and what `use` makes of it."""
    folder.mkdir(parents=True)
    process = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin
    assert process.stdout
    imported, started = map(float, process.stdout.readline().split())
    try:
        return (imported, started), use(process, folder / "kubeconfig.yaml")
    finally:
        process.stdin.close()
        process.wait(10)


def _get_often(kubeconfig: Path, path: str, seconds: float = 3.0) -> tuple[int, float]:
    """One connection over TLS, one request after the other, for so many seconds: how many it was."""
    config = yaml.safe_load(kubeconfig.read_text())
    url, token = urlsplit(config["clusters"][0]["cluster"]["server"]), config["users"][0]["user"]["token"]
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    assert url.hostname
    with context.wrap_socket(socket.create_connection((url.hostname, url.port or 443))) as connection:
        request = f"GET {path} HTTP/1.1\r\nHost: {url.netloc}\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        count, end = 0, time.perf_counter() + seconds
        while time.perf_counter() < end:
            connection.sendall(request)
            _read_response(connection)
            count += 1
    return count, seconds


def _read_response(connection: ssl.SSLSocket) -> None:
    data = connection.recv(65536)
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200"), head
    length = next(int(line.split(b":")[1]) for line in head.splitlines() if line.lower().startswith(b"content-length"))
    while len(body) < length:
        body += connection.recv(65536)


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


if __name__ == "__main__":
    main()
