"""Which handler answers a request for a resource, and how its answer is written."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from aiohttp import web

from pytest_microremed.embedded.api import (
    deleting,
    eviction,
    exec_channel,
    lifecycle,
    logs,
    metrics,
    reading,
    review,
    scale,
    tokens,
    writing,
)
from pytest_microremed.embedded.api.api import Api, Reply
from pytest_microremed.embedded.api.body import decode_object
from pytest_microremed.embedded.api.encoding import dump
from pytest_microremed.embedded.api.errors import method_not_allowed, unknown_path
from pytest_microremed.embedded.api.negotiation import Form
from pytest_microremed.embedded.api.registry import METRICS, VIRTUAL
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.table import partial, table
from pytest_microremed.embedded.api.tokens import Identity
from pytest_microremed.embedded.api.versions import store_for

JSON = "application/json"
_OBJECT_SUBRESOURCES = ("", "status", "ephemeralcontainers")
"""Of which the body is the object itself."""
_NAMED_VERBS = ("get", "update", "patch", "delete")


async def answer(
    api: Api, request: web.BaseRequest, info: RequestInfo, resource: Resource, form: Form, identity: Identity
) -> web.StreamResponse:
    """Answer an authorized request for a resource. Raises ApiError."""
    if resource in VIRTUAL:
        if resource in METRICS:
            return _metrics(api, info, resource, form)
        body = decode_object(request.content_type, await request.read())
        return json_response(review.review(api, resource, info.namespace, body, identity), 201)
    if info.subresource and info.subresource not in resource.subresources:
        raise unknown_path()
    if info.subresource not in _OBJECT_SUBRESOURCES:
        return await _subresource(api, request, info, resource, form)
    if info.verb not in resource.verbs or _misses_name(info):
        raise method_not_allowed()
    api = replace(api, store=store_for(resource, api.store))
    if info.verb == "get":
        return _object(api, info, resource, form, reading.get(api, info, resource))
    if info.verb == "list":
        return reading.list_response(api, info, resource, form)
    if info.verb == "watch":
        return await reading.watch(api, request, info, resource, form)
    return await _write(api, request, info, resource, form)


def _misses_name(info: RequestInfo) -> bool:
    """The verb is of one object and the path of a collection, or the other way round; one object can be watched."""
    return info.verb != "watch" and bool(info.name) is not (info.verb in _NAMED_VERBS)


async def _write(
    api: Api, request: web.BaseRequest, info: RequestInfo, resource: Resource, form: Form
) -> web.StreamResponse:
    data, content_type = await request.read(), request.content_type
    manager = writing.field_manager(info, request.headers.get("User-Agent", ""))
    if info.verb == "deletecollection":
        options = decode_object(content_type, data) if data else {}
        return _list(api, resource, deleting.delete_collection(api, info, resource, options))
    if info.verb == "delete":
        reply = deleting.delete(api, info, resource, decode_object(content_type, data) if data else {})
    elif info.verb == "create":
        reply = writing.create(api, info, resource, decode_object(content_type, data), manager)
    elif info.verb == "update":
        reply = writing.update(api, info, resource, decode_object(content_type, data), manager)
    elif info.verb == "patch" and content_type == writing.APPLY:
        reply = writing.apply_object(api, info, resource, decode_object(content_type, data))
    else:
        reply = writing.patch_object(api, info, resource, content_type, data, manager)
    return _reply(api, info, resource, form, reply)


async def _subresource(
    api: Api, request: web.BaseRequest, info: RequestInfo, resource: Resource, form: Form
) -> web.StreamResponse:
    match info.subresource, info.verb:
        case "log", "get":
            return await logs.read_logs(api, request, info)
        case "exec", "get" | "create":
            return await exec_channel.execute(api, request, info)
        case "scale", "get":
            return json_response(scale.read_scale(api, info, resource))
        case "scale", "update" | "patch":
            data, manager = await request.read(), request.headers.get("User-Agent", "")
            manager = writing.field_manager(info, manager)
            reply = scale.write_scale(api, info, resource, request.content_type, data, manager)
        case "eviction", "create":
            reply = eviction.evict(api, info, decode_object(request.content_type, await request.read()))
        case "token", "create":
            body = decode_object(request.content_type, await request.read())
            return json_response(tokens.request_token(api.tokens, reading.get(api, info, resource), body), 201)
        case "finalize", "update":
            body = decode_object(request.content_type, await request.read())
            finalizers = (body.get("spec") or {}).get("finalizers") or []
            reply = Reply(lifecycle.finalize_namespace(api.store, reading.get(api, info, resource), finalizers))
        case _:
            raise method_not_allowed()
    return _reply(api, info, resource, Form.OBJECT, reply)


def _metrics(api: Api, info: RequestInfo, resource: Resource, form: Form) -> web.Response:
    if info.verb == "get":
        found = [metrics.get_metrics(api, info, resource)]
    elif info.verb == "list":
        found = metrics.list_metrics(api, info, resource)
    else:
        raise method_not_allowed()
    if form is Form.TABLE:
        return json_response(table(api, resource, found, {}, info.param("includeObject")))
    if info.verb == "get":
        return json_response(found[0])
    kind, api_version = f"{resource.kind}List", resource.api_version
    return json_response({"kind": kind, "apiVersion": api_version, "metadata": {}, "items": found})


def _list(api: Api, resource: Resource, items: list[Object]) -> web.Response:
    version = str(api.store.version)
    body = api.encoder.encode_list(f"{resource.kind}List", resource.api_version, version, items)
    return web.Response(body=body, content_type=JSON)


def _reply(api: Api, info: RequestInfo, resource: Resource, form: Form, reply: Reply) -> web.Response:
    if reply.obj.get("kind") != resource.kind:  # a Status, a Scale
        return json_response(reply.obj, reply.code)
    response = _object(api, info, resource, form, reply.obj)
    response.set_status(reply.code)
    for warning in reply.warnings:
        quoted = warning.replace("\\", "\\\\").replace('"', '\\"')
        response.headers.add("Warning", f'299 - "{quoted}"')
    return response


def _object(api: Api, info: RequestInfo, resource: Resource, form: Form, obj: Object) -> web.Response:
    if form is Form.TABLE:
        version = {"resourceVersion": obj["metadata"].get("resourceVersion", "")}
        return json_response(table(api, resource, [obj], version, info.param("includeObject")))
    if form is Form.PARTIAL:
        return json_response(partial(obj))
    return web.Response(body=api.encoder.encode(obj), content_type=JSON)


def json_response(value: Any, code: int = 200) -> web.Response:
    return web.Response(body=dump(value), status=code, content_type=JSON)
