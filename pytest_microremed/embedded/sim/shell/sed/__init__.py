"""The stream editor."""

from pytest_microremed.embedded.sim.shell.sed.editor import edit, expand
from pytest_microremed.embedded.sim.shell.sed.script import Script, SedError

__all__ = ["Script", "SedError", "edit", "expand"]
