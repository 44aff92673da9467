"""Shell patterns (POSIX 2.13): `*`, `?` and bracket expressions, for `case`, `${x#…}`, file names and `find -name`."""

from __future__ import annotations

import re
from functools import lru_cache

CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \\t", "cntrl": "\\x00-\\x1f\\x7f", "digit": "0-9",
    "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@\\[-`{-~", "space": "\\s", "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}  # fmt: skip
"""POSIX character classes, as the inside of a Python set."""


_MAGIC = re.compile(r"[*?]|\[.+\]", re.DOTALL)


def has_magic(pattern: str) -> bool:
    """Whether an unescaped `*`, `?` or `[…]` is in the pattern."""
    return bool(_MAGIC.search(re.sub(r"\\.", "", pattern, flags=re.DOTALL) if "\\" in pattern else pattern))


def escape(text: str) -> str:
    """The pattern that matches just this text."""
    return re.sub(r"([*?\[\]\\!^-])", r"\\\1", text)


def unescape(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern, flags=re.DOTALL)


def matches(text: str, pattern: str) -> bool:
    return compiled(pattern).fullmatch(text) is not None


@lru_cache(maxsize=512)
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern), re.DOTALL)


def translate(pattern: str, *, any_text: str = ".*") -> str:
    """The pattern as a Python regular expression; `any_text` is what `*` stands for."""
    result, index = "", 0
    while index < len(pattern):
        char = pattern[index]
        index += 1
        if char == "*":
            result += any_text
        elif char == "?":
            result += "."
        elif char == "\\" and index < len(pattern):
            result += re.escape(pattern[index])
            index += 1
        elif char == "[":
            expression, index = bracket(pattern, index)
            result += expression
        else:
            result += re.escape(char)
    return result


def bracket(pattern: str, start: int, *, escapes: bool = True) -> tuple[str, int]:
    """A bracket expression, whose `[` stands before `start`, as a Python set, and the index behind it.

    Without a closing bracket the `[` stands for itself. Regular expressions use the same form, without `escapes`
    by a backslash.
    """
    index = start
    negated = pattern[index : index + 1] in ("!", "^") and index < len(pattern)
    index += negated
    inside = ""
    first = True
    while index < len(pattern) and (first or pattern[index] != "]"):
        first = False
        named = re.compile(r"\[:(\w+):\]").match(pattern, index)
        if named and named[1] in CLASSES:
            inside += CLASSES[named[1]]
            index = named.end()
            continue
        char = pattern[index]
        if escapes and char == "\\" and index + 1 < len(pattern):
            index += 1
            char = pattern[index]
        index += 1
        inside += (
            "-"
            if char == "-" and pattern[index : index + 1] not in ("]", "") and inside
            else ("\\" + char if char in "\\[]^-&~|" else char)
        )
    if index >= len(pattern):
        return "\\[", start
    return f"[{'^' if negated else ''}{inside}]", index + 1
