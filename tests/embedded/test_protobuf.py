"""Bodies in Kubernetes' protobuf encoding, written here by hand; what kubectl sends is tested against a server."""

from __future__ import annotations

import pytest

from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.protobuf import decode


def varint(number: int) -> bytes:
    encoded = b""
    while number > 0x7F:
        encoded += bytes([number & 0x7F | 0x80])
        number >>= 7
    return encoded + bytes([number])


def field(number: int, value: int | bytes | str) -> bytes:
    if isinstance(value, int):
        return varint(number << 3) + varint(value % 2**64)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def body(api_version: str, kind: str, content: bytes) -> bytes:
    return b"k8s\x00" + field(1, field(1, api_version) + field(2, kind)) + field(2, content)


METADATA = field(1, "x") + field(2, "") + field(11, field(1, "app") + field(2, "web")) + field(8, b"")


def test_text_maps_and_bytes() -> None:
    content = field(1, METADATA) + field(2, field(1, "key") + field(2, b"\x00\xff")) + field(3, "Opaque") + field(5, 1)
    assert decode(body("v1", "Secret", content)) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "x", "labels": {"app": "web"}},
        "data": {"key": "AP8="},
        "type": "Opaque",
        "immutable": True,
    }


def test_inlined_messages_and_special_types() -> None:
    probe = field(1, field(3, field(1, field(1, 1) + field(3, "web")))) + field(2, 7)
    limits = field(1, field(1, "cpu") + field(2, field(1, "500m")))
    container = field(1, "a") + field(2, "nginx") + field(8, limits) + field(10, probe) + field(16, 0)
    volume = field(1, "v") + field(2, field(19, field(1, field(1, "config"))))
    pod = decode(body("v1", "Pod", field(2, field(1, volume) + field(2, container) + field(4, 30))))
    assert pod["spec"] == {
        "volumes": [{"name": "v", "configMap": {"name": "config"}}],
        "containers": [
            {
                "name": "a",
                "image": "nginx",
                "resources": {"limits": {"cpu": "500m"}},
                "livenessProbe": {"tcpSocket": {"port": "web"}, "initialDelaySeconds": 7},
            }
        ],
        "terminationGracePeriodSeconds": 30,
    }


def test_negative_numbers_and_ports_by_number() -> None:
    port = field(3, 80) + field(4, field(1, 0) + field(2, 8080))
    assert decode(body("v1", "Service", field(2, field(1, port))))["spec"]["ports"] == [
        {"port": 80, "targetPort": 8080}
    ]
    assert decode(body("scheduling.k8s.io/v1", "PriorityClass", field(2, -5)))["value"] == -5


def test_options_of_a_deletion_belong_to_every_group() -> None:
    assert decode(body("apps/v1", "DeleteOptions", field(1, 0) + field(4, "Foreground"))) == {
        "apiVersion": "apps/v1",
        "kind": "DeleteOptions",
        "gracePeriodSeconds": 0,
        "propagationPolicy": "Foreground",
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{}", "provided data does not appear to be a protobuf message"),
        (body("v1", "Unknown", b""), 'no kind "Unknown" is registered for version "v1"'),
        (body("v1", "ConfigMap", b"\x0a\x7f"), "unexpected EOF"),
        (body("v1", "ConfigMap", b"\x0b"), "wire type 3"),
        (b"k8s\x00\x0a", "cannot be read as protobuf"),
    ],
    ids=["no magic", "unknown kind", "cut short", "wire type", "cut envelope"],
)
def test_what_cannot_be_read_is_a_bad_request(data: bytes, words: str) -> None:
    with pytest.raises(ApiError) as caught:
        decode(data)
    assert caught.value.code == 400
    assert words in caught.value.message
