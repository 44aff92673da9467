"""Runs awk programs over records: rules and statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from pytest_microremed.embedded.sim.shell.awk.evaluation import AwkError, Evaluator, Jumping
from pytest_microremed.embedded.sim.shell.awk.tree import (
    Block,
    Delete,
    Evaluate,
    For,
    ForIn,
    If,
    Jump,
    Print,
    Program,
    Rule,
    Statement,
    While,
)
from pytest_microremed.embedded.sim.shell.awk.values import formatted, from_input, to_number, to_text, truth

_MAX_STEPS = 1_000_000


class Awk(Evaluator):
    """A program that can be run."""

    def __init__(self, program: Program, write: Callable[[str], None], variables: Mapping[str, str]) -> None:
        super().__init__(program, variables)
        self._write = write
        self._open_ranges: set[int] = set()
        self._steps = 0
        self._exit_code = 0

    def run(self, inputs: Iterable[tuple[str, str]]) -> int:
        """Run over named texts; the exit code. Raises `AwkError`."""
        try:
            self._run_rules("BEGIN")
            if any(rule.kind != "BEGIN" for rule in self.program.rules):
                for name, text in inputs:
                    self.variables["FILENAME"], self.variables["FNR"] = name, 0.0
                    self._run_records(text)
        except Jumping as jump:
            self._check_exit(jump)
        try:
            self._run_rules("END")
        except Jumping as jump:
            self._check_exit(jump)
        return self._exit_code

    def _check_exit(self, jump: Jumping) -> None:
        if jump.name == "exit" and jump.value != "":
            self._exit_code = int(to_number(jump.value)) & 255

    def _run_records(self, text: str) -> None:
        separator = to_text(self.variables["RS"])
        if separator == "":
            records = [record for record in re.split(r"\n\n+", text.strip("\n")) if record]
        else:
            records = text.removesuffix(separator).split(separator) if text else []
        for record in records:
            self.variables["NR"] = to_number(self.variables["NR"]) + 1
            self.variables["FNR"] = to_number(self.variables["FNR"]) + 1
            self.set_record(record)
            try:
                self._run_rules("record")
            except Jumping as jump:
                if jump.name != "next":
                    raise

    def _run_rules(self, when: str) -> None:
        for number, rule in enumerate(self.program.rules):
            if when != "record":
                if rule.kind == when and rule.action is not None:
                    self.execute(rule.action)
            elif rule.kind not in ("BEGIN", "END") and self._selects(number, rule):
                if rule.action is None:
                    self._write(self.record.text + to_text(self.variables["ORS"]))
                else:
                    self.execute(rule.action)

    def _selects(self, number: int, rule: Rule) -> bool:
        if rule.pattern is None:
            return True
        if rule.end is None:
            return truth(self.value(rule.pattern))
        if number not in self._open_ranges:
            if not truth(self.value(rule.pattern)):
                return False
            self._open_ranges.add(number)
        if truth(self.value(rule.end)):
            self._open_ranges.discard(number)
        return True

    def execute(self, statement: Statement) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise AwkError("the program runs for too long")
        if isinstance(statement, Block):
            for each in statement.statements:
                self.execute(each)
        elif isinstance(statement, Print):
            self._print(statement)
        elif isinstance(statement, Evaluate):
            self.value(statement.expression)
        elif isinstance(statement, If):
            if truth(self.value(statement.condition)):
                self.execute(statement.yes)
            elif statement.no is not None:
                self.execute(statement.no)
        elif isinstance(statement, Delete):
            if statement.subscripts:
                self._array(statement.array).pop(self._key(statement.subscripts), None)
            else:
                self._array(statement.array).clear()
        elif isinstance(statement, Jump):
            value = "" if statement.value is None else self.value(statement.value)
            raise Jumping(statement.name, value)
        else:
            self._loop(statement)

    def _print(self, statement: Print) -> None:
        values = [self.value(argument) for argument in statement.arguments]
        if statement.formatted:
            if values:
                self._write(formatted(to_text(values[0]), values[1:]))
            return
        text = to_text(self.variables["OFS"]).join(to_text(value) for value in values) if values else self.record.text
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
                while truth(self.value(statement.condition)):
                    self._body(statement.body)
            else:
                if statement.start is not None:
                    self.execute(statement.start)
                while statement.condition is None or truth(self.value(statement.condition)):
                    self._body(statement.body)
                    if statement.step is not None:
                        self.execute(statement.step)
        except Jumping as jump:
            if jump.name != "break":
                raise

    def _body(self, statement: Statement) -> None:
        try:
            self.execute(statement)
        except Jumping as jump:
            if jump.name != "continue":
                raise
