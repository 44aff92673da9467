"""The custom resources of Chaos Mesh that the simulated cluster has."""

from __future__ import annotations

from pytest_microremed.embedded.api.resources import Resource

GROUP = "chaos-mesh.org"
VERSION = "v1alpha1"


def _chaos(kind: str) -> Resource:
    return Resource(GROUP, VERSION, kind.lower(), kind, subresources=(), custom=True)


POD_CHAOS = _chaos("PodChaos")
STRESS_CHAOS = _chaos("StressChaos")
NETWORK_CHAOS = _chaos("NetworkChaos")
IO_CHAOS = _chaos("IOChaos")
ALL = (POD_CHAOS, STRESS_CHAOS, NETWORK_CHAOS, IO_CHAOS)
