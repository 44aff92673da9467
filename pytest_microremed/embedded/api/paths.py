"""What is served beside the resources: health, version, discovery and schemas."""

from __future__ import annotations

from datetime import timedelta
from email.utils import format_datetime

from aiohttp import web

from pytest_microremed.embedded.api import openapi, openapi_v2
from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.discovery import AGGREGATED_JSON, Discovery, version_info
from pytest_microremed.embedded.api.errors import method_not_allowed, unknown_path
from pytest_microremed.embedded.api.handlers import JSON, json_response
from pytest_microremed.embedded.api.negotiation import Form, negotiate
from pytest_microremed.embedded.api.request import RequestInfo

_HEALTH = ("/healthz", "/livez", "/readyz")
_KEPT = timedelta(days=365)
"""How long clients may keep a schema document."""


class Paths:
    """Answers requests for paths that are no resource."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._discovery = Discovery(api.registry)

    def answer(self, request: web.BaseRequest, info: RequestInfo) -> web.Response:
        """Raises ApiError 404, 405, 406."""
        if info.verb not in ("get", "head"):
            raise method_not_allowed()
        if info.path in _HEALTH:
            return web.Response(text="ok")
        if info.path == "/version":
            return json_response(version_info())
        if info.path == "/openapi/v3":
            return web.Response(body=openapi.index(self._api.registry.all()), content_type=JSON)
        if info.path == "/openapi/v2":
            return web.Response(body=openapi_v2.document(self._api.registry.all()), content_type=openapi_v2.PROTOBUF)
        if info.path.startswith("/openapi/v3/"):
            return self._schemas(request, info)
        if info.path in ("/api", "/apis") or info.path.startswith(("/api/", "/apis/")):
            form = negotiate(request.headers.get("Accept", ""))
            body = self._discovery.document(info.path, form)
            aggregated = form is Form.DISCOVERY and info.path in ("/api", "/apis")
            return web.Response(body=body, headers={"Content-Type": AGGREGATED_JSON if aggregated else JSON})
        raise unknown_path()

    def _schemas(self, request: web.BaseRequest, info: RequestInfo) -> web.Response:
        """The schemas of one API version, which clients may keep as long as the index names the same hash."""
        resources = self._api.registry.of(info.path.split("/", 4)[-1])
        if not resources:
            raise unknown_path()
        fingerprint = openapi.fingerprint(resources)
        headers = {"ETag": f'"{fingerprint}"', "Vary": "Accept"}
        if info.param("hash") == fingerprint:
            headers["Cache-Control"] = "public, immutable"
            headers["Expires"] = format_datetime(self._api.store.now() + _KEPT, usegmt=True)
        if request.headers.get("If-None-Match") == headers["ETag"]:
            return web.Response(status=304, headers=headers)
        return web.Response(body=openapi.document(resources), content_type=JSON, headers=headers)
