"""The syntax tree of awk programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True)
class Number:
    value: float


@dataclass(frozen=True)
class String:
    value: str


@dataclass(frozen=True)
class Regex:
    """`/…/`: by itself, whether the record matches."""

    pattern: str


@dataclass(frozen=True)
class Variable:
    name: str


@dataclass(frozen=True)
class Field:
    index: Expression


@dataclass(frozen=True)
class Element:
    """`array[subscripts]`."""

    array: str
    subscripts: tuple[Expression, ...]


@dataclass(frozen=True)
class Assign:
    target: Target
    operator: str
    value: Expression


@dataclass(frozen=True)
class Step:
    """`++x`, `x--` and so on."""

    target: Target
    change: int
    before: bool


@dataclass(frozen=True)
class Unary:
    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary:
    operator: str
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Conditional:
    condition: Expression
    yes: Expression
    no: Expression


@dataclass(frozen=True)
class Contains:
    """`key in array`."""

    keys: tuple[Expression, ...]
    array: str


@dataclass(frozen=True)
class Call:
    name: str
    arguments: tuple[Expression, ...]


Target: TypeAlias = Variable | Field | Element
Expression: TypeAlias = (
    Number
    | String
    | Regex
    | Variable
    | Field
    | Element
    | Assign
    | Step
    | Unary
    | Binary
    | Conditional
    | Contains
    | Call
)


@dataclass(frozen=True)
class Print:
    """`print` or, with a format, `printf`."""

    arguments: tuple[Expression, ...]
    formatted: bool = False


@dataclass(frozen=True)
class Evaluate:
    expression: Expression


@dataclass(frozen=True)
class If:
    condition: Expression
    yes: Statement
    no: Statement | None = None


@dataclass(frozen=True)
class While:
    condition: Expression
    body: Statement
    body_first: bool = False


@dataclass(frozen=True)
class For:
    start: Statement | None
    condition: Expression | None
    step: Statement | None
    body: Statement


@dataclass(frozen=True)
class ForIn:
    variable: str
    array: str
    body: Statement


@dataclass(frozen=True)
class Block:
    statements: tuple[Statement, ...] = ()


@dataclass(frozen=True)
class Delete:
    array: str
    subscripts: tuple[Expression, ...] = ()


@dataclass(frozen=True)
class Jump:
    """`next`, `exit`, `break`, `continue`, `return`."""

    name: str
    value: Expression | None = None


Statement: TypeAlias = Print | Evaluate | If | While | For | ForIn | Block | Delete | Jump


@dataclass(frozen=True)
class Rule:
    """`pattern { action }`; a pattern may be BEGIN, END, an expression or a range."""

    kind: str
    action: Block | None
    pattern: Expression | None = None
    end: Expression | None = None


@dataclass(frozen=True)
class Function:
    parameters: tuple[str, ...]
    body: Block


@dataclass
class Program:
    rules: list[Rule] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
