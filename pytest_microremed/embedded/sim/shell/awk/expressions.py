"""Cuts awk programs into tokens and parses their expressions (POSIX awk's grammar without getline)."""

from __future__ import annotations

import re

from pytest_microremed.embedded.sim.shell.awk.tree import (
    Assign,
    Binary,
    Call,
    Conditional,
    Contains,
    Element,
    Expression,
    Field,
    Number,
    Regex,
    Step,
    String,
    Unary,
    Variable,
)

_TOKEN = re.compile(
    r"[ \t\r]*(?:\\\n[ \t]*)*(?:#[^\n]*)?"
    r"(?:(?P<number>0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
    r'|(?P<string>"(?:[^"\\\n]|\\.)*")|(?P<name>[A-Za-z_]\w*)'
    r"|(?P<operator>\+\+|--|\*\*=?|&&|\|\||[-+*/%^=!<>]=|!~|[-+*/%^!<>=?:~$,;(){}\[\]|\n]))"
)
_REGEX = re.compile(r"/((?:[^/\\\n\[]|\\.|\[\^?\]?[^\]]*\])*)/")
_WORDS = frozenset(
    {
        "BEGIN", "END", "function", "func", "if", "else", "while", "for", "do", "break", "continue", "next", "exit",
        "return", "delete", "in", "getline", "print", "printf",
    }
)  # fmt: skip
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", '"': '"', "/": "/", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
_COMPARISONS = ("<", "<=", "==", "!=", ">", ">=")
_ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "%=", "^=", "**=")
MAX_DEPTH = 60


class AwkSyntaxError(Exception):
    """The text is no awk program."""


