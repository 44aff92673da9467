"""test and [: conditions on files, strings and numbers."""

from __future__ import annotations

from collections.abc import Callable

from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_NUMBERS: dict[str, Callable[[int, int], bool]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}
_STRINGS: dict[str, Callable[[str, str], bool]] = {
    "=": lambda a, b: a == b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}
_FILES = ("-nt", "-ot", "-ef")
_UNARY = frozenset("-" + letter for letter in "bcdefghkLnprStuwxszO")


@command("test", "[")
async def test(call: Call) -> int:
    words = list(call.args[1:])
    if call.name == "[" and (not words or words.pop() != "]"):
        raise CommandError("missing ]", 2)
    return int(not _Condition(call, words).value())


class _Condition:
    """Recursive descent over the words (POSIX `test`, with -a, -o and parentheses)."""

    def __init__(self, call: Call, words: list[str]) -> None:
        self.call = call
        self.words = words
        self.index = 0

    def value(self) -> bool:
        if not self.words:
            return False
        result = self._either()
        if self.index < len(self.words):
            word = self.words[self.index]
            known = word in (*_NUMBERS, *_STRINGS, *_FILES)
            raise CommandError(f"{word}: {'argument expected' if known else 'unexpected operator'}", 2)
        return result

    def _peek(self, offset: int = 0) -> str | None:
        index = self.index + offset
        return self.words[index] if index < len(self.words) else None

    def _either(self) -> bool:
        result = self._both()
        while self._peek() == "-o":
            self.index += 1
            result = self._both() or result
        return result

    def _both(self) -> bool:
        result = self._not()
        while self._peek() == "-a":
            self.index += 1
            result = self._not() and result
        return result

    def _not(self) -> bool:
        if self._peek() == "!" and self._peek(1) is not None and not self._binary_at(self.index):
            self.index += 1
            return not self._not()
        return self._primary()

    def _binary_at(self, index: int) -> bool:
        left = len(self.words) - index
        return left >= 3 and self.words[index + 1] in (*_NUMBERS, *_STRINGS, *_FILES)

    def _primary(self) -> bool:
        word = self._peek()
        if word is None:
            raise CommandError("argument expected", 2)
        if self._binary_at(self.index):
            left, operator, right = self.words[self.index : self.index + 3]
            self.index += 3
            return self._compare(left, operator, right)
        if word == "(" and len(self.words) - self.index > 2:
            self.index += 1
            result = self._either()
            if self._peek() != ")":
                raise CommandError("closing paren expected", 2)
            self.index += 1
            return result
        operand = self._peek(1)
        if word in _UNARY and operand is not None:
            self.index += 2
            return self._unary(word, operand)
        self.index += 1
        return bool(word)

    def _compare(self, left: str, operator: str, right: str) -> bool:
        if operator in _STRINGS:
            return _STRINGS[operator](left, right)
        if operator in _NUMBERS:
            return _NUMBERS[operator](_number(left), _number(right))
        files = self.call.files
        one, other = self.call.path(left), self.call.path(right)
        if operator == "-ef":
            return one == other and files.exists(one)
        if not (files.exists(one) and files.exists(other)):
            return files.exists(one) if operator == "-nt" else files.exists(other)
        newer = files.attributes(one).modified > files.attributes(other).modified
        return newer if operator == "-nt" else not newer

    def _unary(self, operator: str, operand: str) -> bool:
        if operator in ("-n", "-z"):
            return bool(operand) == (operator == "-n")
        if operator == "-t":
            return False
        files, path = self.call.files, self.call.path(operand)
        if operator == "-d":
            return files.is_directory(path)
        if operator == "-f":
            return files.is_file(path) and not files.is_device(path)
        if operator == "-c":
            return files.is_device(path)
        if operator == "-s":
            return files.exists(path) and files.size(path) > 0
        if operator == "-x":
            return files.exists(path) and (files.is_directory(path) or bool(files.attributes(path).mode & 0o111))
        return files.exists(path) if operator in ("-e", "-r", "-w", "-O") else False


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CommandError(f"Illegal number: {text}", 2) from None
