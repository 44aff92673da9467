"""Answers that go on: what may still happen once a response has begun."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

_logger = logging.getLogger(__name__)


@asynccontextmanager
async def streaming(request: web.BaseRequest, response: web.StreamResponse) -> AsyncIterator[None]:
    """Begin the response; inside, errors end it and are logged: an error response would be read as part of it.

    That the client leaves is no error.
    """
    try:
        await response.prepare(request)
        yield
    except ConnectionResetError:
        pass
    except Exception:
        _logger.exception("%s %s", request.method, request.raw_path)
