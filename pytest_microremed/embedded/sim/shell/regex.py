"""POSIX regular expressions (basic and extended, with GNU's additions) as Python ones."""

from __future__ import annotations

import re
from functools import lru_cache

from pytest_microremed.embedded.sim.shell.pattern import bracket

_MAX_LENGTH = 2000
_GNU_CLASSES = {
    "w": r"\w",
    "W": r"\W",
    "s": r"\s",
    "S": r"\S",
    "b": r"\b",
    "B": r"\B",
    "<": r"\b(?=\w)",
    ">": r"\b(?<=\w)",
}


@lru_cache(maxsize=512)
def compiled(pattern: str, *, extended: bool, ignore_case: bool = False) -> re.Pattern[str]:
    """Raises ValueError with the words of the C library."""
    if len(pattern) > _MAX_LENGTH:
        raise ValueError("Regular expression too big")
    try:
        return re.compile(translate(pattern, extended=extended), re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        raise ValueError(_words(str(error))) from None


def _words(message: str) -> str:
    if "unterminated" in message or "missing )" in message or "unbalanced" in message:
        return "Unmatched ( or \\("
    return "Invalid preceding regular expression" if "repeat" in message else "Invalid regular expression"


def translate(pattern: str, *, extended: bool) -> str:
    """The same expression in Python's notation."""
    special = set("+?|(){}") if extended else set()
    result, index = "", 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char == "[":
            expression, index = bracket(pattern, index, escapes=False)
            if expression == "\\[":
                raise ValueError("Unmatched [, [^, [:, [., or [=")
            result += expression
        elif char == "\\" and index < len(pattern):
            following = pattern[index]
            index += 1
            result += _escaped(following, extended=extended)
        elif char in special:
            result += _operator(char, result, pattern[index:])
        elif char == "*":
            result += "*" if _can_repeat(result) else r"\*"
        elif char == "^":
            result += "^" if extended or not result or result.endswith(("(", "|")) else r"\^"
        elif char == "$":
            rest = pattern[index:]
            at_end = not rest or rest.startswith(("\\)", "\\|", ")" if extended else "\0", "|" if extended else "\0"))
            result += "$" if extended or at_end else r"\$"
        else:
            result += "." if char == "." else re.escape(char)
    return result


def _escaped(char: str, *, extended: bool) -> str:
    if not extended and char in "+?|(){}":
        return char
    if char in _GNU_CLASSES:
        return _GNU_CLASSES[char]
    if char.isdigit() and char != "0":
        return f"\\{char}"
    if char in "nt":
        return f"\\{char}"
    return re.escape(char)


def _operator(char: str, before: str, rest: str) -> str:
    if char in "+?" and not _can_repeat(before):
        return re.escape(char)
    if char == "{" and not re.match(r"\d*,?\d*\}", rest):
        return r"\{"
    if char == "}" and not re.search(r"\{\d*,?\d*$", before):
        return r"\}"
    return char


def _can_repeat(before: str) -> bool:
    """Whether something stands before a repetition; at the beginning a `*` stands for itself."""
    return (bool(before) and not before.endswith(("(", "|", "^"))) or before.endswith((r"\(", r"\|", r"\^"))
