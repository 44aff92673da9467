"""What a hostile playbook finds in its box: no secret of the host's, and a kubeconfig of its own."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_microremed.errors import InfrastructureError
from pytest_microremed.playbook import runner as runner_module
from pytest_microremed.playbook.box import Box, isolation
from pytest_microremed.playbook.playbook import Playbook
from pytest_microremed.playbook.runner import PlaybookRunner, Run
from tests.playbook.nowhere import KUBECONFIG

needs_bwrap = pytest.mark.skipif(isolation() == "none", reason="bubblewrap is not installed, or does not work here")

HOSTILE = """\
- hosts: k3s_control_plane
  become: true
  gather_facts: false
  tasks:
    - name: Look around
      ansible.builtin.shell: |
        echo "variables: $(env | cut -d= -f1 | sort | paste -sd' ')"
        env
        echo "home: $HOME has $(ls -A ~ | paste -sd' '); kube: $(ls ~/.kube/config 2>&1)"
        echo "kubeconfig mode: $(stat -c %a "$KUBECONFIG")"
        echo "kubectl: $(command -v kubectl)"
        echo "context: $(kubectl config current-context)"
        echo "terminal: $( (: </dev/tty) 2>&1 )"
      register: seen
    - ansible.builtin.debug:
        var: seen.stdout_lines
    - name: Print something that is not English
      ansible.builtin.debug:
        msg: café ☸
"""


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    folder = tmp_path_factory.mktemp("hostile")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-very-secret")
        patch.setenv("KUBECONFIG", "/host/kubeconfig")
        patch.setenv("ANSIBLE_STDOUT_CALLBACK", "minimal")
        patch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
        yield PlaybookRunner(KUBECONFIG, folder).run(Playbook(HOSTILE))
    assert not list(folder.iterdir()), "boxes are removed"


def test_nothing_of_the_hosts_environment_is_there(hostile: Run) -> None:
    assert hostile.exit_code == 0, hostile.output
    for secret in (
        "sk-very-secret",
        "OPENAI_API_KEY",
        "/host/kubeconfig",
        "proxy.invalid",
        str(Path.home() / ".kube"),
    ):
        assert secret not in hostile.output
    allowed = {
        "PATH",
        "HOME",
        "TMPDIR",
        "LC_ALL",
        "KUBECONFIG",
        "KUBECACHEDIR",
        "K8S_AUTH_KUBECONFIG",
        "NO_PROXY",
    }
    allowed |= {
        "no_proxy",
        "MICROREMED_BOX",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
        "LC_MESSAGES",
        "LANG",
        "LC_CTYPE",
    }
    line = next(row for row in hostile.output.split('"') if row.startswith("variables: "))
    names = set(line.removeprefix("variables: ").split())
    assert "KUBECONFIG" in names
    assert {name for name in names if not name.startswith("ANSIBLE_")} <= allowed
    assert names.isdisjoint(os.environ.keys() - allowed)


def test_home_and_kubeconfig_are_the_boxs(hostile: Run) -> None:
    assert "home: /box/home has" in hostile.output
    assert "kube: ls: cannot access '/box/home/.kube/config'" in hostile.output
    assert "kubeconfig mode: 600" in hostile.output
    assert "context: nowhere" in hostile.output


def test_kubectl_is_the_one_beside_this_python(hostile: Run) -> None:
    assert f"kubectl: {Path(sys.executable).parent / 'kubectl'}" in hostile.output


def test_it_cannot_ask_the_users_terminal(hostile: Run) -> None:
    assert "/dev/tty: No such device" in hostile.output


def test_the_inventorys_group_matches_and_become_does_no_harm(hostile: Run) -> None:
    assert "PLAY [k3s_control_plane]" in hostile.output
    assert hostile.ran


def test_output_is_plain_text_in_any_language(hostile: Run) -> None:
    assert "café ☸" in hostile.output
    assert "\x1b[" not in hostile.output


def test_the_kubeconfig_is_the_users_alone(tmp_path: Path) -> None:
    with Box(tmp_path, KUBECONFIG) as box:
        assert stat.S_IMODE(box.kubeconfig.stat().st_mode) == 0o600
        assert stat.S_IMODE(box.folder.stat().st_mode) == 0o700
    assert not list(tmp_path.iterdir())


@needs_bwrap
def test_isolated_it_sees_and_writes_nothing_outside(run: Callable[[str], Run], tmp_path: Path) -> None:
    secret, target = tmp_path / "secret.txt", tmp_path / "written.txt"
    secret.write_text("sk-in-a-file")
    installed = Path(sys.prefix) / "written-by-a-playbook"
    result = run(
        f"""\
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.shell: |
        exec 2>&1
        cat {secret} /etc/shadow
        cat /proc/{os.getpid()}/environ
        echo broken > {target}
        echo broken > {installed}
        kill -9 {os.getpid()}
        exit 1
      ignore_errors: true
"""
    )
    assert result.exit_code == 0, result.output
    assert "sk-in-a-file" not in result.output
    assert result.output.count("No such file or directory") >= 3
    assert "Read-only file system" in result.output
    assert not target.exists()
    assert not installed.exists()


@pytest.mark.parametrize("missing", ["ansible-playbook", "kubectl"])
def test_a_missing_program_is_no_failed_repair(missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in {"ansible-playbook", "kubectl"} - {missing}:
        (programs / name).symlink_to(shutil.which("true") or "/bin/true")
    monkeypatch.setattr(sys, "executable", str(programs / "python"))
    monkeypatch.setattr("pytest_microremed.playbook.box._SYSTEM_PATH", ())
    runner_module.check_programs.cache_clear()
    with pytest.raises(InfrastructureError) as caught:
        PlaybookRunner(KUBECONFIG, tmp_path)
    assert str(caught.value).startswith(f"{missing} is not in {programs}: ")
    assert "install" in str(caught.value)
    runner_module.check_programs.cache_clear()


def test_a_missing_collection_is_no_failed_repair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "site-packages" not in p])
    runner_module.check_programs.cache_clear()
    with pytest.raises(InfrastructureError, match=r"kubernetes\.core is missing: pip install ansible"):
        PlaybookRunner(KUBECONFIG, tmp_path)
    runner_module.check_programs.cache_clear()
