"""Disk I/O: how fast each pod of the target writes to its log volume."""

from __future__ import annotations

import re

from pytest_microremed.checks.check import CheckResult
from pytest_microremed.checks.exec import run_in
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.cluster.kinds import Obj
from pytest_microremed.errors import NotPosed, WaitTimeout
from pytest_microremed.faults.target import View, container_status, disk_container, name_of
from pytest_microremed.systems.system import LOG_PATH, PROBE_CONTAINER, Workload

MIB = 10
MB_PER_S = 10.0
"""Recovered is at least this much (MicroRemed, papers.md 3.1)."""
GIVE_UP_S = 10
"""A write that takes longer is far too slow; with the injected 5 s an operation it would take a minute. And it is long
enough for a harness on a busy machine: for the embedded cluster, it is a tenth of a second of the wall's.
"""
FLAGS = ("oflag=direct", "conv=fsync")
"""Past the page cache, which no disk fault slows; O_DIRECT is not to be had on every file system."""
_TIMED_OUT = (124, 143)
"""Exit codes of coreutils' and of busybox' timeout."""

_COPIED = re.compile(r"(\d+) bytes .*copied, ([\d.]+(?:e-?\d+)?) s")


def parse_dd(output: str) -> float | None:
    """MB/s out of the last line of GNU's or busybox' dd; None if nothing was copied."""
    copied = _COPIED.search(output)
    return int(copied[1]) / max(float(copied[2]), 1e-6) / 1e6 if copied else None


class DiskWrite:
    """Writes `MIB` MiB to the log volume in one container of each pod, and reads off what dd says."""

    def __init__(self, cluster: Cluster, workload: Workload, namespace: str, healthy: View) -> None:
        """Find out where and how the healthy target can write; NotPosed if it cannot, or is slow already."""
        self._cluster = cluster
        self._container = disk_container(cluster, workload, namespace, name_of(healthy.pods[0]))
        self._main = workload.container
        self._seen: dict[str, tuple[object, object]] = {}
        """By pod uid, which runs of the main container and of the sidecar were there first."""
        for self._flag in FLAGS:
            result = self.measure(healthy)
            if result.passed:
                return
        raise NotPosed(f"{workload.name} cannot write to {LOG_PATH} as it should: {result.reason}")

    def measure(self, view: View) -> CheckResult:
        rates: dict[str, float] = {}
        for pod in view.pods:
            name = name_of(pod)
            rate = self._only_sidecar_restarted(pod) or self._write(pod)
            if isinstance(rate, str):
                return CheckResult(False, f"{name}: {rate}", {"MB/s": rates, "container": self._container})
            rates[name] = round(rate, 1)
        slowest = min(rates.values())
        reason = f"writes {slowest:g} MB/s at least" if slowest >= MB_PER_S else f"writes only {slowest:g} MB/s"
        return CheckResult(slowest >= MB_PER_S, reason, {"MB/s": rates, "container": self._container})

    def refresh(self) -> None:
        """Every look measures anew."""

    def _write(self, pod: Obj) -> float | str:
        """MB/s, or why there is no figure. The file is removed whatever happens."""
        file = f"{LOG_PATH}/.write-test"
        write = f"timeout {GIVE_UP_S} dd if=/dev/zero of={file} bs=1M count={MIB} {self._flag}"
        script = f"{write}; code=$?; rm -f {file}; exit $code"
        try:
            answer = run_in(self._cluster, pod, self._container, ["sh", "-c", script])
        except WaitTimeout as error:  # a disk that does not even let go of the command
            return str(error)
        if isinstance(answer, str):
            return answer
        if answer.exit_code in _TIMED_OUT:
            return f"{MIB} MiB were not written to {LOG_PATH} in {GIVE_UP_S} s"
        said = answer.stderr + answer.stdout
        rate = parse_dd(said)
        return f"{MIB} MiB were not written to {LOG_PATH}: {said.strip()[-200:]}" if rate is None else rate

    def _only_sidecar_restarted(self, pod: Obj) -> str | None:
        """Where the sidecar stands in for the main container, a new sidecar in the old pod proves nothing."""
        if self._container != PROBE_CONTAINER:
            return None
        runs = tuple(container_status(pod, name).get("containerID") for name in (self._main, PROBE_CONTAINER))
        main, sidecar = self._seen.setdefault(pod["metadata"]["uid"], (runs[0], runs[1]))
        if runs[0] == main and runs[1] != sidecar:
            return f"only its container {PROBE_CONTAINER} was restarted, {self._main} still has the old disk"
        return None
