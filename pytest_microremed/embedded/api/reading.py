"""The reading verbs: get, list and watch."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from aiohttp import web

from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.encoding import dump
from pytest_microremed.embedded.api.errors import ApiError, not_found
from pytest_microremed.embedded.api.negotiation import Form
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import Resource
from pytest_microremed.embedded.api.selectors import Predicate, field_selector, label_selector
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.streaming import streaming
from pytest_microremed.embedded.api.table import partial, table
from pytest_microremed.embedded.api.watch import Subscription

_WATCH_S = 1800
"""How long a watch lives without timeoutSeconds (the API server: 30 to 60 minutes)."""
_BOOKMARK_S = 60
"""How often an idle watch that asked for bookmarks gets one."""
_INITIAL_EVENTS_END = "k8s.io/initial-events-end"
JSON = "application/json"


def get(api: Api, info: RequestInfo, resource: Resource) -> Object:
    """The stored object that the request names. Raises ApiError 404."""
    obj = api.store.get(resource, info.namespace, info.name)
    if obj is None:
        raise not_found(resource, info.name)
    return obj


def selected(api: Api, info: RequestInfo, resource: Resource) -> list[Object]:
    """The stored objects of a collection that the request's selectors match. Raises ApiError 400."""
    namespace = info.namespace or None
    objects = api.store.list(resource, namespace)
    if info.query:
        wanted = predicate(info, resource)
        return [obj for obj in objects if wanted(obj)]
    return objects


def predicate(info: RequestInfo, resource: Resource) -> Predicate:
    """Does the request mean this object? By namespace, name and selectors. Raises ApiError 400."""
    tests: list[Predicate] = []
    if info.namespace:
        tests.append(lambda obj: obj["metadata"].get("namespace") == info.namespace)
    if info.name:
        tests.append(lambda obj: bool(obj["metadata"]["name"] == info.name))
    if labels := info.param("labelSelector"):
        tests.append(label_selector(labels))
    if fields := info.param("fieldSelector"):
        tests.append(field_selector(resource, fields))
    return lambda obj: all(test(obj) for test in tests)


def list_response(api: Api, info: RequestInfo, resource: Resource, form: Form) -> web.Response:
    """A collection, in the form asked for. `limit` may be passed: everything is returned at once."""
    objects = selected(api, info, resource)
    version = str(api.store.version)
    if form is Form.OBJECT:
        body = api.encoder.encode_list(resource.kind + "List", resource.api_version, version, objects)
    elif form is Form.PARTIAL:
        body = dump(
            {
                "kind": "PartialObjectMetadataList",
                "apiVersion": "meta.k8s.io/v1",
                "metadata": {"resourceVersion": version},
                "items": [partial(obj) for obj in objects],
            }
        )
    else:
        body = dump(table(api, resource, objects, {"resourceVersion": version}, info.param("includeObject")))
    return web.Response(body=body, content_type=JSON)


async def watch(
    api: Api, request: web.BaseRequest, info: RequestInfo, resource: Resource, form: Form
) -> web.StreamResponse:
    """Stream the changes of a collection until the client leaves, its timeout comes, or the server stops.

    Raises ApiError 400 before the stream starts; trouble after that is an ERROR event, as on a real server.
    """
    wanted, seconds = predicate(info, resource), info.integer("timeoutSeconds") or _WATCH_S
    version = info.integer("resourceVersion") or 0
    initial = info.flag("sendInitialEvents")
    from_start = initial or not version
    render = _event_renderer(api, info, resource, form)
    # Subscribing and reading what is there happen in one step, so no change falls between them.
    failure: ApiError | None = None
    subscription, close = Subscription(wanted), _nothing
    try:
        subscription, close = api.hub.open(resource, wanted, None if from_start else version)
    except ApiError as error:
        failure = error
    objects = selected(api, info, resource) if from_start else []
    listed_at = api.store.version
    response = web.StreamResponse(headers={"Content-Type": JSON})
    try:
        async with streaming(request, response):
            if failure is not None:
                await response.write(dump({"type": "ERROR", "object": failure.status()}) + b"\n")
                return response
            lines = [render("ADDED", obj) for obj in objects]
            if initial and info.flag("allowWatchBookmarks"):
                lines.append(_bookmark(resource, listed_at, {_INITIAL_EVENTS_END: "true"}))
            if lines:
                await response.write(b"".join(lines))
            await _stream(api, info, resource, subscription, response, render, seconds)
    finally:
        close()
    return response


async def _stream(
    api: Api,
    info: RequestInfo,
    resource: Resource,
    subscription: Subscription,
    response: web.StreamResponse,
    render: Callable[[str, Object], bytes],
    seconds: float,
) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    bookmarks = info.flag("allowWatchBookmarks")
    while (left := end - loop.time()) > 0:
        try:
            async with asyncio.timeout(min(left, _BOOKMARK_S)):
                event = await subscription.queue.get()
        except TimeoutError:
            if bookmarks:
                await response.write(_bookmark(resource, api.store.version))
            continue
        if event is None:
            return
        await response.write(render(*event))


def _event_renderer(api: Api, info: RequestInfo, resource: Resource, form: Form) -> Callable[[str, Object], bytes]:
    if form is Form.OBJECT:
        return api.encoder.encode_event

    def render(event_type: str, obj: Object) -> bytes:
        if form is Form.PARTIAL:
            shown = partial(obj)
        else:
            version = {"resourceVersion": obj["metadata"]["resourceVersion"]}
            shown = table(api, resource, [obj], version, info.param("includeObject"))
        return dump({"type": event_type, "object": shown}) + b"\n"

    return render


def _bookmark(resource: Resource, version: int, annotations: dict[str, str] | None = None) -> bytes:
    meta: Object = {"resourceVersion": str(version)}
    if annotations:
        meta["annotations"] = annotations
    obj = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": meta}
    return dump({"type": "BOOKMARK", "object": obj}) + b"\n"


def _nothing() -> None:
    """The end of a watch that never began."""
