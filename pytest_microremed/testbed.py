"""One worker's cluster and what is deployed on it, kept from case to case as long as it is clean."""

from __future__ import annotations

from pytest_microremed.cluster.cleaning import clean
from pytest_microremed.cluster.cluster import Cluster
from pytest_microremed.systems.baseline import Baseline, deploy, find_clean, restore
from pytest_microremed.systems.system import System


class Testbed:
    """Turns the cluster into the system that a case needs, clean: deployed, restored or found as it should be."""

    __test__ = False  # pytest collects classes named Test*

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.dirty: str | None = None
        """Why the next case must reset the system; None while it is clean."""
        self._deployed: dict[str, Baseline] = {}

    def become(self, system: System) -> Baseline:
        """Deploy the system, or find it clean; what a killed or failed case left behind is removed first.

        Raises ClusterError where the cluster cannot be brought to the system's healthy state.
        """
        baseline = self._deployed.get(system.name)
        if baseline is None or self.dirty:
            clean(self.cluster)
            baseline = deploy(self.cluster, system, system.namespace)
        elif find_clean(self.cluster, baseline):
            restore(self.cluster, baseline)
        self._deployed[system.name] = baseline
        self.dirty = None
        return baseline
