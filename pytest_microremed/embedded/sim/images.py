"""The image registry of the simulated cluster: which references can be pulled, and what is in them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field

from pytest_microremed.embedded.sim.image_catalogue import find_profile
from pytest_microremed.embedded.sim.profiles import Profile

_REFERENCE = re.compile(
    r"(?P<name>(?:[a-z0-9.-]+:\d+/)?[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?"
)
_VERSION = re.compile(r"v?\d+(\.\d+)*([a-z]+\d*)?")
_ALIASES = re.compile(
    "latest|stable|unstable|mainline|edge|lts|rolling|slim|alpine|debian|bookworm|bullseye|trixie|buster|stretch"
    "|jammy|noble|focal|ubuntu|ubi|debug|nonroot|glibc|musl|uclibc|management|perl|fpm|jdk|jre|server|oracle"
)


class InvalidReferenceError(Exception):
    """The text is no image reference (kubelet: InvalidImageName)."""


class ImageNotFoundError(Exception):
    """No registry holds it; the message is a container runtime's."""


@dataclass(frozen=True)
class Image:
    """An image as it lies on a node."""

    reference: str
    """Full name with tag, as the runtime reports it."""
    digest: str
    profile: Profile = field(repr=False)

    @property
    def image_id(self) -> str:
        """Repository and digest: `containerStatuses[].imageID`."""
        return f"{self.reference.rsplit(':', 1)[0]}@{self.digest}"


def full_name(reference: str) -> str:
    """`redis` -> `docker.io/library/redis:latest`. Raises InvalidReferenceError."""
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        raise InvalidReferenceError(reference)
    name, tag = match["name"], match["tag"] or "latest"
    registry, _, rest = name.partition("/")
    if not rest:
        name = f"docker.io/library/{name}"
    elif "." not in registry and ":" not in registry and registry != "localhost":
        name = f"docker.io/{name}"
    return f"{name.replace('index.docker.io/', 'docker.io/')}:{tag}"


def pull(reference: str) -> Image:
    """Look an image up. Raises InvalidReferenceError, ImageNotFoundError."""
    full = full_name(reference)
    repository, tag = full.rsplit(":", 1)
    profile = find_profile(repository, tag)
    attempt = f'failed to pull and unpack image "{full}": failed to resolve reference "{full}"'
    if profile is None:
        raise ImageNotFoundError(
            f"{attempt}: pull access denied, repository does not exist or may require authorization: "
            "server message: insufficient_scope: authorization failed"
        )
    if not _is_version(tag):
        raise ImageNotFoundError(f"{attempt}: {full}: not found")
    return Image(full, f"sha256:{hashlib.sha256(full.encode()).hexdigest()}", profile)


def _is_version(tag: str) -> bool:
    """Tags that registries have: a version or a known word, then more such words (`3.12-slim-bookworm`)."""
    first, *rest = tag.split("-")
    return bool(_VERSION.fullmatch(first) or _ALIASES.fullmatch(first)) and all(
        _ALIASES.fullmatch(part) or any(char.isdigit() for char in part) for part in rest
    )
