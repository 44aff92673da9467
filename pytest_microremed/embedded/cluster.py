"""The embedded cluster as a whole: API server and simulation on one event loop, in a thread of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_microremed.embedded.api.control_plane import ControlPlane
    from pytest_microremed.embedded.sim.simulation import Simulation

_START_S = 30.0
_STOP_S = 5.0


class EmbeddedCluster:
    """A cluster on the loopback interface that real clients use by its kubeconfig.

    `speed` divides every simulated delay: at 100, a probe that starts after 60 s starts after 0.6 s.
    """

    def __init__(self, folder: Path, speed: float = 100.0) -> None:
        self.speed = speed
        self.kubeconfig = folder / "kubeconfig.yaml"
        self.url = ""
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="embedded-cluster", daemon=True)
        self._control_plane: ControlPlane | None = None
        self._simulation: Simulation | None = None

    def start(self) -> None:
        """Serve, and write the administrator's kubeconfig. Raises TimeoutError if it does not come up."""
        self._thread.start()
        try:
            self._call(self._start(), _START_S)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all requests, the simulation and the thread; nothing is kept."""
        self._call(self._stop(), _STOP_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_S)
        self._loop.close()

    async def _start(self) -> None:
        from pytest_microremed.embedded.api.control_plane import ControlPlane
        from pytest_microremed.embedded.api.store import Store
        from pytest_microremed.embedded.sim.simulation import Simulation

        self._folder.mkdir(parents=True, exist_ok=True)
        store = Store()
        self._control_plane = ControlPlane(store, self._folder, self._loop)
        self._simulation = Simulation(store, self._loop, self.speed)
        self._simulation.start()
        self.url = await self._control_plane.start(self._simulation)

    async def _stop(self) -> None:
        if self._control_plane is not None:
            await self._control_plane.stop()
        if self._simulation is not None:
            self._simulation.stop()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    def _call(self, work: Coroutine[Any, Any, None], limit_s: float) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(limit_s)
