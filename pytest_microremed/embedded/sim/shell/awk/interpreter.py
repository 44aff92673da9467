"""Runs awk programs over records."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Mapping

from pytest_microremed.embedded.sim.shell import regex
from pytest_microremed.embedded.sim.shell.awk.functions import FUNCTIONS
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
from pytest_microremed.embedded.sim.shell.awk.values import (
    Value,
    compare,
    formatted,
    from_input,
    to_number,
    to_text,
    truth,
)

_MAX_STEPS = 1_000_000
_MAX_CALLS = 40


class AwkError(Exception):
    """The program fails while it runs."""


class _Jump(Exception):
    """Control flow of `next`, `exit`, `break`, `continue` and `return`."""

    def __init__(self, name: str, value: Value = "") -> None:
        self.name = name
        self.value = value


class Awk:
    """A program, its variables, and its output."""

    def __init__(self, program: Program, write: Callable[[str], None], variables: Mapping[str, str]) -> None:
        self._program = program
        self._write = write
        self.variables: dict[str, Value] = {
            "NR": 0.0, "NF": 0.0, "FNR": 0.0, "FS": " ", "OFS": " ", "ORS": "\n", "RS": "\n", "SUBSEP": "\x1c",
            "CONVFMT": "%.6g", "OFMT": "%.6g", "RSTART": 0.0, "RLENGTH": -1.0, "FILENAME": "",
        }  # fmt: skip
        self.variables.update({name: from_input(value) for name, value in variables.items()})
        self._arrays: dict[str, dict[str, Value]] = {}
        self._fields: list[str] = []
        self._record = ""
        self._open_ranges: set[int] = set()
        self._steps = 0
        self._calls = 0
        self.random: random.Random = random.Random(0)
        self.exit_code = 0

    def set_environment(self, environment: Mapping[str, str]) -> None:
        self._arrays["ENVIRON"] = {name: from_input(value) for name, value in environment.items()}

    def run(self, inputs: Iterable[tuple[str, str]]) -> int:
        """Run over named texts; the exit code. Raises `AwkError`."""
        try:
            self._run_rules("BEGIN")
            if any(rule.kind != "BEGIN" for rule in self._program.rules):
                for name, text in inputs:
                    self.variables["FILENAME"], self.variables["FNR"] = name, 0.0
                    self._run_records(text)
        except _Jump as jump:
            self._check_exit(jump)
        try:
            self._run_rules("END")
        except _Jump as jump:
            self._check_exit(jump)
        return self.exit_code

    def _check_exit(self, jump: _Jump) -> None:
        if jump.name == "exit" and jump.value != "":
            self.exit_code = int(to_number(jump.value)) & 255

    def _run_records(self, text: str) -> None:
        separator = to_text(self.variables["RS"])
        if separator == "":
            records = [record for record in re.split(r"\n\n+", text.strip("\n")) if record]
        else:
            records = text.removesuffix(separator).split(separator) if text else []
        for record in records:
            self.variables["NR"] = to_number(self.variables["NR"]) + 1
            self.variables["FNR"] = to_number(self.variables["FNR"]) + 1
            self._set_record(record)
            try:
                self._run_rules("record")
            except _Jump as jump:
                if jump.name != "next":
                    raise

    def _run_rules(self, when: str) -> None:
        for number, rule in enumerate(self._program.rules):
            if when != "record":
                if rule.kind == when and rule.action is not None:
                    self._execute(rule.action)
            elif rule.kind not in ("BEGIN", "END") and self._selects(number, rule):
                if rule.action is None:
                    self._write(self._record + to_text(self.variables["ORS"]))
                else:
                    self._execute(rule.action)

    def _selects(self, number: int, rule: Rule) -> bool:
        if rule.pattern is None:
            return True
        if rule.end is None:
            return truth(self._value(rule.pattern))
        if number not in self._open_ranges:
            if not truth(self._value(rule.pattern)):
                return False
            self._open_ranges.add(number)
        if truth(self._value(rule.end)):
            self._open_ranges.discard(number)
        return True

    # -- fields --

    def _set_record(self, record: str) -> None:
        self._record = record
        self._fields = self.split(record, to_text(self.variables["FS"]))
        self.variables["NF"] = float(len(self._fields))

    @staticmethod
    def split(text: str, separator: str) -> list[str]:
        """Fields of a text: by blanks, by a character, or by a regular expression."""
        if separator == " ":
            return text.split()
        if not text:
            return []
        if len(separator) == 1 and separator not in "|.*+?^$\\[]()":
            return text.split(separator)
        if len(separator) == 1:
            return text.split(separator) if separator != "\\" else text.split("\\")
        return regex.compiled(separator, extended=True).split(text) if separator else list(text)

    def _field(self, index: int) -> Value:
        if index < 0:
            raise AwkError(f"attempt to access field {index}")
        if index == 0:
            return from_input(self._record)
        return from_input(self._fields[index - 1]) if index <= len(self._fields) else from_input("")

    def _set_field(self, index: int, value: str) -> None:
        if index == 0:
            self._set_record(value)
            return
        if index > 10_000:
            raise AwkError(f"attempt to access field {index}")
        self._fields += [""] * (index - len(self._fields))
        self._fields[index - 1] = value
        self._rebuild()

    def _rebuild(self) -> None:
        self._record = to_text(self.variables["OFS"]).join(self._fields)
        self.variables["NF"] = float(len(self._fields))

    # -- statements --

    def _execute(self, statement: Statement) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise AwkError("the program runs for too long")
        if isinstance(statement, Block):
            for each in statement.statements:
                self._execute(each)
        elif isinstance(statement, Print):
            self._print(statement)
        elif isinstance(statement, Evaluate):
            self._value(statement.expression)
        elif isinstance(statement, If):
            if truth(self._value(statement.condition)):
                self._execute(statement.yes)
            elif statement.no is not None:
                self._execute(statement.no)
        elif isinstance(statement, Delete):
            if statement.subscripts:
                self._array(statement.array).pop(self._key(statement.subscripts), None)
            else:
                self._array(statement.array).clear()
        elif isinstance(statement, Jump):
            value = "" if statement.value is None else self._value(statement.value)
            raise _Jump(statement.name, value)
        else:
            self._loop(statement)

    def _print(self, statement: Print) -> None:
        values = [self._value(argument) for argument in statement.arguments]
        if statement.formatted:
            if values:
                self._write(formatted(to_text(values[0]), values[1:]))
            return
        text = to_text(self.variables["OFS"]).join(to_text(value) for value in values) if values else self._record
        self._write(text + to_text(self.variables["ORS"]))

    def _loop(self, statement: While | For | ForIn) -> None:
        try:
            if isinstance(statement, ForIn):
                for key in list(self._array(statement.array)):
                    self.variables[statement.variable] = from_input(key)
                    self._body(statement.body)
            elif isinstance(statement, While):
                if statement.body_first:
                    self._body(statement.body)
                while truth(self._value(statement.condition)):
                    self._body(statement.body)
            else:
                if statement.start is not None:
                    self._execute(statement.start)
                while statement.condition is None or truth(self._value(statement.condition)):
                    self._body(statement.body)
                    if statement.step is not None:
                        self._execute(statement.step)
        except _Jump as jump:
            if jump.name != "break":
                raise

    def _body(self, statement: Statement) -> None:
        try:
            self._execute(statement)
        except _Jump as jump:
            if jump.name != "continue":
                raise

    # -- expressions --

    def _value(self, expression: Expression) -> Value:
        if isinstance(expression, Number | String):
            return expression.value
        if isinstance(expression, Variable):
            return self.variables.get(expression.name, from_input(""))
        if isinstance(expression, Field):
            return self._field(int(to_number(self._value(expression.index))))
        if isinstance(expression, Element):
            return self._array(expression.array).setdefault(self._key(expression.subscripts), from_input(""))
        if isinstance(expression, Regex):
            return float(self._matches(self._record, expression))
        if isinstance(expression, Assign):
            return self._assign(expression)
        if isinstance(expression, Step):
            old = to_number(self._value(expression.target))
            self._store(expression.target, old + expression.change)
            return old + expression.change if expression.before else old
        if isinstance(expression, Unary):
            return self._unary(expression)
        if isinstance(expression, Binary):
            return self._binary(expression)
        if isinstance(expression, Conditional):
            return self._value(expression.yes if truth(self._value(expression.condition)) else expression.no)
        if isinstance(expression, Contains):
            return float(self._key(expression.keys) in self._array(expression.array))
        return self._call(expression)

    def _unary(self, expression: Unary) -> Value:
        value = self._value(expression.operand)
        if expression.operator == "(":
            return value
        if expression.operator == "!":
            return float(not truth(value))
        return to_number(value) if expression.operator == "+" else -to_number(value)

    def _binary(self, expression: Binary) -> Value:
        operator = expression.operator
        left = self._value(expression.left)
        if operator in ("&&", "||"):
            if truth(left) == (operator == "||"):
                return float(operator == "||")
            return float(truth(self._value(expression.right)))
        if operator in ("~", "!~"):
            return float(self._matches(to_text(left), expression.right) == (operator == "~"))
        right = self._value(expression.right)
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
        source = pattern.pattern if isinstance(pattern, Regex) else to_text(self._value(pattern))
        try:
            return regex.compiled(source, extended=True)
        except ValueError as error:
            raise AwkError(f"bad regex '{source}': {error}") from None

    def _assign(self, expression: Assign) -> Value:
        value = self._value(expression.value)
        if expression.operator:
            value = self._arithmetic(expression.operator, to_number(self._value(expression.target)), to_number(value))
        self._store(expression.target, value)
        return value

    def _store(self, target: Expression, value: Value) -> None:
        if isinstance(target, Variable):
            self.variables[target.name] = value
            if target.name == "NF":
                count = int(to_number(value))
                self._fields = (self._fields + [""] * count)[:count]
                self._rebuild()
        elif isinstance(target, Field):
            self._set_field(int(to_number(self._value(target.index))), to_text(value))
        elif isinstance(target, Element):
            self._array(target.array)[self._key(target.subscripts)] = value

    def _array(self, name: str) -> dict[str, Value]:
        return self._arrays.setdefault(name, {})

    def _key(self, subscripts: tuple[Expression, ...]) -> str:
        return to_text(self.variables["SUBSEP"]).join(to_text(self._value(each)) for each in subscripts)

    # -- functions --

    def _call(self, call: Call) -> Value:
        function = self._program.functions.get(call.name)
        if function is not None:
            return self._call_own(call, function.parameters, function.body)
        builtin = FUNCTIONS.get(call.name)
        if builtin is None:
            raise AwkError(f"function {call.name} not defined")
        return builtin(self, call.arguments)

    def _call_own(self, call: Call, parameters: tuple[str, ...], body: Block) -> Value:
        if self._calls >= _MAX_CALLS:
            raise AwkError("function calls are nested too deep")
        arguments = [self._value(argument) for argument in call.arguments]
        saved = {name: self.variables.get(name) for name in parameters}
        for index, name in enumerate(parameters):
            self.variables[name] = arguments[index] if index < len(arguments) else ""
        self._calls += 1
        try:
            self._execute(body)
        except _Jump as jump:
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

    def value(self, expression: Expression) -> Value:
        """For built-in functions: the value of one of their arguments."""
        return self._value(expression)

    def store(self, target: Expression, value: Value) -> None:
        """For built-in functions: assign to one of their arguments."""
        self._store(target, value)

    def array(self, expression: Expression) -> dict[str, Value]:
        """For built-in functions: an argument that names an array."""
        if not isinstance(expression, Variable):
            raise AwkError("an array is expected")
        return self._array(expression.name)

    @property
    def record(self) -> str:
        return self._record
