"""Jumps in the control flow of a shell, as exceptions."""

from __future__ import annotations


class Exit(Exception):
    """`exit`: ends the shell."""

    def __init__(self, code: int) -> None:
        self.code = code


class Return(Exception):
    """`return`: ends a function or a sourced file."""

    def __init__(self, code: int) -> None:
        self.code = code


class LoopControl(Exception):
    """`break` and `continue`, for so many loops around it."""

    def __init__(self, levels: int, *, again: bool) -> None:
        self.levels = levels
        self.again = again
