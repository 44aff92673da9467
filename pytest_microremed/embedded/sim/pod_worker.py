"""The life of one pod on its node: sandbox and volumes, init containers in order, the others, and its end."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from typing import Any

from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.container_state import Terminated
from pytest_microremed.embedded.sim.container_worker import ContainerWorker
from pytest_microremed.embedded.sim.model import PodSandbox
from pytest_microremed.embedded.sim.node_context import NodeContext
from pytest_microremed.embedded.sim.pod_status import status_of
from pytest_microremed.embedded.sim.volumes import MountError

SANDBOX_S = 0.1
MOUNT_RETRY_S = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
DEFAULT_GRACE_S = 30


class PodWorker:
    """Runs a pod from the moment it is bound to the node until it is removed from the store."""

    def __init__(self, context: NodeContext, pod: Object, sandbox: PodSandbox) -> None:
        self.pod = pod
        self.sandbox = sandbox
        self.sandbox_ready = False
        spec = pod["spec"]
        waiting = "PodInitializing" if spec.get("initContainers") else "ContainerCreating"
        self.init = [
            ContainerWorker(self, context, c, "init", "PodInitializing") for c in spec.get("initContainers") or ()
        ]
        self.main = [ContainerWorker(self, context, c, "main", waiting) for c in spec["containers"]]
        self.ephemeral: list[ContainerWorker] = []
        self.started_at = context.clock.now()
        self._context = context
        self._tasks: set[asyncio.Task[None]] = set()
        self._publishing = False
        self._refreshing = False
        self._ending = False
        sandbox.on_change = self.refresh
        for worker in self.workers():
            sandbox.containers[worker.name] = worker.container

    @property
    def grace_s(self) -> float:
        """The pod's own grace period."""
        return float(self.pod["spec"].get("terminationGracePeriodSeconds", DEFAULT_GRACE_S))

    @property
    def is_initialized(self) -> bool:
        """Whether all init containers have done their work."""
        return all(
            worker.came_up.is_set()
            if worker.is_sidecar
            else isinstance(worker.state, Terminated) and worker.state.exit_code == 0
            for worker in self.init
        )

    def workers(self) -> Iterator[ContainerWorker]:
        yield from self.init
        yield from self.main
        yield from self.ephemeral

    def worker(self, container: str) -> ContainerWorker | None:
        return next((worker for worker in self.workers() if worker.name == container), None)

    def start(self) -> None:
        """Begin to run the pod."""
        self.publish()
        self.spawn_task(self._live())

    def update(self, pod: Object) -> None:
        """Another version of the pod is in the store."""
        old, self.pod = self.pod, pod
        self.sandbox.labels = pod["metadata"].get("labels") or {}
        if "deletionTimestamp" in pod["metadata"]:
            self._begin_end()
        elif pod["spec"] is not old["spec"]:
            specs = [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]
            for worker, spec in zip([*self.init, *self.main], specs, strict=True):
                worker.redefine(spec)
            self._add_ephemeral(pod["spec"].get("ephemeralContainers") or [])

    def refresh(self) -> None:
        """Something that the pod's programs or probes depend on has changed: look once, soon."""
        if not self._refreshing:
            self._refreshing = True
            self._context.clock.loop.call_soon(self._refresh)

    def refresh_users(self, service: str) -> None:
        """A Service has changed: look again if a program of the pod was told to use it."""
        if any(worker.depends_on(service) for worker in self.workers()):
            self.refresh()

    def observe(self, service: str | None) -> None:
        """A Service of the pod's namespace (None = perhaps any) has gone or come back."""
        for worker in self.workers():
            worker.observe(service)

    def reload_volumes(self) -> None:
        """A ConfigMap or Secret has changed: renew the files made of it."""
        for entry in self.pod["spec"].get("volumes") or ():
            volume = self.sandbox.volumes.get(entry["name"])
            if volume and {"configMap", "secret", "projected"} & entry.keys():
                try:
                    made = self._context.volumes.make(self.pod, entry, self.sandbox.ip, self._context.ip)
                except MountError:
                    continue
                volume.files = made.files

    def abandon(self) -> None:
        """The pod has been removed from the store: kill everything at once."""
        self._ending = True
        for worker in self.workers():
            worker.kill()
        for task in self._tasks:
            task.cancel()

    def publish(self) -> None:
        """Write the status, once for all that changes in this turn of the event loop."""
        if not self._publishing:
            self._publishing = True
            self._context.clock.loop.call_soon(self._publish)

    def spawn_task(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something that ends with the pod."""
        task = self._context.clock.loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._forget_task)

    def _forget_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            context = {"message": f"pod {self.sandbox.name}", "exception": error, "task": task}
            self._context.clock.loop.call_exception_handler(context)

    async def _live(self) -> None:
        await self._context.clock.sleep(SANDBOX_S)
        await self._mount_volumes()
        self.sandbox_ready = True
        self.publish()
        for worker in self.init:
            self.spawn_task(worker.live())
            await (worker.came_up if worker.is_sidecar else worker.finished).wait()
            if not worker.is_sidecar and not self._succeeded(worker):
                return
        for worker in self.main:
            self.spawn_task(worker.live())
        for worker in self.main:
            await worker.finished.wait()
        for worker in self.init:
            if worker.is_sidecar and not self._ending:
                await worker.stop(self.grace_s)

    async def _mount_volumes(self) -> None:
        for entry in self.pod["spec"].get("volumes") or ():
            attempt = 0
            while entry["name"] not in self.sandbox.volumes:
                try:
                    volume = self._context.volumes.make(self.pod, entry, self.sandbox.ip, self._context.ip)
                    self.sandbox.volumes[entry["name"]] = volume
                except MountError as error:
                    self._context.event(self.pod, "Warning", "FailedMount", str(error))
                    await self._context.clock.sleep(MOUNT_RETRY_S[min(attempt, len(MOUNT_RETRY_S) - 1)])
                    attempt += 1

    def _succeeded(self, worker: ContainerWorker) -> bool:
        return isinstance(worker.state, Terminated) and worker.state.exit_code == 0

    def _add_ephemeral(self, specs: list[dict[str, Any]]) -> None:
        for spec in specs[len(self.ephemeral) :]:
            worker = ContainerWorker(self, self._context, spec, "ephemeral", "ContainerCreating")
            self.ephemeral.append(worker)
            self.sandbox.containers[worker.name] = worker.container
            self.spawn_task(worker.live())

    def _begin_end(self) -> None:
        if self._ending:
            self._remove_when_finished()
            return
        self._ending = True
        self._context.clock.loop.call_soon(lambda: self.spawn_task(self._end()))

    async def _end(self) -> None:
        grace = self.pod["metadata"].get("deletionGracePeriodSeconds", self.grace_s)
        await asyncio.gather(*(worker.stop(grace) for worker in self.workers()))
        self._publish()
        self._remove_when_finished()

    def _remove_when_finished(self) -> None:
        """The last word of a kubelet: the API object may go, if no finalizer holds it."""
        ended = all(not worker.is_running for worker in self.workers())
        if ended and not self.pod["metadata"].get("finalizers"):
            self._context.store.remove(PODS, self.pod)

    def _refresh(self) -> None:
        self._refreshing = False
        for worker in self.workers():
            worker.refresh()

    def _publish(self) -> None:
        self._publishing = False
        self._context.store.update_status(PODS, self.pod, **status_of(self, self._context))
