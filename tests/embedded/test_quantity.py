"""Quantities and their canonical form."""

from __future__ import annotations

from typing import Any

import pytest

from pytest_microremed.embedded.api.quantity import QuantityError, canonical_quantity, parse_quantity


@pytest.mark.parametrize(
    ("written", "answered"),
    [
        ("1000m", "1"),
        ("0.5", "500m"),
        (0.25, "250m"),
        (2, "2"),
        ("1500m", "1500m"),
        ("1000", "1k"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("512Ki", "512Ki"),
        ("1e3", "1e3"),
        ("0", "0"),
        ("-1", "-1"),
        ("0.0000000001", "1n"),
    ],
)
def test_the_server_answers_the_canonical_form(written: Any, answered: str) -> None:
    assert canonical_quantity(written) == answered
    assert canonical_quantity(answered) == answered
    assert parse_quantity(answered) == parse_quantity(written) or written == "0.0000000001"


@pytest.mark.parametrize("text", ["", "abc", "1GB", "100 m", "1gi", True])
def test_what_is_no_quantity_is_told_by_the_regular_expression(text: Any) -> None:
    pattern = r"quantities must match the regular expression '\^\(\[\+-\]"
    with pytest.raises(QuantityError, match=pattern):
        canonical_quantity(text)


def test_an_unknown_suffix_is_told_otherwise() -> None:
    with pytest.raises(QuantityError, match="unable to parse quantity's suffix"):
        canonical_quantity("1K")
