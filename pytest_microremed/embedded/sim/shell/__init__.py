"""A small POSIX shell with the usual tools, for `kubectl exec` into simulated containers. Nothing real is ever run."""

from pytest_microremed.embedded.sim.shell.services import NodeFacts, ShellServices
from pytest_microremed.embedded.sim.shell.session import run_command

__all__ = ["NodeFacts", "ShellServices", "run_command"]
