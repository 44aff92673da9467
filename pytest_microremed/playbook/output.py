"""Reads what a program wrote: of any size, in any bytes, shortened in the middle."""

from __future__ import annotations

import os
from typing import BinaryIO

_READ_LIMIT = 1024 * 1024
"""Bytes from either end of an output; what lies between never enters memory."""


def read_output(file: BinaryIO) -> str:
    """The text of an output file, without the middle of a huge one; bytes that are no UTF-8 are replaced."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= 2 * _READ_LIMIT:
        return file.read().decode(errors="replace")
    head = file.read(_READ_LIMIT).decode(errors="replace")
    file.seek(-_READ_LIMIT, os.SEEK_END)
    tail = file.read().decode(errors="replace")
    return f"{head}\n[… {size - 2 * _READ_LIMIT} bytes cut …]\n{tail}"


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters of the text, and a note of how many were cut; the end gets two thirds."""
    if len(text) <= limit:
        return text
    head = limit // 3
    tail = limit - head
    return f"{text[:head]}\n[… {len(text) - limit} characters cut …]\n{text[-tail:]}"
