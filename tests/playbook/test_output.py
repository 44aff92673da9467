"""Outputs of any size and in any bytes become texts of a set size."""

from __future__ import annotations

import io

from pytest_microremed.playbook.output import read_output, shorten


def test_a_short_text_stays_as_it_is() -> None:
    assert shorten("abc", 3) == "abc"


def test_a_long_text_keeps_both_ends_and_says_what_is_missing() -> None:
    assert shorten("abcdefghij", 6) == "ab\n[… 4 characters cut …]\nghij"


def test_bytes_that_are_no_text_are_replaced() -> None:
    assert read_output(io.BytesIO("é".encode() + b"\xff!")) == "é\ufffd!"


def test_the_middle_of_a_huge_output_is_not_read() -> None:
    class Watched(io.BytesIO):
        taken = 0

        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            self.taken += len(data)
            return data

    file = Watched(b"start" + b"." * 9_000_000 + b"end")
    text = read_output(file)
    assert text.startswith("start")
    assert text.endswith("end")
    assert "bytes cut …]" in text
    assert file.taken < 3_000_000