class ExpressionParser:
    """Reads expressions; the base of the parser of whole programs."""

    def __init__(self, text: str) -> None:
        self._source = text
        self._position = 0
        self._kind = "end"
        self._text = ""
        self._depth = 0
        self._in_allowed = True
        self._greater_allowed = True
        self._advance()

    def _advance(self) -> None:
        rest = re.compile(r"(?:[ \t\r]|\\\n|#[^\n]*)*").match(self._source, self._position)
        self._position = rest.end() if rest else self._position
        self._start = self._position
        if self._position >= len(self._source):
            self._kind, self._text = "end", ""
            return
        match = _TOKEN.match(self._source, self._position)
        if match is None or not match.lastgroup:
            raise self._error()
        self._position = match.end()
        self._kind, self._text = match.lastgroup, match[match.lastgroup]
        if self._kind == "name" and self._text in _WORDS:
            self._kind = "word"

    def _error(self) -> AwkSyntaxError:
        near = self._source[max(0, self._position - 1) : self._position + 10].split("\n")[0]
        return AwkSyntaxError(f"cmd. line:1: syntax error at or near {near.strip() or 'end of file'}")

    def _at(self, *texts: str) -> bool:
        return self._kind in ("operator", "word") and self._text in texts

    def _take(self, *texts: str) -> str:
        if self._at(*texts):
            text = self._text
            self._advance()
            return text
        return ""

    def _expect(self, text: str) -> None:
        if not self._take(text):
            raise self._error()

    def _name(self) -> str:
        if self._kind != "name":
            raise self._error()
        name = self._text
        self._advance()
        return name

    def _skip(self, *texts: str) -> None:
        while self._take(*texts):
            pass

    def _list(self, end: str) -> tuple[Expression, ...]:
        greater, self._greater_allowed = self._greater_allowed, True
        expressions: list[Expression] = []
        while not self._take(end):
            expressions.append(self._expression())
            if not self._at(end):
                self._expect(",")
                self._skip("\n")
        self._greater_allowed = greater
        return tuple(expressions)

    # From the loosest to the tightest.

    def _expression(self) -> Expression:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise AwkSyntaxError("nested too deep")
        left = self._conditional()
        if self._at(*_ASSIGNMENTS) and isinstance(left, Variable | Field | Element):
            operator = self._take(*_ASSIGNMENTS)
            self._skip("\n")
            left = Assign(left, operator[:-1].replace("**", "^"), self._expression())
        self._depth -= 1
        return left

    def _conditional(self) -> Expression:
        condition = self._or()
        if not self._take("?"):
            return condition
        self._skip("\n")
        yes = self._expression()
        self._skip("\n")
        self._expect(":")
        self._skip("\n")
        return Conditional(condition, yes, self._expression())

    def _or(self) -> Expression:
        left = self._and()
        while self._take("||"):
            self._skip("\n")
            left = Binary("||", left, self._and())
        return left

    def _and(self) -> Expression:
        left = self._membership()
        while self._take("&&"):
            self._skip("\n")
            left = Binary("&&", left, self._membership())
        return left

    def _membership(self) -> Expression:
        left = self._match()
        while self._take("in"):
            left = Contains((left,), self._name())
        return left

    def _match(self) -> Expression:
        left = self._comparison()
        while self._at("~", "!~"):
            operator = self._take("~", "!~")
            left = Binary(operator, left, self._comparison())
        return left

    def _comparison(self) -> Expression:
        left = self._concatenation()
        if self._at(*_COMPARISONS) and (self._greater_allowed or not self._at(">")):
            operator = self._take(*_COMPARISONS)
            return Binary(operator, left, self._concatenation())
        return left

    def _concatenation(self) -> Expression:
        left = self._sum()
        while self._starts_operand():
            left = Binary(" ", left, self._sum())
        return left

    def _starts_operand(self) -> bool:
        if self._kind in ("number", "string", "name"):
            return True
        return self._at("$", "!", "(", "-", "+", "++", "--")

    def _sum(self) -> Expression:
        left = self._product()
        while self._at("+", "-"):
            operator = self._take("+", "-")
            left = Binary(operator, left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._unary()
        while self._at("*", "/", "%"):
            operator = self._take("*", "/", "%")
            left = Binary(operator, left, self._unary())
        return left

    def _unary(self) -> Expression:
        if self._at("!", "-", "+"):
            operator = self._take("!", "-", "+")
            return Unary(operator, self._unary())
        return self._power()

    def _power(self) -> Expression:
        base = self._postfix()
        if self._take("^", "**"):
            return Binary("^", base, self._unary())
        return base

    def _postfix(self) -> Expression:
        if self._at("++", "--"):
            change = 1 if self._take("++", "--") == "++" else -1
            return Step(self._target(self._primary()), change, before=True)
        operand = self._primary()
        if self._at("++", "--") and isinstance(operand, Variable | Field | Element):
            change = 1 if self._take("++", "--") == "++" else -1
            return Step(operand, change, before=False)
        return operand

    def _target(self, expression: Expression) -> Variable | Field | Element:
        if not isinstance(expression, Variable | Field | Element):
            raise self._error()
        return expression

    def _primary(self) -> Expression:
        if self._kind == "number":
            text = self._text
            self._advance()
            return Number(float(int(text, 16)) if text[:2] in ("0x", "0X") else float(text))
        if self._kind == "string":
            text = self._text[1:-1]
            self._advance()
            return String(_unescaped(text))
        if self._at("/", "/="):
            return self._regex()
        if self._take("$"):
            return Field(self._postfix() if self._at("++", "--") else self._primary())
        if self._take("("):
            expressions = self._list(")")
            if len(expressions) > 1 and self._take("in"):
                return Contains(expressions, self._name())
            if len(expressions) != 1:
                raise self._error()
            # A group is no target of an assignment, and is not joined with one.
            return Unary("(", expressions[0])
        if self._at("-", "+", "!"):
            return self._unary()
        return self._named()

    def _regex(self) -> Expression:
        match = _REGEX.match(self._source, self._start)
        if match is None:
            raise self._error()
        self._position = match.end()
        self._advance()
        return Regex(match[1].replace("\\/", "/"))

    def _named(self) -> Expression:
        name = self._name()
        if self._source.startswith("(", self._start) and self._at("("):
            self._advance()
            return Call(name, self._list(")"))
        if self._take("["):
            return Element(name, self._list("]"))
        return Call("length", ()) if name == "length" else Variable(name)


def _unescaped(text: str) -> str:
    def piece(match: re.Match[str]) -> str:
        char = match[1]
        return chr(int(char, 8)) if char.isdigit() else _ESCAPES.get(char, "\\" + char)

    return re.sub(r"\\([0-7]{1,3}|.)", piece, text)
