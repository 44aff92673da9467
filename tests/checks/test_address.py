"""Two texts name the same dependency, or they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_microremed.checks.address import Address, parse_address, same_addresses

FORMS = [
    "redis:6379",
    "redis.shop:6379",
    "redis.shop.svc:6379",
    "redis.shop.svc.cluster.local:6379",
    "redis.shop.svc.cluster.local.:6379",
    "REDIS:6379",
    " redis:6379\n",
    "redis://redis:6379/0",
    "redis://user:secret@redis.shop.svc:6379/0?x=1",
    "redis://redis",
]


@pytest.mark.parametrize("text", FORMS)
def test_forms_of_one_address(text: str) -> None:
    assert parse_address(text, "shop") == Address("redis.shop", 6379)


@pytest.mark.parametrize(
    "text",
    [
        "redis:6380",
        "redis",
        "redis-legacy:6379",
        "redis.other:6379",
        "redis.other.svc.cluster.local:6379",
        "",
    ],
)
def test_other_addresses(text: str) -> None:
    assert parse_address(text, "shop") != Address("redis.shop", 6379)


def test_lists_are_the_same_in_any_order() -> None:
    assert same_addresses("a:1,b:2", "b.shop.svc:2; a:1", "shop")
    assert not same_addresses("a:1,b:2", "a:1", "shop")
    assert not same_addresses("a:1", None, "shop")
    assert same_addresses(None, None, "shop")


names = st.from_regex(r"[a-z]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)


@given(
    names,
    names,
    st.integers(1, 65535),
    st.sampled_from(["", ".{0}", ".{0}.svc", ".{0}.svc.cluster.local", ".{0}.svc.cluster.local."]),
)
def test_search_domains_make_no_difference(host: str, namespace: str, port: int, suffix: str) -> None:
    written = f"{host}{suffix.format(namespace)}:{port}"
    assert same_addresses(written, f"{host}:{port}", namespace)
    assert same_addresses(f"{host}:{port}", written, namespace)


@given(names, st.integers(1, 65534))
def test_another_port_or_name_makes_a_difference(host: str, port: int) -> None:
    assert not same_addresses(f"{host}:{port}", f"{host}:{port + 1}", "shop")
    assert not same_addresses(f"{host}:{port}", f"{host}-legacy:{port}", "shop")
