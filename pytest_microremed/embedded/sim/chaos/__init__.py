"""Chaos Mesh 2.7 as the simulated cluster has it: its custom resources, what they do, how they recover."""

from pytest_microremed.embedded.sim.chaos.controller import start_chaos
from pytest_microremed.embedded.sim.chaos.crds import install_crds

__all__ = ["install_crds", "start_chaos"]
