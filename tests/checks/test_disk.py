"""The write test: where it writes, how it reads dd, what it leaves behind, and what it does not believe."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from pytest_microremed.checks.check import CheckResult, look_healthy
from pytest_microremed.checks.disk import DiskWrite, parse_dd
from pytest_microremed.cluster.cluster import ExecOutput
from pytest_microremed.errors import NotPosed, WaitTimeout
from tests.checks.fakes import CART, NAMESPACE, FakeCluster, failed, shop, the_pod

QUICK = ExecOutput(
    "", "10+0 records in\n10+0 records out\n10485760 bytes (10.0MB) copied, 0.012 seconds, 833.3MB/s\n", 0
)
SLOW = ExecOutput("", "10+0 records in\n10+0 records out\n10485760 bytes (10 MB, 10 MiB) copied, 2.5 s, 4.2 MB/s\n", 0)
STUCK = ExecOutput("", "Terminated\n", 143)


def build(cluster: FakeCluster, *, shell: bool = True) -> Callable[[], CheckResult]:
    def answer(_: str, container: str, command: Sequence[str]) -> ExecOutput | Exception:
        if container == "server" and not shell:
            return failed('exec: "sh": executable file not found in $PATH')
        return QUICK

    cluster.answers = answer
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    measurement = DiskWrite(cluster, CART, NAMESPACE, healthy)
    return lambda: measurement.measure(target.look())


def writes(output: ExecOutput) -> Callable[[str, str, Sequence[str]], ExecOutput]:
    return lambda *_: output


@pytest.mark.parametrize(
    ("line", "rate"),
    [
        ("10485760 bytes (10.0MB) copied, 0.010486 seconds, 953.7MB/s", 1000.0),
        ("10485760 bytes (10 MB, 10 MiB) copied, 1.0486 s, 10.0 MB/s", 10.0),
        ("10485760 bytes (10 MB, 10 MiB) copied, 5.2e-05 s, 202 GB/s", 201_649.2),
        ("dd: /var/log/service: Read-only file system", None),
    ],
)
def test_dd_is_understood(line: str, rate: float | None) -> None:
    assert parse_dd(line) == (pytest.approx(rate, rel=1e-3) if rate else None)


def test_a_quick_disk_passes_and_a_slow_one_does_not() -> None:
    cluster = shop()
    look = build(cluster)
    assert look().passed
    cluster.answers = writes(SLOW)
    assert look().reason == "writes only 4.2 MB/s"
    cluster.answers = writes(STUCK)
    assert look().reason == "cart-a: 10 MiB were not written to /var/log/service in 10 s"
    cluster.answers = writes(ExecOutput("", "dd: /var/log/service/.write-test: Read-only file system\n", 1))
    assert "Read-only file system" in look().reason
    cluster.answers = writes(QUICK)
    assert look().passed


def test_a_disk_that_does_not_let_go_is_the_fault_and_no_infrastructure_trouble() -> None:
    cluster = shop()
    look = build(cluster)
    cluster.answers = lambda *_: WaitTimeout("end of dd", 30)
    assert not look().passed


def test_it_writes_in_the_main_container_and_removes_its_file() -> None:
    cluster = shop()
    look = build(cluster)
    cluster.answers = writes(STUCK)
    look()
    _, container, command = cluster.commands[-1]
    assert container == "server"
    assert command[-1].endswith("; code=$?; rm -f /var/log/service/.write-test; exit $code")


def test_without_direct_io_it_syncs() -> None:
    cluster = shop()
    refused = ExecOutput("", "dd: /var/log/service/.write-test: Invalid argument", 1)
    target, healthy = look_healthy(cluster, CART, NAMESPACE)
    cluster.answers = lambda _, __, command: refused if "oflag=direct" in command[-1] else QUICK
    measurement = DiskWrite(cluster, CART, NAMESPACE, healthy)
    assert measurement.measure(target.look()).passed
    assert "conv=fsync" in cluster.commands[-1][2][-1]


def test_a_disk_that_is_slow_from_the_start_cannot_be_posed() -> None:
    cluster = shop()
    _, healthy = look_healthy(cluster, CART, NAMESPACE)
    cluster.answers = writes(SLOW)
    with pytest.raises(NotPosed, match="writes only"):
        DiskWrite(cluster, CART, NAMESPACE, healthy)


def test_where_the_image_has_no_shell_the_sidecar_writes() -> None:
    cluster = shop()
    assert build(cluster, shell=False)().passed
    assert cluster.commands[-1][1] == "probe"


def restart(cluster: FakeCluster, *containers: str) -> None:
    for status in the_pod(cluster)["status"]["containerStatuses"]:
        if status["name"] in containers:
            status["containerID"] += "-again"


def test_a_new_sidecar_alone_proves_nothing() -> None:
    cluster = shop()
    look = build(cluster, shell=False)
    restart(cluster, "probe")
    assert "only its container probe was restarted" in look().reason
    restart(cluster, "server")
    assert look().passed


def test_with_a_shell_in_the_main_container_the_sidecar_does_not_matter() -> None:
    cluster = shop()
    look = build(cluster)
    restart(cluster, "probe")
    assert look().passed
