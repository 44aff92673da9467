"""Network tools see the simulated network: addresses, names, answers, loss and delay."""

from __future__ import annotations

import re

import pytest

from pytest_microremed.embedded.sim.model import Filter, Netem
from tests.embedded.nodes import Output, World, in_container, run


def test_ping_reports_as_busybox_does() -> None:
    lines = in_container("ping -c 2 10.244.0.6").out.splitlines()
    assert lines[0] == "PING 10.244.0.6 (10.244.0.6): 56 data bytes"
    assert re.fullmatch(r"64 bytes from 10\.244\.0\.6: seq=0 ttl=63 time=\d\.\d{3} ms", lines[1])
    assert lines[-2] == "2 packets transmitted, 2 packets received, 0% packet loss"
    assert lines[-1].startswith("round-trip min/avg/max = ")


def test_ping_reports_as_iputils_does() -> None:
    lines = in_container("ping -c 2 10.244.0.6", image="debian:12").out.splitlines()
    assert lines[0] == "PING 10.244.0.6 (10.244.0.6) 56(84) bytes of data."
    assert re.fullmatch(r"2 packets transmitted, 2 received, 0% packet loss, time \d+ms", lines[-2])
    assert lines[-1].startswith("rtt min/avg/max/mdev = ")


def test_no_answer_and_no_such_host() -> None:
    assert in_container("ping -c 2 -W 1 10.244.9.9; echo $?").out.splitlines()[-2:] == [
        "2 packets transmitted, 0 packets received, 100% packet loss",
        "1",
    ]
    assert in_container("ping -c 1 nowhere") == Output("", "ping: bad address 'nowhere'\n", 1)
    assert in_container("ping -c 1 nowhere", image="debian:12").code == 2


def test_ping_needs_its_capability() -> None:
    output = in_container("ping -c 1 10.244.0.6", securityContext={"capabilities": {"drop": ["ALL"]}})
    assert output == Output("", "ping: permission denied (are you root?)\n", 1)


@pytest.mark.parametrize(
    ("script", "out", "code"),
    [
        ("wget -qO- http://10.244.0.6/", "hello\n", 0),
        ("wget -q --spider http://10.244.0.6", "", 0),
        ("wget -qO- http://10.244.0.6:81/", "", 1),
        ("nc -z -w 1 10.244.0.6 80", "", 0),
        ("nc -z -w 1 10.244.0.6 81", "", 1),
        ("printf 'GET / HTTP/1.0\\r\\n\\r\\n' | nc 10.244.0.6 80 | tail -1", "hello\n", 0),
        ("netstat -tln | grep -o ':80 '", ":80 \n", 0),
        ("nslookup nowhere > /dev/null", "", 1),
        ("getent hosts kubernetes.default | cut -d' ' -f1", "10.96.0.1\n", 0),
    ],
)
def test_connections_and_names(script: str, out: str, code: int) -> None:
    output = in_container(script)
    assert (output.out, output.code) == (out, code)


@pytest.mark.parametrize(
    ("script", "out", "code"),
    [
        ("curl -s http://10.244.0.6/", "hello\n", 0),
        ("curl -s -o /dev/null -w '%{http_code}' http://10.244.0.6/", "200", 0),
        ("curl -s -w '%{http_code}' http://10.244.0.6:81/", "000", 7),
        ("curl -s http://nowhere/", "", 6),
        ("curl -sI http://10.244.0.6/ | head -1 | tr -d '\\r'", "HTTP/1.1 200 OK\n", 0),
        ("curl -s -m 2 http://10.244.9.9/", "", 28),
    ],
)
def test_curl(script: str, out: str, code: int) -> None:
    output = in_container(script, image="debian:12")
    assert (output.out, output.code) == (out, code)


def test_curl_tells_of_an_error_status() -> None:
    async def session() -> Output:
        world = World()
        client = world.add_pod("web-1", image="debian:12").containers["web"]
        server = world.add_pod("db-1").containers["web"]
        server.program.status = 503  # type: ignore[union-attr]
        return Output.of(
            await world.shell(
                client,
                "curl -sf http://10.244.0.6/; echo $?; curl -s -o /dev/null -w '%{http_code}' http://10.244.0.6/",
            )
        )

    assert run(session()).out == "22\n503"


def test_delay_is_seen_and_takes_its_time() -> None:
    async def session() -> Output:
        world = World()
        pod = world.add_pod("web-1")
        world.add_pod("db-1")
        pod.netem = Netem(delay_s=1.0)
        return Output.of(await world.shell(pod.containers["web"], "ping -c 3 10.244.0.6 | tail -1"))

    average = float(run(session()).out.split("/")[3])
    assert 1000 <= average < 1010


def test_tc_shows_what_is_there_whoever_put_it_there() -> None:
    async def session() -> list[str]:
        world = World()
        pod = world.add_pod("web-1")
        shown = []
        for netem in (Netem(), Netem(delay_s=0.1, jitter_s=0.02, handle="1:"), Netem(loss=0.5, handle="1:")):
            pod.netem = netem
            shown.append((await world.shell(pod.containers["web"], "tc qdisc show dev eth0")).stdout.decode().strip())
        pod.netem = Netem()
        pod.filters["x"] = Filter(frozenset({"10.244.0.9"}), Netem(delay_s=0.05))
        shown.append((await world.shell(pod.containers["web"], "tc qdisc | tail -1")).stdout.decode().strip())
        return shown

    assert run(session()) == [
        "qdisc noqueue 0: root refcnt 9",
        "qdisc netem 1: root refcnt 9 limit 1000 delay 100ms  20ms",
        "qdisc netem 1: root refcnt 9 limit 1000 loss 50%",
        "qdisc netem 5: dev eth0 parent 1:4 limit 1000 delay 50ms",
    ]


def test_tc_needs_a_capability_to_change_anything() -> None:
    assert in_container("tc qdisc del dev eth0 root") == Output("", "RTNETLINK answers: Operation not permitted\n", 2)


def test_tc_changes_the_pods_impairments() -> None:
    async def session() -> list[tuple[float, float]]:
        world = World()
        pod = world.add_pod("web-1", securityContext={"capabilities": {"add": ["NET_ADMIN"]}})
        pod.netem = Netem(loss=0.5, handle="1:")
        seen = []
        for script in (
            "tc qdisc del dev eth0 root",
            "tc qdisc add dev eth0 root netem delay 100ms loss 10%",
            "tc qdisc change dev eth0 root netem delay 1s",
        ):
            assert (await world.shell(pod.containers["web"], script)).exit_code == 0
            seen.append((pod.netem.delay_s, pod.netem.loss))
        again = await world.shell(pod.containers["web"], "tc qdisc add dev eth0 root netem loss 1%")
        assert again.stderr == b"Error: Exclusivity flag on, cannot modify.\n"
        return seen

    assert run(session()) == [(0.0, 0.0), (0.1, 0.1), (1.0, 0.0)]


def test_bash_opens_connections_as_files() -> None:
    script = """
    bash -c '(exec 3<>/dev/tcp/10.244.0.6/80) && echo open; (echo > /dev/tcp/10.244.0.6/81) && echo open || echo closed'
    """
    output = in_container(script, image="debian:12")
    assert output.out == "open\nclosed\n"
    assert output.err == "bash: line 1: /dev/tcp/10.244.0.6/81: Connection refused\n"
