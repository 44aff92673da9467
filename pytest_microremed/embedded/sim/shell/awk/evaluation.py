"""The values of awk expressions."""

from __future__ import annotations

import random
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping

from pytest_microremed.embedded.sim.shell import regex
from pytest_microremed.embedded.sim.shell.awk.functions import FUNCTIONS
from pytest_microremed.embedded.sim.shell.awk.record import Record
from pytest_microremed.embedded.sim.shell.awk.tree import (
    Assign,
    Binary,
    Block,
    Call,
    Conditional,
    Contains,
    Element,
    Expression,
    Field,
    Number,
    Program,
    Regex,
    Statement,
    Step,
    String,
    Unary,
    Variable,
)
from pytest_microremed.embedded.sim.shell.awk.values import Value, compare, from_input, to_number, to_text, truth

_MAX_CALLS = 40


class AwkError(Exception):
    """The program fails while it runs."""


class Jumping(Exception):
    """Control flow of `next`, `exit`, `break`, `continue` and `return`."""

    def __init__(self, name: str, value: Value = "") -> None:
        self.name = name
        self.value = value


class Evaluator(ABC):
    """A program's variables, arrays and record, and what expressions are worth with them."""

    def __init__(self, program: Program, variables: Mapping[str, str]) -> None:
        self.program = program
        self.record = Record()
        self.random: random.Random = random.Random(0)
        self.variables: dict[str, Value] = {
            "NR": 0.0, "NF": 0.0, "FNR": 0.0, "FS": " ", "OFS": " ", "ORS": "\n", "RS": "\n", "SUBSEP": "\x1c",
            "CONVFMT": "%.6g", "OFMT": "%.6g", "RSTART": 0.0, "RLENGTH": -1.0, "FILENAME": "",
        }  # fmt: skip
        self.variables.update({name: from_input(value) for name, value in variables.items()})
        self._arrays: dict[str, dict[str, Value]] = {}
        self._calls = 0

    @abstractmethod
    def execute(self, statement: Statement) -> None:
        """Run a statement: the body of a function."""

    def set_environment(self, environment: Mapping[str, str]) -> None:
        self._arrays["ENVIRON"] = {name: from_input(value) for name, value in environment.items()}

    def value(self, expression: Expression) -> Value:
        if isinstance(expression, Number | String):
            return expression.value
        if isinstance(expression, Variable):
            return self.variables.get(expression.name, from_input(""))
        if isinstance(expression, Field):
            return self._field(int(to_number(self.value(expression.index))))
        if isinstance(expression, Element):
            return self._array(expression.array).setdefault(self._key(expression.subscripts), from_input(""))
        if isinstance(expression, Regex):
            return float(self._matches(self.record.text, expression))
        if isinstance(expression, Assign):
            return self._assign(expression)
        if isinstance(expression, Step):
            old = to_number(self.value(expression.target))
            self.store(expression.target, old + expression.change)
            return old + expression.change if expression.before else old
        if isinstance(expression, Unary):
            return self._unary(expression)
        if isinstance(expression, Binary):
            return self._binary(expression)
        if isinstance(expression, Conditional):
            return self.value(expression.yes if truth(self.value(expression.condition)) else expression.no)
        if isinstance(expression, Contains):
            return float(self._key(expression.keys) in self._array(expression.array))
        return self._call(expression)

    def _unary(self, expression: Unary) -> Value:
        value = self.value(expression.operand)
        if expression.operator == "(":
            return value
        if expression.operator == "!":
            return float(not truth(value))
        return to_number(value) if expression.operator == "+" else -to_number(value)

    def _binary(self, expression: Binary) -> Value:
        operator = expression.operator
        left = self.value(expression.left)
        if operator in ("&&", "||"):
            if truth(left) == (operator == "||"):
                return float(operator == "||")
            return float(truth(self.value(expression.right)))
        if operator in ("~", "!~"):
            return float(self._matches(to_text(left), expression.right) == (operator == "~"))
        right = self.value(expression.right)
        if operator == " ":
            return to_text(left) + to_text(right)
        if operator in ("<", "<=", "==", "!=", ">", ">="):
            return float(compare(left, operator, right))
        return self._arithmetic(operator, to_number(left), to_number(right))

    @staticmethod
    def _arithmetic(operator: str, left: float, right: float) -> float:
        try:
            if operator == "+":
                return left + right
            if operator == "-":
                return left - right
            if operator == "*":
                return left * right
            if operator == "/":
                return left / right
            if operator == "%":
                return float(left - right * int(left / right))
            return float(left**right)
        except ZeroDivisionError:
            raise AwkError("division by zero") from None
        except (OverflowError, ValueError):
            return float("nan")

    def _matches(self, text: str, pattern: Expression) -> bool:
        return self.shape(pattern).search(text) is not None

    def shape(self, pattern: Expression) -> re.Pattern[str]:
        """The regular expression that an expression stands for."""
        source = pattern.pattern if isinstance(pattern, Regex) else to_text(self.value(pattern))
        try:
            return regex.compiled(source, extended=True)
        except ValueError as error:
            raise AwkError(f"bad regex '{source}': {error}") from None

    def _assign(self, expression: Assign) -> Value:
        value = self.value(expression.value)
        if expression.operator:
            value = self._arithmetic(expression.operator, to_number(self.value(expression.target)), to_number(value))
        self.store(expression.target, value)
        return value

    def store(self, target: Expression, value: Value) -> None:
        if isinstance(target, Variable):
            self.variables[target.name] = value
            if target.name == "NF":
                self.record.resize(int(to_number(value)), to_text(self.variables["OFS"]))
        elif isinstance(target, Field):
            self._set_field(int(to_number(self.value(target.index))), to_text(value))
        elif isinstance(target, Element):
            self._array(target.array)[self._key(target.subscripts)] = value

    def _array(self, name: str) -> dict[str, Value]:
        return self._arrays.setdefault(name, {})

    def _key(self, subscripts: tuple[Expression, ...]) -> str:
        return to_text(self.variables["SUBSEP"]).join(to_text(self.value(each)) for each in subscripts)

    def _field(self, index: int) -> Value:
        try:
            return from_input(self.record.field(index))
        except ValueError as error:
            raise AwkError(str(error)) from None

    def set_record(self, text: str) -> None:
        self.record.set(text, to_text(self.variables["FS"]))
        self.variables["NF"] = float(len(self.record))

    def _set_field(self, index: int, value: str) -> None:
        if index == 0:
            self.set_record(value)
            return
        try:
            self.record.assign(index, value, to_text(self.variables["OFS"]))
        except ValueError as error:
            raise AwkError(str(error)) from None
        self.variables["NF"] = float(len(self.record))

    def _call(self, call: Call) -> Value:
        function = self.program.functions.get(call.name)
        if function is not None:
            return self._call_own(call, function.parameters, function.body)
        builtin = FUNCTIONS.get(call.name)
        if builtin is None:
            raise AwkError(f"function {call.name} not defined")
        return builtin(self, call.arguments)

    def _call_own(self, call: Call, parameters: tuple[str, ...], body: Block) -> Value:
        if self._calls >= _MAX_CALLS:
            raise AwkError("function calls are nested too deep")
        arguments = [self.value(argument) for argument in call.arguments]
        saved = {name: self.variables.get(name) for name in parameters}
        for index, name in enumerate(parameters):
            self.variables[name] = arguments[index] if index < len(arguments) else ""
        self._calls += 1
        try:
            self.execute(body)
        except Jumping as jump:
            if jump.name != "return":
                raise
            return jump.value
        finally:
            self._calls -= 1
            for name, value in saved.items():
                if value is None:
                    self.variables.pop(name, None)
                else:
                    self.variables[name] = value
        return ""

    def array(self, expression: Expression) -> dict[str, Value]:
        """The array that an argument names. Raises `AwkError`."""
        if not isinstance(expression, Variable):
            raise AwkError("an array is expected")
        return self._array(expression.name)
