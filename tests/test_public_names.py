"""The names that the package offers."""

from __future__ import annotations

import pytest

import pytest_microremed


@pytest.mark.parametrize("name", sorted(pytest_microremed._HOMES))
def test_each_name_is_there(name: str) -> None:
    assert getattr(pytest_microremed, name).__name__ == name


def test_no_other_name_is() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Oracle'"):
        pytest_microremed.Oracle  # noqa: B018
