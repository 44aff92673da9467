"""A small awk: enough of POSIX awk for the one-liners that operators write."""

from pytest_microremed.embedded.sim.shell.awk.expressions import AwkSyntaxError
from pytest_microremed.embedded.sim.shell.awk.interpreter import Awk
from pytest_microremed.embedded.sim.shell.awk.parser import parse

__all__ = ["Awk", "AwkSyntaxError", "parse"]
