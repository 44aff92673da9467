"""Hooks of pytest: each only forwards."""

from __future__ import annotations
