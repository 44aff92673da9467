"""What an image lacks cannot be run in its containers, and each userland has its own words."""

from __future__ import annotations

import pytest

from tests.embedded.nodes import Output, World, run

DISTROLESS = "gcr.io/google-containers/pause:3.9"


def execute(image: str, *command: str) -> Output:
    async def session() -> Output:
        world = World()
        return Output.of(await world.execute(world.add_pod("web-1", image=image).containers["web"], command))

    return run(session())


@pytest.mark.parametrize(
    ("image", "command", "reason"),
    [
        (DISTROLESS, "sh", 'exec: "sh": executable file not found in $PATH'),
        (DISTROLESS, "/bin/ls", 'exec: "/bin/ls": stat /bin/ls: no such file or directory'),
        ("busybox:1.36", "curl", 'exec: "curl": executable file not found in $PATH'),
        ("busybox:1.36", "/etc/passwd", 'exec: "/etc/passwd": permission denied'),
    ],
)
def test_the_container_runtime_says_that_it_cannot_start_it(image: str, command: str, reason: str) -> None:
    output = execute(image, command)
    assert output.err == f"OCI runtime exec failed: exec failed: unable to start container process: {reason}: unknown\n"
    assert output.code in (126, 127)


@pytest.mark.parametrize("command", ["/bin/cat", "/usr/bin/cat", "cat"])
def test_tools_are_found_by_name_and_path(command: str) -> None:
    assert execute("busybox:1.36", command, "/etc/hostname").out == "web-1\n"


@pytest.mark.parametrize(
    ("image", "message"),
    [("busybox:1.36", "sh: curlx: not found\n"), ("debian:12", "sh: 1: curlx: not found\n")],
)
def test_shells_complain_in_their_own_way(image: str, message: str) -> None:
    assert execute(image, "sh", "-c", "curlx").err == message


@pytest.mark.parametrize(("image", "out"), [("busybox:1.36", "a\\nb\n"), ("debian:12", "a\nb\n")])
def test_echo_differs(image: str, out: str) -> None:
    assert execute(image, "sh", "-c", "echo 'a\\nb'").out == out


def test_clients_are_where_their_programs_are() -> None:
    assert execute("redis:7", "redis-cli", "ping").err.startswith(
        "redis-cli: Could not connect to Redis at 127.0.0.1:6379"
    )
    assert execute("busybox:1.36", "redis-cli", "ping").code == 127


def test_packages_cannot_be_fetched_but_what_is_there_counts_as_installed() -> None:
    script = "apt-get -qq update; apt-get install -y procps; echo $?; apt-get install -y stress-ng; echo $?"
    output = execute("debian:12", "sh", "-c", script)
    assert [line for line in output.out.splitlines() if line.isdigit()] == ["0", "100"]
    assert "E: Unable to locate package stress-ng" in output.err
