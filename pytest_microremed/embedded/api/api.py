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


@dataclass
class Api:
    """The parts of the API server. `runtime` is the nodes."""

    store: Store
    runtime: Runtime
    tokens: Tokens
    registry: Registry = field(default_factory=Registry)
    encoder: Encoder = field(default_factory=Encoder)
    hub: WatchHub = field(init=False)
    authorizer: Authorizer = field(init=False)
    custom: CustomResources = field(init=False)

    def __post_init__(self) -> None:
        self.hub = WatchHub(self.store)  # first: see there
        self.authorizer = Authorizer(self.store)
        self.custom = CustomResources(self.store, self.registry)


@dataclass(frozen=True)
class Reply:
    """The answer to a write: one object, and warnings for the `Warning` header."""

    obj: Object
    code: int = 200
    warnings: tuple[str, ...] = ()
