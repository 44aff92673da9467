"""Awk's built-in functions."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from pytest_microremed.embedded.sim.shell import sed
from pytest_microremed.embedded.sim.shell.awk.record import split_fields
from pytest_microremed.embedded.sim.shell.awk.tree import Expression, Field, Number, Regex, Variable
from pytest_microremed.embedded.sim.shell.awk.values import Value, formatted, from_input, to_number, to_text

if TYPE_CHECKING:
    from pytest_microremed.embedded.sim.shell.awk.evaluation import Evaluator

Arguments: TypeAlias = tuple[Expression, ...]


def _text(awk: Evaluator, arguments: Arguments, index: int = 0) -> str:
    return to_text(awk.value(arguments[index])) if index < len(arguments) else awk.record.text


def _number(awk: Evaluator, arguments: Arguments, index: int = 0) -> float:
    return to_number(awk.value(arguments[index])) if index < len(arguments) else 0.0


def _length(awk: Evaluator, arguments: Arguments) -> Value:
    if arguments and isinstance(arguments[0], Variable) and arguments[0].name not in awk.variables:
        return float(len(awk.array(arguments[0])))
    return float(len(_text(awk, arguments)))


def _substr(awk: Evaluator, arguments: Arguments) -> Value:
    text = _text(awk, arguments)
    start = round(_number(awk, arguments, 1))
    end = start + round(_number(awk, arguments, 2)) if len(arguments) > 2 else len(text) + 1
    return text[max(start, 1) - 1 : max(end, 1) - 1]


def _split(awk: Evaluator, arguments: Arguments) -> Value:
    text = _text(awk, arguments)
    array = awk.array(arguments[1])
    array.clear()
    separator = arguments[2] if len(arguments) > 2 else None
    if isinstance(separator, Regex):
        parts = awk.shape(separator).split(text) if text else []
    else:
        parts = split_fields(text, to_text(awk.variables["FS"] if separator is None else awk.value(separator)))
    array.update({str(number): from_input(part) for number, part in enumerate(parts, 1)})
    return float(len(parts))


def _match(awk: Evaluator, arguments: Arguments) -> Value:
    found = awk.shape(arguments[1]).search(_text(awk, arguments))
    awk.variables["RSTART"] = float(found.start() + 1) if found else 0.0
    awk.variables["RLENGTH"] = float(found.end() - found.start()) if found else -1.0
    return awk.variables["RSTART"]


def _substitute(everywhere: bool) -> Callable[[Evaluator, Arguments], Value]:
    def function(awk: Evaluator, arguments: Arguments) -> Value:
        target = arguments[2] if len(arguments) > 2 else Field(Number(0.0))
        replacement = _text(awk, arguments, 1)
        text, count = awk.shape(arguments[0]).subn(
            lambda match: sed.expand(replacement, match), to_text(awk.value(target)), 0 if everywhere else 1
        )
        if count:
            awk.store(target, text)
        return float(count)

    return function


FUNCTIONS: dict[str, Callable[[Evaluator, Arguments], Value]] = {
    "length": _length,
    "substr": _substr,
    "split": _split,
    "match": _match,
    "sub": _substitute(everywhere=False),
    "gsub": _substitute(everywhere=True),
    "index": lambda awk, arguments: float(_text(awk, arguments).find(_text(awk, arguments, 1)) + 1),
    "toupper": lambda awk, arguments: _text(awk, arguments).upper(),
    "tolower": lambda awk, arguments: _text(awk, arguments).lower(),
    "sprintf": lambda awk, arguments: formatted(_text(awk, arguments), [awk.value(each) for each in arguments[1:]]),
    "int": lambda awk, arguments: float(int(_number(awk, arguments))),
    "sqrt": lambda awk, arguments: math.sqrt(max(0.0, _number(awk, arguments))),
    "exp": lambda awk, arguments: math.exp(min(700.0, _number(awk, arguments))),
    "log": lambda awk, arguments: math.log(max(1e-300, _number(awk, arguments))),
    "sin": lambda awk, arguments: math.sin(_number(awk, arguments)),
    "cos": lambda awk, arguments: math.cos(_number(awk, arguments)),
    "atan2": lambda awk, arguments: math.atan2(_number(awk, arguments), _number(awk, arguments, 1)),
    "rand": lambda awk, arguments: awk.random.random(),
    "srand": lambda awk, arguments: 0.0,
    "systime": lambda awk, arguments: float(int(time.time())),
    "fflush": lambda awk, arguments: 0.0,
    "close": lambda awk, arguments: 0.0,
}
