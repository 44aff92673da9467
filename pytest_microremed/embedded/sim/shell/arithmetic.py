"""Integer arithmetic of `$((…))` (POSIX 2.6.4): C's operators on signed 64-bit numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, MutableMapping

_TOKEN = re.compile(
    r"\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+)|(?P<name>[A-Za-z_]\w*)"
    r"|(?P<operator><<=|>>=|\+\+|--|&&|\|\||<<|>>|[-+*/%&^|<>=!]=|[-+*/%&^|<>=!~?:()]))"
)
_PRECEDENCE = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip
_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="})
_MAX_DEPTH = 100


class ExpressionError(Exception):
    """No valid expression, or a division by zero; the message is the shell's."""


def evaluate(expression: str, variables: MutableMapping[str, str]) -> int:
    """The value; assignments are made in `variables`. Raises `ExpressionError`."""
    return _Evaluation(expression, variables).result()


class _Evaluation:
    def __init__(self, expression: str, variables: MutableMapping[str, str], depth: int = 0) -> None:
        self.expression = expression
        self.variables = variables
        self.depth = depth
        self.tokens = self._cut(expression)
        self.index = 0
        self.effective = True
        """False inside the part of `&&`, `||` or `?:` that is not evaluated: nothing is assigned or divided there."""

    def result(self) -> int:
        if not self.tokens:
            return 0
        value = self._assignment()
        if self.index < len(self.tokens):
            raise self._error()
        return value

    def _cut(self, text: str) -> list[tuple[str, str]]:
        tokens, position = [], 0
        text = text.strip()
        while position < len(text):
            match = _TOKEN.match(text, position)
            if match is None:
                raise self._error()
            tokens.append((str(match.lastgroup), match[str(match.lastgroup)]))
            position = match.end()
        return tokens

    def _error(self) -> ExpressionError:
        return ExpressionError(f'arithmetic expression: expecting primary: "{self.expression.strip()}"')

    def _peek(self, offset: int = 0) -> str:
        index = self.index + offset
        return self.tokens[index][1] if index < len(self.tokens) else ""

    def _take(self, *texts: str) -> str:
        if self._peek() in texts and self.index < len(self.tokens):
            self.index += 1
            return self.tokens[self.index - 1][1]
        return ""

    def _nested(self, parse: Callable[[], int]) -> int:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ExpressionError("arithmetic expression: expression recursion level exceeded")
        value = parse()
        self.depth -= 1
        return value

    def _skipped(self, parse: Callable[[], int], skip: bool) -> int:
        effective = self.effective
        self.effective = effective and not skip
        value = parse()
        self.effective = effective
        return value

    def _assignment(self) -> int:
        if self.index < len(self.tokens) and self.tokens[self.index][0] == "name" and self._peek(1) in _ASSIGNMENTS:
            name = self._peek()
            operator = self._peek(1)
            self.index += 2
            value = self._nested(self._assignment)
            if operator != "=":
                value = self._apply(operator[:-1], self._variable(name), value)
            self._assign(name, value)
            return value
        return self._ternary()

    def _ternary(self) -> int:
        condition = self._binary(1)
        if not self._take("?"):
            return condition
        chosen = self._skipped(lambda: self._nested(self._assignment), skip=not condition)
        if not self._take(":"):
            raise self._error()
        other = self._skipped(lambda: self._nested(self._ternary), skip=bool(condition))
        return chosen if condition else other

    def _binary(self, level: int) -> int:
        left = self._unary()
        while (precedence := _PRECEDENCE.get(self._peek(), 0)) >= level:
            operator = self._take(self._peek())
            decided = (operator == "&&" and not left) or (operator == "||" and bool(left))
            right = self._skipped(lambda p=precedence: self._nested(lambda: self._binary(p + 1)), skip=decided)  # type: ignore[misc]
            if operator == "&&":
                left = int(bool(left) and bool(right))
            elif operator == "||":
                left = int(bool(left) or bool(right))
            else:
                left = self._apply(operator, left, right)
        return left

    def _unary(self) -> int:
        operator = self._take("+", "-", "!", "~", "++", "--")
        if operator in ("++", "--"):
            if self.index < len(self.tokens) and self.tokens[self.index][0] == "name":
                name = self._take(self._peek())
                value = _wrap(self._variable(name) + (1 if operator == "++" else -1))
                self._assign(name, value)
                return value
            return self._nested(self._unary)
        if operator:
            value = self._nested(self._unary)
            return _wrap({"+": value, "-": -value, "!": int(not value), "~": ~value}[operator])
        return self._primary()

    def _primary(self) -> int:
        if self._take("("):
            value = self._nested(self._assignment)
            if not self._take(")"):
                raise self._error()
            return value
        if self.index >= len(self.tokens):
            raise self._error()
        kind, text = self.tokens[self.index]
        self.index += 1
        if kind == "number":
            return self._number(text)
        if kind != "name":
            raise self._error()
        value = self._variable(text)
        step = {"++": 1, "--": -1}.get(self._peek(), 0)
        if step:
            self.index += 1
            self._assign(text, _wrap(value + step))
        return value

    def _number(self, text: str) -> int:
        try:
            if text[:2] in ("0x", "0X"):
                return _wrap(int(text, 16))
            return _wrap(int(text, 8) if text.startswith("0") and len(text) > 1 else int(text))
        except ValueError:
            raise self._error() from None

    def _variable(self, name: str) -> int:
        text = self.variables.get(name, "").strip()
        if re.fullmatch(r"[-+]?\d+", text):
            sign = -1 if text.startswith("-") else 1
            return sign * self._number(text.lstrip("+-"))
        if not text:
            return 0
        if self.depth > _MAX_DEPTH:
            raise ExpressionError("arithmetic expression: expression recursion level exceeded")
        return _Evaluation(text, self.variables, self.depth + 1).result()

    def _assign(self, name: str, value: int) -> None:
        if self.effective:
            self.variables[name] = str(value)

    def _apply(self, operator: str, left: int, right: int) -> int:
        if operator in ("/", "%"):
            if right == 0:
                if not self.effective:
                    return 0
                raise ExpressionError(f'arithmetic expression: division by zero: "{self.expression.strip()}"')
            quotient = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
            return _wrap(quotient if operator == "/" else left - right * quotient)
        return _wrap(_OPERATIONS[operator](left, right))


_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b, "^": lambda a, b: a ^ b, "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b), "<=": lambda a, b: int(a <= b),
    ">": lambda a, b: int(a > b), ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << (b & 63), ">>": lambda a, b: a >> (b & 63),
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
}  # fmt: skip


def _wrap(value: int) -> int:
    """As a signed 64-bit number."""
    return (value + 2**63) % 2**64 - 2**63
