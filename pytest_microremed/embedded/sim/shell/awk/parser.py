"""Parses awk programs: rules, functions and statements."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell.awk.expressions import MAX_DEPTH, AwkSyntaxError, ExpressionParser
from pytest_microremed.embedded.sim.shell.awk.tree import (
    Block,
    Contains,
    Delete,
    Evaluate,
    Expression,
    For,
    ForIn,
    Function,
    If,
    Jump,
    Print,
    Program,
    Rule,
    Statement,
    Variable,
    While,
)


def parse(text: str) -> Program:
    """Raises `AwkSyntaxError`."""
    return _Parser(text).program()


class _Parser(ExpressionParser):
    """Reads whole programs."""

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
        if self._depth > MAX_DEPTH:
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
