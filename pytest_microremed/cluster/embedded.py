"""The embedded cluster as a `Cluster`: nothing above this module knows which of the two kinds it works on."""

from __future__ import annotations

from pathlib import Path

from pytest_microremed.clock import ScaledClock
from pytest_microremed.cluster.cluster import Cluster


def open_embedded(folder: Path) -> Cluster:
    """Start an embedded cluster that keeps its files in `folder`; closing the handle stops it."""
    from pytest_microremed.embedded.cluster import EmbeddedCluster

    embedded = EmbeddedCluster(folder)
    embedded.start()
    return Cluster(embedded.kubeconfig, name="embedded", clock=ScaledClock(embedded.speed), on_close=embedded.stop)
