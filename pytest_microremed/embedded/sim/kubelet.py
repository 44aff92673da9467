"""The kubelet of the simulated node: a worker for each pod bound to it, and answers about what runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytest_microremed.embedded.api.resources import (
    CONFIG_MAPS,
    ENDPOINTS,
    NETWORK_POLICIES,
    NODES,
    PODS,
    SECRETS,
    SERVICES,
)
from pytest_microremed.embedded.api.runtime import ExecResult, LogLine, RuntimeRefused, Usage
from pytest_microremed.embedded.api.store import Change, Object, Store
from pytest_microremed.embedded.sim import usage
from pytest_microremed.embedded.sim.addresses import POD_NETWORK
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.container_state import Running, Waiting
from pytest_microremed.embedded.sim.image_store import ImageStore
from pytest_microremed.embedded.sim.model import Nodes, PodSandbox
from pytest_microremed.embedded.sim.network import Network
from pytest_microremed.embedded.sim.node import KERNEL, NODE_IP, NODE_NAME, node_object
from pytest_microremed.embedded.sim.node_context import NodeContext
from pytest_microremed.embedded.sim.pod_worker import PodWorker
from pytest_microremed.embedded.sim.probe_handlers import ProbeHandlers
from pytest_microremed.embedded.sim.shell import NodeFacts, ShellServices, run_command
from pytest_microremed.embedded.sim.volumes import Volumes


class Kubelet:
    """Follows the store. Everything it does happens on the event loop of its clock."""

    def __init__(self, store: Store, clock: SimClock, nodes: Nodes, network: Network, seed: int = 0) -> None:
        facts = NodeFacts(NODE_NAME, usage.NODE_CORES, usage.NODE_MEMORY, KERNEL)
        self._context = NodeContext(
            store,
            clock,
            network,
            ImageStore(clock),
            Volumes(store),
            ProbeHandlers(network, clock, facts),
            ShellServices(network, clock, facts),
            seed,
        )
        self._store = store
        self._clock = clock
        self._nodes = nodes
        self._workers: dict[str, PodWorker] = {}
        self._next_address = 0
        self._random = self._context.random(NODE_NAME)
        self._unsubscribe: Callable[[], None] | None = None

    def start(self) -> None:
        """Register the node, and run what is bound to it."""
        if self._store.get(NODES, None, NODE_NAME) is None:
            self._store.create(NODES, node_object(self._clock))
        self._unsubscribe = self._store.subscribe(self._follow)
        for pod in self._store.list(PODS):
            self._follow_pod(Change("ADDED", PODS, pod, None))

    def stop(self) -> None:
        """Stop following, and end every task."""
        if self._unsubscribe:
            self._unsubscribe()
        for worker in self._workers.values():
            worker.abandon()

    async def execute(self, pod: Object, container: str, command: Sequence[str], stdin: bytes) -> ExecResult:
        """Run a command in a running container. Raises RuntimeRefused."""
        worker = self._worker(pod)
        found = worker.worker(container) if worker else None
        if found is None or not isinstance(found.state, Running):
            raise RuntimeRefused(500, f'unable to upgrade connection: container not found ("{container}")')
        return await run_command(found.container, command, stdin, self._context.shell)

    def logs(self, pod: Object, container: str, *, previous: bool) -> list[LogLine]:
        """What the container, or the one before it, has written so far. Raises RuntimeRefused."""
        name = pod["metadata"]["name"]
        worker = self._worker(pod)
        found = worker.worker(container) if worker else None
        if found is None:
            reason = "PodInitializing" if pod["spec"].get("initContainers") else "ContainerCreating"
            raise RuntimeRefused(400, f'container "{container}" in pod "{name}" is waiting to start: {reason}')
        log = found.previous_log if previous else found.read_log()
        if log is not None:
            return list(log.lines)
        if previous:
            raise RuntimeRefused(400, f'previous terminated container "{container}" in pod "{name}" not found')
        reason = found.state.reason if isinstance(found.state, Waiting) else "ContainerCreating"
        if reason in ("ErrImagePull", "ImagePullBackOff"):
            reason = "trying and failing to pull image" if reason == "ErrImagePull" else "image can't be pulled"
        raise RuntimeRefused(400, f'container "{container}" in pod "{name}" is waiting to start: {reason}')

    def pod_usage(self, pod: Object) -> dict[str, Usage] | None:
        """Usage by container at this moment; None where there is no sample (pod not running)."""
        worker = self._worker(pod)
        return (usage.sample(worker.sandbox, self._random) or None) if worker else None

    def node_usage(self, node: Object) -> Usage:
        """Usage of a node at this moment."""
        return usage.total(
            sample
            for worker in self._workers.values()
            for sample in usage.sample(worker.sandbox, self._random).values()
        )

    def _worker(self, pod: Object) -> PodWorker | None:
        return self._workers.get(pod["metadata"]["uid"])

    def _follow(self, change: Change) -> None:
        resource, meta = change.resource, change.obj["metadata"]
        if resource is PODS:
            self._follow_pod(change)
        elif resource is SERVICES:
            for worker in self._workers.values():
                worker.refresh_users(meta["name"])
        elif resource is ENDPOINTS:
            if _is_serving(change.obj) != _is_serving(change.old):
                self._tell_observers(meta["namespace"], meta["name"])
        elif resource is NETWORK_POLICIES:
            self._tell_observers(meta["namespace"], None)
        elif resource in (CONFIG_MAPS, SECRETS) and change.type == "MODIFIED":
            for worker in self._in_namespace(meta["namespace"]):
                worker.reload_volumes()

    def _follow_pod(self, change: Change) -> None:
        pod, uid = change.obj, change.obj["metadata"]["uid"]
        worker = self._workers.get(uid)
        if change.type == "DELETED":
            if worker:
                del self._workers[uid]
                del self._nodes.pods[uid]
                worker.abandon()
        elif worker:
            worker.update(pod)
        elif pod["spec"].get("nodeName") == NODE_NAME:
            self._admit(pod)

    def _admit(self, pod: Object) -> None:
        meta, uid = pod["metadata"], pod["metadata"]["uid"]
        ip = NODE_IP if pod["spec"].get("hostNetwork") else self._free_address()
        sandbox = PodSandbox(meta["namespace"], meta["name"], uid, NODE_NAME, ip, meta.get("labels") or {})
        self._nodes.pods[uid] = sandbox
        worker = self._workers[uid] = PodWorker(self._context, pod, sandbox)
        worker.start()

    def _free_address(self) -> str:
        while True:
            self._next_address = self._next_address % (POD_NETWORK.num_addresses - 3) + 1
            ip = str(POD_NETWORK[self._next_address + 1])
            if self._nodes.by_ip(ip) is None:
                return ip

    def _in_namespace(self, namespace: str) -> list[PodWorker]:
        return [worker for worker in self._workers.values() if worker.sandbox.namespace == namespace]

    def _tell_observers(self, namespace: str, service: str | None) -> None:
        for worker in self._in_namespace(namespace):
            worker.observe(service)


def _is_serving(endpoints: Object | None) -> bool:
    """Whether it has a ready address."""
    return any(subset.get("addresses") for subset in (endpoints or {}).get("subsets") or ())
