"""The embedded cluster as a whole: API server and simulation on one event loop, in a thread of their own."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

_START_S = 10.0
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

    def start(self) -> None:
        """Serve, and write the administrator's kubeconfig. Raises TimeoutError if it does not come up."""
        self._thread.start()
        self._call(self._start(), _START_S)

    def stop(self) -> None:
        """End all requests and the thread; nothing is kept."""
        self._call(self._stop(), _STOP_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_S)
        self._loop.close()

    async def _start(self) -> None:
        from pytest_microremed.embedded.api.api import Api
        from pytest_microremed.embedded.api.builtin_roles import create_builtin_roles
        from pytest_microremed.embedded.api.certificates import create_certificates
        from pytest_microremed.embedded.api.lifecycle import Lifecycle
        from pytest_microremed.embedded.api.server import ApiServer
        from pytest_microremed.embedded.api.store import Store
        from pytest_microremed.embedded.api.tokens import Tokens

        self._folder.mkdir(parents=True, exist_ok=True)
        certificates = create_certificates(self._folder)
        store = Store()
        self._simulation = _simulation(store, self._loop, self.speed)
        tokens = Tokens(store)
        api = Api(store, self._simulation, tokens)
        self.store = store
        Lifecycle(store, self._loop, certificates.authority)
        create_builtin_roles(store)
        self._server = ApiServer(api)
        self.url = f"https://127.0.0.1:{await self._server.start(certificates.context)}"
        if self._simulation is not None:
            self._simulation.start()
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(_kubeconfig(self.url, certificates.authority, tokens.admin))

    async def _stop(self) -> None:
        await self._server.stop()

    def _call(self, work: Coroutine[Any, Any, None], limit_s: float) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(limit_s)


def _simulation(store: Any, loop: asyncio.AbstractEventLoop, speed: float) -> Any:
    try:
        from pytest_microremed.embedded.sim.simulation import Simulation
    except ImportError:
        return None
    return Simulation(store, loop, speed)


def _kubeconfig(url: str, authority: str, token: str) -> str:
    """A kubeconfig for one bearer token: JSON, which every reader of YAML takes."""
    name = "embedded"
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(authority.encode()).decode()}
    context = {"cluster": name, "user": name, "namespace": "default"}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": context}],
        "current-context": name,
    }
    return json.dumps(config, indent=2)
