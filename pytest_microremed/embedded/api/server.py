"""The HTTP side: who asks, what for, and which handler answers; every refusal becomes a Status object."""

from __future__ import annotations

import asyncio
import logging
import ssl
from typing import Any

from aiohttp import web

from pytest_microremed.embedded.api import deleting, reading, writing
from pytest_microremed.embedded.api.api import Api, Reply
from pytest_microremed.embedded.api.body import decode, decode_object
from pytest_microremed.embedded.api.discovery import AGGREGATED_JSON, Discovery, version_info
from pytest_microremed.embedded.api.encoding import dump
from pytest_microremed.embedded.api.errors import (
    ApiError,
    internal,
    method_not_allowed,
    unauthorized,
    unknown_path,
)
from pytest_microremed.embedded.api.negotiation import Form, negotiate
from pytest_microremed.embedded.api.request import RequestInfo, parse_request
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.tokens import Identity

JSON = "application/json"
_MAX_BODY = 3 * 2**20
"""Bytes (the API server's MaxRequestBodyBytes)."""
_log = logging.getLogger(__name__)


class ApiServer:
    """Serves the objects of a store over HTTP, on the event loop it is started on."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self._discovery = Discovery(api.registry)
        self._runner: web.ServerRunner | None = None

    async def start(self, context: ssl.SSLContext) -> int:
        """Listen on a free port of the loopback interface; returns the port."""
        server = web.Server(self._handle, request_factory=_request, handler_cancellation=True)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.1)
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
            return _json(error.status(), error.code)
        except (asyncio.CancelledError, ConnectionResetError):
            raise
        except Exception as error:
            _log.exception("%s %s", request.method, request.raw_path)
            return _json(internal(repr(error)).status(), 500)

    async def _answer(self, request: web.BaseRequest) -> web.StreamResponse:
        identity = self._authenticate(request)
        info = parse_request(request.method, request.raw_path)
        form = negotiate(request.headers.get("Accept", ""))
        if not info.plural:
            return self._path(info, form)
        resource = self.api.registry.find(info.api_version, info.plural)
        if resource is None:
            raise unknown_path()
        if info.verb not in resource.verbs:
            raise method_not_allowed()
        if info.verb in ("get", "list", "watch"):
            return await self._read(request, info, resource, form)
        return await self._write(request, info, resource, form, identity)

    def _authenticate(self, request: web.BaseRequest) -> Identity:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            raise unauthorized()
        return self.api.tokens.identify(token.strip())

    def _path(self, info: RequestInfo, form: Form) -> web.Response:
        if info.verb != "get":
            raise method_not_allowed()
        if info.path in ("/healthz", "/livez", "/readyz"):
            return web.Response(text="ok")
        if info.path == "/version":
            return _json(version_info())
        if info.path in ("/api", "/apis") or info.path.startswith(("/api/", "/apis/")):
            body = self._discovery.document(info.path, form)
            aggregated = form is Form.DISCOVERY and info.path in ("/api", "/apis")
            return web.Response(body=body, headers={"Content-Type": AGGREGATED_JSON if aggregated else JSON})
        raise unknown_path()

    async def _read(
        self, request: web.BaseRequest, info: RequestInfo, resource: Resource, form: Form
    ) -> web.StreamResponse:
        if info.verb == "watch":
            return await reading.watch(self.api, request, info, resource, form)
        if info.verb == "list":
            return reading.list_response(self.api, info, resource, form)
        return self._object(info, resource, form, reading.get(self.api, info, resource))

    async def _write(
        self, request: web.BaseRequest, info: RequestInfo, resource: Resource, form: Form, identity: Identity
    ) -> web.StreamResponse:
        data, content_type = await request.read(), request.content_type
        manager = writing.field_manager(info, request.headers.get("User-Agent", ""))
        if info.verb in ("delete", "deletecollection"):
            options = decode_object(content_type, data) if data else {}
            if info.verb == "deletecollection":
                items = deleting.delete_collection(self.api, info, resource, options)
                kind, version = resource.kind + "List", str(self.api.store.version)
                body = self.api.encoder.encode_list(kind, resource.api_version, version, items)
                return web.Response(body=body, content_type=JSON)
            reply = deleting.delete(self.api, info, resource, options)
        elif info.verb == "create":
            reply = writing.create(self.api, info, resource, decode_object(content_type, data), manager)
        elif info.verb == "update":
            reply = writing.update(self.api, info, resource, decode_object(content_type, data), manager)
        elif content_type == writing.APPLY:
            reply = writing.apply_object(self.api, info, resource, decode_object(content_type, data))
        else:
            patch = decode(content_type, data)
            reply = writing.patch_object(self.api, info, resource, content_type, patch, manager)
        return self._reply(info, resource, form, reply)

    def _reply(self, info: RequestInfo, resource: Resource, form: Form, reply: Reply) -> web.Response:
        if reply.obj.get("kind") == "Status":
            return _json(reply.obj, reply.code)
        response = self._object(info, resource, form, reply.obj)
        response.set_status(reply.code)
        for warning in reply.warnings:
            quoted = warning.replace("\\", "\\\\").replace('"', '\\"')
            response.headers.add("Warning", f'299 - "{quoted}"')
        return response

    def _object(self, info: RequestInfo, resource: Resource, form: Form, obj: dict[str, Any]) -> web.Response:
        if form is Form.TABLE:
            version = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
            return _json(reading.table(self.api, resource, [obj], version, info.param("includeObject")))
        if form is Form.PARTIAL:
            return _json(reading.partial(obj))
        return web.Response(body=self.api.encoder.encode(obj), content_type=JSON)


def _request(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> web.BaseRequest:
    """As web.Server makes it, but a body may be as large as the API server allows."""
    loop = asyncio.get_running_loop()
    return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=_MAX_BODY)


def _json(value: Any, status: int = 200) -> web.Response:
    return web.Response(body=dump(value), status=status, content_type=JSON)
