"""What kube-controller-manager does: each controller drives one kind of object towards what it declares."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pytest_microremed.embedded.api.runtime import Usage
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.controllers.autoscaler import AutoscalerController
from pytest_microremed.embedded.sim.controllers.base import Manager
from pytest_microremed.embedded.sim.controllers.cronjob import CronJobController
from pytest_microremed.embedded.sim.controllers.daemonset import DaemonSetController
from pytest_microremed.embedded.sim.controllers.deployment import DeploymentController
from pytest_microremed.embedded.sim.controllers.disruption import DisruptionController
from pytest_microremed.embedded.sim.controllers.endpoints import EndpointsController
from pytest_microremed.embedded.sim.controllers.job import JobController
from pytest_microremed.embedded.sim.controllers.nodes import CordonController, EvictionController
from pytest_microremed.embedded.sim.controllers.replicaset import ReplicaSetController
from pytest_microremed.embedded.sim.controllers.resourcequota import ResourceQuotaController
from pytest_microremed.embedded.sim.controllers.statefulset import StatefulSetController
from pytest_microremed.embedded.sim.controllers.volumes import VolumeController
from pytest_microremed.embedded.sim.events import EventKeeper

_CONTROLLERS = (
    DeploymentController,
    ReplicaSetController,
    StatefulSetController,
    DaemonSetController,
    JobController,
    CronJobController,
    EndpointsController,
    DisruptionController,
    ResourceQuotaController,
    VolumeController,
    CordonController,
    EvictionController,
)


def start_controllers(
    store: Store,
    clock: SimClock,
    usage: Callable[[Object], Mapping[str, Usage] | None] | None = None,
) -> None:
    """Start all controllers on the clock's event loop.

    `usage` tells what the containers of a pod use at this moment (None = no sample); without it
    HorizontalPodAutoscalers only keep their target within its bounds.
    """
    manager = Manager(store, clock)
    manager.start([*(each(manager) for each in _CONTROLLERS), AutoscalerController(manager, usage)])
    EventKeeper(store, clock).start()
