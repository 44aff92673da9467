"""Parses awk programs (POSIX awk's grammar without pipes and files)."""

from __future__ import annotations

import re

from pytest_microremed.embedded.sim.shell.awk.tree import (
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    Contains,
    Delete,
    Element,
    Evaluate,
    Expression,
    Field,
    For,
    ForIn,
    Function,
    If,
    Jump,
    Number,
    Print,
    Program,
    Regex,
    Rule,
    Statement,
    Step,
    String,
    Unary,
    Variable,
    While,
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
_MAX_DEPTH = 60


class AwkSyntaxError(Exception):
    """The text is no awk program."""


def parse(text: str) -> Program:
    """Raises `AwkSyntaxError`."""
    return _Parser(text).program()


class _Parser:
    def __init__(self, text: str) -> None:
        self._source = text
        self._position = 0
        self._kind = "end"
        self._text = ""
        self._depth = 0
        self._in_allowed = True
        self._greater_allowed = True
        self._advance()

    # -- tokens --

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

    # -- rules and statements --

    def program(self) -> Program:
        program = Program()
        self._skip("\n", ";")
        while self._kind != "end":
            if self._take("function", "func"):
                name = self._name()
                self._expect("(")
                parameters = []
                while not self._take(")"):
                    parameters.append(self._name())
                    self._take(",")
                self._skip("\n")
                program.functions[name] = Function(tuple(parameters), self._block())
            else:
                program.rules.append(self._rule())
            self._skip("\n", ";")
        return program

    def _rule(self) -> Rule:
        for kind in ("BEGIN", "END"):
            if self._take(kind):
                return Rule(kind, self._block())
        if self._at("{"):
            return Rule("always", self._block())
        pattern = self._expression()
        end = None
        if self._take(","):
            self._skip("\n")
            end = self._expression()
        action = self._block() if self._at("{") else None
        return Rule("range" if end is not None else "pattern", action, pattern, end)

    def _block(self) -> Block:
        self._expect("{")
        statements: list[Statement] = []
        self._skip("\n", ";")
        while not self._take("}"):
            if self._kind == "end":
                raise self._error()
            statements.append(self._statement())
            self._skip("\n", ";")
        return Block(tuple(statements))

    def _statement(self) -> Statement:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise AwkSyntaxError("nested too deep")
        statement = self._one_statement()
        self._depth -= 1
        return statement

    def _one_statement(self) -> Statement:
        if self._at("{"):
            return self._block()
        if self._take("if"):
            return self._if()
        if self._take("while"):
            condition = self._parenthesised()
            return While(condition, self._body())
        if self._take("do"):
            body = self._body()
            self._skip("\n", ";")
            self._expect("while")
            return While(self._parenthesised(), body, body_first=True)
        if self._take("for"):
            return self._for()
        statement = self._simple()
        if not self._at(";", "\n", "}") and self._kind != "end":
            raise self._error()
        return statement

    def _body(self) -> Statement:
        self._skip("\n")
        return Block() if self._take(";") else self._statement()

    def _parenthesised(self) -> Expression:
        self._expect("(")
        expression = self._expression()
        self._expect(")")
        return expression

    def _if(self) -> Statement:
        condition = self._parenthesised()
        yes = self._body()
        position, kind, text = self._position, self._kind, self._text
        self._skip("\n", ";")
        if self._take("else"):
            return If(condition, yes, self._body())
        self._position, self._kind, self._text = position, kind, text
        return If(condition, yes)

    def _for(self) -> Statement:
        self._expect("(")
        start: Statement | None = None
        if not self._at(";"):
            start = self._simple()
            if isinstance(start, Evaluate) and isinstance(start.expression, Contains) and self._take(")"):
                key = start.expression.keys[0]
                if not isinstance(key, Variable):
                    raise self._error()
                return ForIn(key.name, start.expression.array, self._body())
        self._expect(";")
        condition = None if self._at(";") else self._expression()
        self._expect(";")
        step = None if self._at(")") else self._simple()
        self._expect(")")
        return For(start, condition, step, self._body())

    def _simple(self) -> Statement:
        if word := self._take("print", "printf"):
            return self._print(formatted=word == "printf")
        if self._take("delete"):
            array = self._name()
            subscripts: tuple[Expression, ...] = ()
            if self._take("["):
                subscripts = self._list("]")
            return Delete(array, subscripts)
        if word := self._take("next", "exit", "break", "continue", "return"):
            bare = self._at(";", "\n", "}") or self._kind == "end"
            return Jump(word, None if bare else self._expression())
        return Evaluate(self._expression())

    def _print(self, *, formatted: bool) -> Print:
        if self._at(";", "\n", "}") or self._kind == "end":
            return Print((), formatted)
        self._greater_allowed = False
        if self._at("("):
            start = (self._position, self._kind, self._text)
            self._advance()
            arguments = self._list(")")
            if self._at(";", "\n", "}", ">", "|") or self._kind == "end":
                self._greater_allowed = True
                return self._no_redirection(Print(arguments, formatted))
            self._position, self._kind, self._text = start
        expressions = [self._expression()]
        while self._take(","):
            self._skip("\n")
            expressions.append(self._expression())
        self._greater_allowed = True
        return self._no_redirection(Print(tuple(expressions), formatted))

    def _no_redirection(self, statement: Print) -> Print:
        """Only `> "/dev/stderr"` is known of awk's files; it is dropped with its text kept on the output."""
        if self._take(">"):
            self._primary()
        return statement

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

    # -- expressions, from the loosest to the tightest --

    def _expression(self) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
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
