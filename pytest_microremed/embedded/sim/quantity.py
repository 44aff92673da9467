"""Arithmetic with quantities: sums are exact numbers, shown in the API server's canonical form."""

from __future__ import annotations

from decimal import Decimal

from pytest_microremed.embedded.api.quantity import canonical_quantity, parse_quantity

__all__ = ["format_quantity", "parse_quantity"]


def format_quantity(value: Decimal, *, binary: bool = False) -> str:
    """The canonical text of a number; `binary` for bytes (`1Gi` rather than `1073741824`)."""
    return canonical_quantity(f"{value / 1024}Ki" if binary else f"{value:f}")
