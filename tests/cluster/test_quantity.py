"""Kubernetes quantities in every form that the API server takes, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_microremed.cluster.quantity import format_quantity, parse_quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("500000n", 0.0005),
        ("250u", 0.00025),
        ("500m", 0.5),
        ("0.5", 0.5),
        (".5", 0.5),
        ("5.", 5),
        ("1k", 1000),
        ("2M", 2e6),
        ("3G", 3e9),
        ("1T", 1e12),
        ("1P", 1e15),
        ("1E", 1e18),
        ("64Ki", 65536),
        ("1280Mi", 1342177280),
        ("1.5Gi", 1610612736),
        ("1Ti", 2**40),
        ("1Pi", 2**50),
        ("2Ei", 2**61),
        ("128974848", 128974848),
        ("1e9", 1e9),
        ("1E3", 1000),
        ("1.5e3", 1500),
        ("12e-3", 0.012),
        ("-1", -1),
        ("-500m", -0.5),
        ("+2", 2),
        ("0", 0),
        (2, 2),
        (0.25, 0.25),
    ],
)
def test_every_form(text: str | float, value: float) -> None:
    assert parse_quantity(text) == value


@pytest.mark.parametrize(
    "text", ["", "x", "1K", "1mi", "1 Gi", "1e", "1e3Ki", "0x10", "1_000", "1.2.3", "Mi", "nan", "1ki"]
)
def test_what_the_server_refuses(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        parse_quantity(text)


@pytest.mark.parametrize(
    ("value", "binary", "text"),
    [
        (0.25, False, "250m"),
        (2, False, "2"),
        (0.0005, False, "500u"),
        (1.5e-9, False, "2n"),
        (3000, False, "3k"),
        (0, False, "0"),
        (-0.5, False, "-500m"),
        (1280 * 2**20, True, "1280Mi"),
        (2**31, True, "2Gi"),
        (1000, True, "1000"),
        (0, True, "0"),
    ],
)
def test_the_form_is_the_shortest(value: float, binary: bool, text: str) -> None:
    assert format_quantity(value, binary=binary) == text


@given(st.integers(-(2**53), 2**53), st.booleans())
def test_whole_numbers_come_back(value: int, binary: bool) -> None:
    assert parse_quantity(format_quantity(value, binary=binary)) == value


@given(st.integers(-(10**12), 10**12))
def test_nanos_come_back(nanos: int) -> None:
    value = parse_quantity(f"{nanos}n")
    assert parse_quantity(format_quantity(value)) == value


@given(
    st.decimals(-1000, 1000, places=3, allow_nan=False),
    st.sampled_from(["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"]),
)
def test_a_suffix_multiplies(number: object, suffix: str) -> None:
    assert parse_quantity(f"{number}{suffix}") == pytest.approx(
        parse_quantity(str(number)) * parse_quantity(f"1{suffix}")
    )
