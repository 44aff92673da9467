"""Commands are processes of their container: `ps` shows them, signals end them, loops use CPU."""

from __future__ import annotations

import asyncio
import signal

import pytest

from pytest_microremed.embedded.sim.shell import run_command, session
from tests.embedded.nodes import Output, World, in_container, run, until


def test_a_command_is_seen_while_it_runs_and_gone_afterwards() -> None:
    async def scenario() -> None:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        task = asyncio.ensure_future(world.execute(container, ["sleep", "infinity"]))
        await until("the process", lambda: len(container.processes) == 2)
        listed = (await world.execute(container, ["ps"])).stdout.decode()
        assert "    2 root      0:00 sleep infinity" in listed.splitlines()
        container.kill(2, signal.SIGKILL)
        assert (await task).exit_code == 137
        assert list(container.processes) == [1]

    run(scenario())


def test_the_commands_of_a_pipeline_run_at_the_same_time() -> None:
    assert "grep sleep" in in_container("ps | grep sleep").out


def test_a_loop_in_the_background_stays_and_uses_a_core_until_it_is_killed() -> None:
    async def scenario() -> None:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        started = await world.shell(container, "while :; do :; done & echo $!")
        pid = int(started.stdout)
        await until("the loop to be busy", lambda: container.processes[pid].cpu == 1.0)
        assert (await world.shell(container, f"kill {pid}")).exit_code == 0
        assert list(container.processes) == [1]

    run(scenario())


def test_a_loop_that_waits_uses_no_cpu() -> None:
    async def scenario() -> None:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        pid = int((await world.shell(container, "while true; do sleep 0.01; echo x >> /tmp/n; done & echo $!")).stdout)
        await until("some rounds", lambda: len(container.files.get("/tmp/n", b"")) > 100)
        assert container.processes[pid].cpu == 0.0
        container.kill(pid, signal.SIGKILL)

    run(scenario())


def test_endless_copies_use_a_core() -> None:
    async def scenario() -> None:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        for script in ("dd if=/dev/zero of=/dev/null &", "yes > /dev/null &"):
            await world.shell(container, script)
        await until("two busy processes", lambda: sum(p.cpu for p in container.processes.values()) > 2)
        await world.shell(container, "pkill dd; killall yes")
        assert list(container.processes) == [1]

    run(scenario())


def test_pkill_by_name_and_by_command_line() -> None:
    script = """
    sleep 1000 & sleep 2000 & sleep 1
    pgrep -c sleep; pkill -f 'sleep 1000$'; pgrep -c sleep; pkill -x slee; pkill sle
    """
    assert in_container(script).out == "2\n1\n"
    assert in_container(script, "ps").out.count("sleep") == 0


def test_a_shell_can_be_killed_by_its_own_command() -> None:
    output = in_container("echo before; pkill -x sh; echo after")
    assert (output.out, output.code) == ("before\n", 143)


def test_children_of_a_killed_process_live_on() -> None:
    output = in_container("sh -c 'sleep 700; :' & sleep 1; kill $!; pgrep -x sleep; pgrep -P 1 -l")
    pid, child_of_first = output.out.splitlines()
    assert child_of_first == f"{pid} sleep"


def test_signals_to_processes_that_are_not_there() -> None:
    output = in_container("kill 4711; echo $?; pkill nothing; echo $?; killall nothing; echo $?")
    assert output.out == "1\n1\n1\n"
    assert "can't kill pid 4711: No such process" in output.err


def test_killing_the_first_process_ends_it_after_the_command_has_returned() -> None:
    async def scenario() -> None:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        ended: list[int] = []
        container.processes[1].on_exit = ended.append
        assert (await world.execute(container, ["kill", "1"])).exit_code == 0
        await until("the first process to end", lambda: ended == [signal.SIGTERM])

    run(scenario())


def test_the_kernel_shields_the_first_process_from_sigkill_inside_its_namespace() -> None:
    assert in_container("kill -9 1; sleep 2; pgrep server").out == "1\n"


def test_only_root_may_signal_the_processes_of_root() -> None:
    async def scenario() -> None:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        container.user = 1000
        container.spawn(("stress-ng",), uid=0)
        result = await world.shell(container, "pkill stress-ng; kill 2; whoami; id -u; kill $$")
        assert b"Operation not permitted" in result.stderr
        assert b"1000\n" in result.stdout
        assert 2 in container.processes

    run(scenario())


def test_timeout_ends_a_command() -> None:
    assert in_container(
        "timeout 2 sleep 100; echo $?; timeout 100 true; echo $?; timeout -s KILL 1 sleep 9; echo $?"
    ).out == ("124\n0\n137\n")


def test_children_of_a_shell_that_has_ended_live_on() -> None:
    assert "sleep 500" in in_container("sh -c 'sleep 500 &'", "ps").out


def test_ps_in_the_form_of_procps_sorts_and_chooses_columns() -> None:
    output = in_container(
        "yes > /dev/null & sleep 1; ps -eo pid,comm --sort=-%cpu | head -2; ps aux | head -1", image="debian:12"
    )
    lines = output.out.splitlines()
    assert lines[0].split() == ["PID", "COMMAND"]
    assert lines[1].split()[1] == "yes"
    assert lines[2].split()[:4] == ["USER", "PID", "%CPU", "%MEM"]


def test_a_containers_own_script_runs_as_its_first_process() -> None:
    async def scenario() -> bytes:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        container.processes[1].command = ("sh", "-c", "ps; echo $$")
        command = container.processes[1].command
        result = await run_command(container, command, b"", world.services, container.processes[1])
        assert 1 in container.processes
        return result.stdout

    assert run(scenario()).decode().splitlines()[1:] == [
        "    1 root      0:00 sh -c ps; echo $$",
        "    2 root      0:00 ps",
        "1",
    ]


def test_the_commands_of_a_pipeline_take_their_subshells_processes_over() -> None:
    lines = in_container("ps | cat").out.splitlines()
    assert [" ".join(line.split()[3:]) for line in lines[1:]] == ["/srv/server", "sh -c ps | cat", "ps", "cat"]


def test_a_command_is_cut_off_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "LONGEST_S", 10.0)
    assert in_container("echo begun; sleep infinity") == Output("begun\n", "", 137)
