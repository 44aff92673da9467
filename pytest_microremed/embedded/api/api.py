"""What every request handler works with, in one place."""

from __future__ import annotations

from dataclasses import dataclass, field

from pytest_microremed.embedded.api.access import Authorizer
from pytest_microremed.embedded.api.custom import CustomResources
from pytest_microremed.embedded.api.encoding import Encoder
from pytest_microremed.embedded.api.registry import Registry
from pytest_microremed.embedded.api.runtime import Runtime
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.api.tokens import Tokens
from pytest_microremed.embedded.api.watch import WatchHub


@dataclass(frozen=True)
class Api:
    """The parts of the API server. `runtime` is the nodes."""

    store: Store
    hub: WatchHub
    registry: Registry
    custom: CustomResources
    tokens: Tokens
    authorizer: Authorizer
    runtime: Runtime
    encoder: Encoder = field(default_factory=Encoder)


@dataclass(frozen=True)
class Reply:
    """The answer to a write: one object, and warnings for the `Warning` header."""

    obj: Object
    code: int = 200
    warnings: tuple[str, ...] = ()
