"""The API server put together over a store: certificates, tokens, roles, namespaces, the kubeconfig."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path

from pytest_microremed.embedded.api.access import Authorizer
from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.builtin_roles import create_builtin_roles
from pytest_microremed.embedded.api.certificates import create_certificates
from pytest_microremed.embedded.api.custom import CustomResources
from pytest_microremed.embedded.api.lifecycle import Lifecycle
from pytest_microremed.embedded.api.registry import Registry
from pytest_microremed.embedded.api.runtime import Runtime
from pytest_microremed.embedded.api.server import ApiServer
from pytest_microremed.embedded.api.store import Store
from pytest_microremed.embedded.api.tokens import Tokens
from pytest_microremed.embedded.api.watch import WatchHub


class ControlPlane:
    """Make it before anything else listens to the store (see `WatchHub`); start it once there are nodes."""

    def __init__(self, store: Store, folder: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.kubeconfig = folder / "kubeconfig.yaml"
        self._store = store
        self._hub = WatchHub(store)
        self._registry = Registry()
        self._custom = CustomResources(store, self._registry)
        self._certificates = create_certificates(folder)
        self._tokens = Tokens(store)
        self._server: ApiServer | None = None
        Lifecycle(store, loop, self._certificates.authority)
        create_builtin_roles(store)

    async def start(self, runtime: Runtime) -> str:
        """Serve, write the kubeconfig, and return the server's URL."""
        authorizer = Authorizer(self._store)
        api = Api(self._store, self._hub, self._registry, self._custom, self._tokens, authorizer, runtime)
        self._server = ApiServer(api)
        url = f"https://127.0.0.1:{await self._server.start(self._certificates.context)}"
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(_kubeconfig(url, self._certificates.authority, self._tokens.admin))
        return url

    async def stop(self) -> None:
        """End all requests."""
        if self._server is not None:
            await self._server.stop()


def _kubeconfig(url: str, authority: str, token: str) -> str:
    """A kubeconfig for one bearer token: JSON, which every reader of YAML takes."""
    name = "embedded"
    cluster = {"server": url, "certificate-authority-data": base64.b64encode(authority.encode()).decode()}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
        "current-context": name,
    }
    return json.dumps(config, indent=2)
