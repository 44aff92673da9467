"""The HTTP side: who asks, whether they may, and that every refusal becomes a Status object."""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import Any

from aiohttp import web

from pytest_microremed.embedded.api.access import request_attributes
from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.errors import (
    ApiError,
    internal,
    unauthorized,
    unknown_path,
)
from pytest_microremed.embedded.api.handlers import answer, json_response
from pytest_microremed.embedded.api.impersonation import acting_identity
from pytest_microremed.embedded.api.negotiation import negotiate
from pytest_microremed.embedded.api.paths import Paths
from pytest_microremed.embedded.api.request import parse_request
from pytest_microremed.embedded.api.tokens import Identity

_MAX_BODY = 3 * 2**20
"""Bytes (the API server's MaxRequestBodyBytes)."""
_SHUTDOWN_S = 0.2
_logger = logging.getLogger(__name__)


class ApiServer:
    """Serves the objects of a store over HTTPS, on the event loop it is started on."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._paths = Paths(api)
        self._runner: web.ServerRunner | None = None

    async def start(self, context: ssl.SSLContext) -> int:
        """Listen on a free port of the loopback interface; returns the port."""
        server = web.Server(self._handle, request_factory=_request, handler_cancellation=True)
        self._runner = web.ServerRunner(server, shutdown_timeout=_SHUTDOWN_S)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context).start()
        return int(self._runner.addresses[0][1])

    async def stop(self) -> None:
        """End the watches, then every connection."""
        self.api.hub.close()
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            return await self._answer(request)
        except ApiError as error:
            return json_response(error.status(), error.code)
        except (asyncio.CancelledError, ConnectionResetError):
            raise  # the client has left
        except web.HTTPRequestEntityTooLarge:
            message = f"the request is larger than {_MAX_BODY} bytes"
            return json_response(ApiError(413, "RequestEntityTooLarge", message).status(), 413)
        except Exception as error:
            _logger.exception("%s %s", request.method, request.raw_path)
            return json_response(internal(repr(error)).status(), 500)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        identity = self._authenticate(request)
        info = parse_request(request.method, request.raw_path)
        if not identity.is_master:
            self.api.authorizer.check(identity, request_attributes(info))
        if info.path.startswith("/openapi/"):  # a document may take a while to build
            return await asyncio.to_thread(self._paths.answer, request, info)
        if not info.plural:
            return self._paths.answer(request, info)
        form = negotiate(request.headers.get("Accept", ""))
        resource = self.api.registry.find(info.api_version, info.plural)
        if resource is None or bool(info.namespace) > resource.namespaced:
            raise unknown_path()
        return await answer(self.api, request, info, resource, form, identity)

    def _authenticate(self, request: web.BaseRequest) -> Identity:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise unauthorized()
        identity = self.api.tokens.identify(token.strip())
        return acting_identity(self.api.authorizer, identity, request.headers)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    """As web.Server makes it, but a body may be as large as the API server allows."""
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_MAX_BODY)
