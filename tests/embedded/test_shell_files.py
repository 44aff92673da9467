"""Files of containers: in the image, in the container, on volumes that other containers share, and the kernel's."""

from __future__ import annotations

import pytest

from tests.embedded.nodes import LOGS, World, in_container, run


def test_files_stay_in_the_container() -> None:
    assert in_container("echo one > /tmp/a; echo two >> /tmp/a", "cat /tmp/a; wc -l < /tmp/a").out == "one\ntwo\n2\n"


def test_a_volume_is_shared_by_the_containers_of_a_pod() -> None:
    async def session() -> bytes:
        world = World()
        pod = world.add_pod("web-1", "web", "probe")
        await world.shell(pod.containers["web"], f"mkdir {LOGS}/old; echo line > {LOGS}/old/app.log; echo x > /tmp/own")
        result = await world.shell(pod.containers["probe"], f"cat {LOGS}/*/app.log; ls /tmp {LOGS}")
        assert pod.volumes["logs"].files["old/app.log"] == b"line\n"
        return result.stdout

    assert run(session()) == b"line\n/tmp:\n\n/var/log/service:\nold\n"


def test_directories_are_made_moved_copied_found_and_removed() -> None:
    script = """
    mkdir -p /tmp/a/b && echo text > /tmp/a/b/f.txt && cp -r /tmp/a /tmp/c && mv /tmp/c /tmp/d
    find /tmp -name '*.txt' | sort; find /tmp/d -type d; du -s /tmp/d; rmdir /tmp/d; rm -r /tmp/a /tmp/d; ls /tmp
    """
    output = in_container(script)
    assert output.out == "/tmp/a/b/f.txt\n/tmp/d/b/f.txt\n/tmp/d\n/tmp/d/b\n12\t/tmp/d\n"
    assert output.err == "rmdir: '/tmp/d': Directory not empty\n"


def test_a_file_of_the_image_can_be_changed_and_removed() -> None:
    assert in_container("echo mine > /etc/os-release; cat /etc/os-release; rm /etc/hosts; ls /etc/hosts").err == (
        "ls: /etc/hosts: No such file or directory\n"
    )


def test_a_read_only_root_file_system_refuses_writes_but_its_volumes_do_not() -> None:
    script = f"echo x > /tmp/a; echo $?; echo y > {LOGS}/b; echo $?"
    output = in_container(script, securityContext={"readOnlyRootFilesystem": True})
    assert output.out == "1\n0\n"
    assert output.err == "sh: can't create /tmp/a: Read-only file system\n"


def test_a_script_needs_its_permission_to_be_run() -> None:
    script = (
        "printf '#!/bin/sh\\necho ran $1\\n' > /tmp/s; /tmp/s; echo $?; chmod +x /tmp/s; /tmp/s now; stat -c %a /tmp/s"
    )
    assert in_container(script).out == "126\nran now\n755\n"


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("echo /e*/host?", "/etc/hosts\n"),
        ("echo /nothing*", "/nothing*\n"),
        ("cd /etc; echo host[n]ame; pwd; cd ..; pwd", "hostname\n/etc\n/\n"),
        ("cat /proc/1/comm; tr '\\0' ' ' < /proc/1/cmdline", "server\n/srv/server "),
        ("cat /sys/fs/cgroup/cpu.max /sys/fs/cgroup/memory.max", "50000 100000\n268435456\n"),
        ("cat /etc/hostname; hostname -i; grep -c web-1 /etc/hosts", "web-1\n10.244.0.5\n1\n"),
        (
            "[ -d /proc ] && [ -f /etc/hosts ] && [ -x /bin/ls ] && [ -c /dev/null ] && [ ! -e /none ] && echo yes",
            "yes\n",
        ),
        ("ls -l /tmp/none; echo $?", "1\n"),
    ],
)
def test_what_is_there(script: str, out: str) -> None:
    assert in_container(script).out == out


def test_a_large_file_takes_its_size_but_no_memory() -> None:
    script = f"""
    dd if=/dev/zero of={LOGS}/big bs=1M count=5000 2>/dev/null
    ls -l {LOGS} | grep -o 5242880000; df -m {LOGS} | wc -l
    """
    assert in_container(script).out == "5242880000\n2\n"


def test_dd_reports_in_the_words_of_its_userland() -> None:
    script = f"dd if=/dev/zero of={LOGS}/t bs=1M count=10 oflag=direct"
    assert in_container(script).err.startswith("10+0 records in\n10+0 records out\n10485760 bytes (10.0MB) copied, 0.0")
    assert "10485760 bytes (10 MB, 10 MiB) copied, " in in_container(script, image="debian:12").err


def test_files_in_shared_memory_count_as_memory() -> None:
    script = """
    a=$(cat /sys/fs/cgroup/memory.current); head -c 5000000 /dev/zero > /dev/shm/f
    b=$(cat /sys/fs/cgroup/memory.current)
    """
    assert in_container(f"{script}\necho $((b - a))").out == "5000000\n"


def test_tar_packs_and_unpacks_as_kubectl_cp_needs_it() -> None:
    script = """
    mkdir -p /tmp/a/b /tmp/o; echo hi > /tmp/a/b/f; chmod 750 /tmp/a/b/f
    tar cf - -C /tmp a | tar -xmf - -C /tmp/o; cat /tmp/o/a/b/f; stat -c %a /tmp/o/a/b/f
    tar czf /tmp/x.tgz /tmp/a/b; tar tf /tmp/x.tgz; echo | tar xf -; echo $?; tar cf - /none | wc -c
    """
    assert in_container(script).out == "hi\n750\ntmp/a/b\ntmp/a/b/f\n2\n0\n"


def test_a_loop_over_a_bracket_word_is_no_pattern() -> None:
    assert in_container("cd /etc; echo [ [a x] '[p]asswd' [p]asswd").out == "[ [a x] [p]asswd passwd\n"
