"""The images on a node: pulled when they are not there, or when the pull policy wants it."""

from __future__ import annotations

from dataclasses import dataclass

from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.images import Image, full_name, pull

PULL_S = 0.8
REFRESH_S = 0.2
"""A pull that finds every layer on the node already."""


@dataclass(frozen=True)
class Pulled:
    """An image that is now on the node, and what it took."""

    image: Image
    seconds: float


class ImageStore:
    """Knows which images have been pulled."""

    def __init__(self, clock: SimClock) -> None:
        self._clock = clock
        self._present: dict[str, Image] = {}

    def needs_pull(self, reference: str, policy: str | None) -> bool:
        """Whether a container with that imagePullPolicy asks the registry. Raises InvalidReferenceError."""
        full = full_name(reference)
        policy = policy or ("Always" if full.endswith(":latest") else "IfNotPresent")
        return policy == "Always" or (policy == "IfNotPresent" and full not in self._present)

    def get(self, reference: str) -> Image | None:
        """The image, if it is on the node."""
        return self._present.get(full_name(reference))

    async def pull(self, reference: str) -> Pulled:
        """Fetch it. Raises ImageNotFoundError."""
        full = full_name(reference)
        seconds = REFRESH_S if full in self._present else PULL_S
        image = pull(reference)
        await self._clock.sleep(seconds)
        self._present[full] = image
        return Pulled(image, seconds)
