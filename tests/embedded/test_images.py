"""Which image references can be pulled, and what is in them."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.sim.images import ImageNotFoundError, InvalidReferenceError, pull

BOUTIQUE = "us-central1-docker.pkg.dev/google-samples/microservices-demo/"


@pytest.mark.parametrize(
    ("reference", "full", "name"),
    [
        ("redis", "docker.io/library/redis:latest", "redis"),
        ("redis:alpine", "docker.io/library/redis:alpine", "redis"),
        ("redis:7.2.4-alpine3.19", "docker.io/library/redis:7.2.4-alpine3.19", "redis"),
        ("docker.io/library/redis:7", "docker.io/library/redis:7", "redis"),
        ("mysql:8.0", "docker.io/library/mysql:8.0", "mysql"),
        ("nacos/nacos-server:v2.0.3", "docker.io/nacos/nacos-server:v2.0.3", "nacos"),
        ("nacos/nacos-mysql:5.7", "docker.io/nacos/nacos-mysql:5.7", "mysql"),
        ("rabbitmq:3-management", "docker.io/library/rabbitmq:3-management", "rabbitmq"),
        ("python:3.12-slim-bookworm", "docker.io/library/python:3.12-slim-bookworm", "python"),
        ("codewisdom/ts-order-service:1.0.1", "docker.io/codewisdom/ts-order-service:1.0.1", "java"),
        ("codewisdom/ts-ui-dashboard:1.0.1", "docker.io/codewisdom/ts-ui-dashboard:1.0.1", "nginx"),
        ("gcr.io/google-containers/pause:latest", "gcr.io/google-containers/pause:latest", "pause"),
        ("registry.k8s.io/pause:3.10", "registry.k8s.io/pause:3.10", "pause"),
        ("busybox:1.36", "docker.io/library/busybox:1.36", "busybox"),
        ("nicolaka/netshoot", "docker.io/nicolaka/netshoot:latest", "netshoot"),
        (BOUTIQUE + "frontend:v0.10.1", BOUTIQUE + "frontend:v0.10.1", "go"),
        ("gcr.io/google-samples/microservices-demo/cartservice:v0.3.8",) * 2 + ("cartservice",),
    ],
)
def test_known_images(reference: str, full: str, name: str) -> None:
    image = pull(reference)
    assert (image.reference, image.profile.name) == (full, name)
    assert image.image_id.startswith(full.rpartition(":")[0] + "@sha256:")


@pytest.mark.parametrize(
    "reference",
    [
        "redis:doesnotexist",
        "redis:7-broken",
        "mysql:5.7.bad",
        "codewisdom/ts-order-service:v1.fixed",
        "redis-fixed:7",
        "mycompany/frontend:1.0",
        BOUTIQUE + "fronted:v0.10.1",
        "localhost:5000/redis:7",
    ],
)
def test_images_that_no_registry_has(reference: str) -> None:
    with pytest.raises(ImageNotFoundError, match="failed to resolve reference"):
        pull(reference)


@pytest.mark.parametrize("reference", ["", "Redis", "redis:", "redis image", "https://docker.io/redis", "redis:7:8"])
def test_what_is_no_reference(reference: str) -> None:
    with pytest.raises(InvalidReferenceError):
        pull(reference)


def test_newer_go_images_are_distroless() -> None:
    old, new = (
        pull("gcr.io/google-samples/microservices-demo/frontend:v0.3.8"),
        pull(BOUTIQUE + "frontend:v0.10.1"),
    )
    assert (old.profile.userland, new.profile.userland) == ("busybox", "none")
    assert pull(BOUTIQUE + "emailservice:v0.10.1").profile.userland == "debian"


def test_same_reference_same_digest() -> None:
    assert pull("redis:7").digest == pull("docker.io/library/redis:7").digest
    assert pull("redis:7").digest != pull("redis:6").digest
