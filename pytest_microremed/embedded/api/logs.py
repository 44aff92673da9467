"""The log subresource: what a container has written, whole, in part, or as it comes."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from aiohttp import web

from pytest_microremed.embedded.api.api import Api
from pytest_microremed.embedded.api.containers import chosen_container, refusal
from pytest_microremed.embedded.api.errors import Cause, invalid
from pytest_microremed.embedded.api.reading import get
from pytest_microremed.embedded.api.request import RequestInfo
from pytest_microremed.embedded.api.resources import PODS
from pytest_microremed.embedded.api.runtime import LogLine, RuntimeRefused
from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.api.streaming import streaming

_POLL_S = 0.05
_FOLLOW_S = 3600.0
"""A followed log ends after an hour at the latest, as a kubelet's connection does after its idle time."""


@dataclass(frozen=True)
class LogOptions:
    """Which part of a log is wanted (PodLogOptions)."""

    container: str
    previous: bool
    timestamps: bool
    tail_lines: int | None
    limit_bytes: int | None
    since: datetime | None


async def read_logs(api: Api, request: web.BaseRequest, info: RequestInfo) -> web.StreamResponse:
    """Answer with the log as plain text. Raises ApiError 400, 404, 422."""
    pod = get(api, info, PODS)
    options = _options(api, info, pod)
    if not pod.get("spec", {}).get("nodeName"):
        return web.Response(text="")
    lines = _lines(api, pod, options)
    shown = _select(lines, options)
    if not info.flag("follow"):
        return web.Response(body=shown, content_type="text/plain")
    response = web.StreamResponse(headers={"Content-Type": "text/plain"})
    async with streaming(request, response):
        if shown:
            await response.write(shown)
        await _follow(api, pod, options, len(lines), response)
    return response


async def _follow(api: Api, pod: Object, options: LogOptions, written: int, response: web.StreamResponse) -> None:
    """Write what is added until the container ends, the pod goes, or the client leaves."""
    loop = asyncio.get_running_loop()
    end = loop.time() + _FOLLOW_S
    meta, restarts = pod["metadata"], _restarts(pod, options.container)
    while loop.time() < end:
        current = api.store.get(PODS, meta["namespace"], meta["name"])
        alive = current is not None and current["metadata"]["uid"] == meta["uid"]
        if current is not None and alive:
            if _restarts(current, options.container) != restarts:
                return
            try:
                lines = api.runtime.logs(current, options.container, previous=options.previous)
            except RuntimeRefused:
                return
            if len(lines) > written:
                await response.write(_text(lines[written:], timestamps=options.timestamps))
                written = len(lines)
        if not alive or current is None or not _is_running(current, options.container):
            return
        await asyncio.sleep(_POLL_S)


def _options(api: Api, info: RequestInfo, pod: Object) -> LogOptions:
    causes = []
    tail, limit, seconds = (info.integer(name) for name in ("tailLines", "limitBytes", "sinceSeconds"))
    since_time = info.param("sinceTime")
    if tail is not None and tail < 0:
        causes.append(Cause("tailLines", f"Invalid value: {tail}: must be greater than or equal to 0"))
    if limit is not None and limit < 1:
        causes.append(Cause("limitBytes", f"Invalid value: {limit}: must be greater than 0"))
    if seconds is not None and seconds < 1:
        causes.append(Cause("sinceSeconds", f"Invalid value: {seconds}: must be greater than 0"))
    if seconds is not None and since_time:
        message = "Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified"
        causes.append(Cause("", message, "FieldValueForbidden"))
    since = api.store.now() - timedelta(seconds=seconds) if seconds else None
    if since_time:
        try:
            since = datetime.fromisoformat(since_time)
        except ValueError:
            causes.append(Cause("sinceTime", f'Invalid value: "{since_time}": must be an RFC 3339 time'))
    if causes:
        raise invalid("", "PodLogOptions", info.name, causes)
    container = chosen_container(pod, info.param("container"))
    return LogOptions(container, info.flag("previous"), info.flag("timestamps"), tail, limit, since)


def _lines(api: Api, pod: Object, options: LogOptions) -> list[LogLine]:
    try:
        return api.runtime.logs(pod, options.container, previous=options.previous)
    except RuntimeRefused as error:
        raise refusal(error) from None


def _select(lines: Sequence[LogLine], options: LogOptions) -> bytes:
    if options.since is not None:
        since = options.since if options.since.tzinfo else options.since.replace(tzinfo=UTC)
        lines = [line for line in lines if line.time >= since]
    if options.tail_lines is not None:
        lines = lines[-options.tail_lines :] if options.tail_lines else []
    return _text(lines, timestamps=options.timestamps)[: options.limit_bytes]


def _text(lines: Sequence[LogLine], *, timestamps: bool) -> bytes:
    def one(line: LogLine) -> str:
        if not timestamps:
            return line.text
        moment = line.time.astimezone(UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond:06d}000Z {line.text}"

    return "".join(f"{one(line)}\n" for line in lines).encode()


def _container_status(pod: Object, container: str) -> Object:
    status = pod.get("status", {})
    known = [*(status.get("containerStatuses") or ()), *(status.get("initContainerStatuses") or ())]
    return next((each for each in known if each["name"] == container), {})


def _restarts(pod: Object, container: str) -> int:
    return int(_container_status(pod, container).get("restartCount", 0))


def _is_running(pod: Object, container: str) -> bool:
    return "running" in (_container_status(pod, container).get("state") or {})
