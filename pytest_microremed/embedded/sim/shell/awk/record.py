"""The record at hand, and its fields."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell import regex

_MOST_FIELDS = 10_000


def split_fields(text: str, separator: str) -> list[str]:
    """Fields of a text: by blanks, by a character, or by a regular expression."""
    if separator == " ":
        return text.split()
    if not text:
        return []
    if len(separator) == 1:
        return text.split(separator)
    return regex.compiled(separator, extended=True).split(text) if separator else list(text)


class Record:
    """A record whose fields can be read and assigned; an assignment joins it anew."""

    def __init__(self) -> None:
        self.text = ""
        self._fields: list[str] = []

    def __len__(self) -> int:
        return len(self._fields)

    def set(self, text: str, separator: str) -> None:
        self.text = text
        self._fields = split_fields(text, separator)

    def field(self, index: int) -> str:
        """Raises ValueError for a negative index."""
        if index < 0:
            raise ValueError(f"attempt to access field {index}")
        if index == 0:
            return self.text
        return self._fields[index - 1] if index <= len(self._fields) else ""

    def assign(self, index: int, value: str, joiner: str) -> None:
        """Set a field above 0; fields in between are empty. Raises ValueError."""
        if not 0 < index <= _MOST_FIELDS:
            raise ValueError(f"attempt to access field {index}")
        self._fields += [""] * (index - len(self._fields))
        self._fields[index - 1] = value
        self.text = joiner.join(self._fields)

    def resize(self, count: int, joiner: str) -> None:
        """Keep so many fields, or add empty ones."""
        count = min(max(count, 0), _MOST_FIELDS)
        self._fields = (self._fields + [""] * count)[:count]
        self.text = joiner.join(self._fields)
