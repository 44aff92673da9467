"""Cuts shell text into words and operators (POSIX 2.3 "Token Recognition").

Words are taken apart here already, since where a word ends depends on what is quoted or nested in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pytest_microremed.embedded.sim.shell.syntax import (
    Arithmetic,
    HereDocument,
    Parameter,
    Part,
    Program,
    ShellSyntaxError,
    Substitution,
    Text,
    Word,
)

OPERATORS = (
    "<<-", "<<<", "&&", "||", ";;", "<<", ">>", "<&", ">&", "<>", ">|", "&>", "&", "|", ";", "<", ">", "(", ")", "\n",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATION = re.compile(r":?[-=?+]|##|#|%%|%")
_SPECIAL = "@*#?$!-0123456789"
_ENDS_WORD = " \t\n;&|<>()"

MAX_DEPTH = 60
"""Levels of nesting; what goes deeper is a syntax error, so that no text exhausts the interpreter's stack."""


@dataclass(frozen=True)
class Token:
    type: Literal["word", "operator", "number", "end"]
    text: str
    """The source of a word, to recognise reserved words, names and assignments; or the operator."""
    word: Word = ()


class Lexer:
    """A cursor on the text; `parse` parses a program from the cursor up to a given operator or, for "", to the end."""

    def __init__(self, text: str, parse: Callable[[Lexer, str], Program], depth: int = 0) -> None:
        self.text = text
        self.position = 0
        self.depth = depth
        self.pending: list[HereDocument] = []
        self._parse = parse

    def next(self) -> Token:
        self._skip_blanks()
        if self.position >= len(self.text):
            self._read_here_documents()
            return Token("end", "")
        for operator in OPERATORS:
            if self.text.startswith(operator, self.position):
                self.position += len(operator)
                if operator == "\n":
                    self._read_here_documents()
                return Token("operator", operator)
        number = re.compile(r"\d+(?=[<>])").match(self.text, self.position)
        if number:
            self.position = number.end()
            return Token("number", number[0])
        start = self.position
        word = self._word()
        return Token("word", self.text[start : self.position], word)

    def _skip_blanks(self) -> None:
        while self.position < len(self.text):
            char = self.text[self.position]
            if char in " \t\r":
                self.position += 1
            elif self.text.startswith("\\\n", self.position):
                self.position += 2
            elif char == "#":
                end = self.text.find("\n", self.position)
                self.position = len(self.text) if end < 0 else end
            else:
                return

    def _word(self) -> Word:
        parts: list[Part] = []
        while self.position < len(self.text):
            char = self.text[self.position]
            if char in _ENDS_WORD:
                break
            if char == "'":
                parts.append(Text(self._until("'"), True))
            elif char == '"':
                self.position += 1
                parts += self._double_quoted('"') or (Text("", True),)
            elif char == "\\":
                if self.position + 1 >= len(self.text):
                    parts.append(Text("\\", True))
                elif self.text[self.position + 1] != "\n":
                    parts.append(Text(self.text[self.position + 1], True))
                self.position = min(self.position + 2, len(self.text))
            elif char in "$`":
                parts.append(self._dollar(quoted=False))
            else:
                parts.append(Text(char, False))
                self.position += 1
        return _joined(parts)

    def _until(self, quote: str) -> str:
        end = self.text.find(quote, self.position + 1)
        if end < 0:
            raise ShellSyntaxError("unterminated quoted string")
        text = self.text[self.position + 1 : end]
        self.position = end + 1
        return text

    def _double_quoted(self, end: str) -> Word:
        """The inside of double quotes (or, with another `end`, of a here-document or an arithmetic expression)."""
        parts: list[Part] = []
        while True:
            if self.position >= len(self.text):
                if end:
                    raise ShellSyntaxError("unterminated quoted string")
                return _joined(parts)
            char = self.text[self.position]
            if char == end:
                self.position += 1
                return _joined(parts)
            following = self.text[self.position + 1 : self.position + 2]
            if char == "\\" and following and following in '$`"\\\n':
                if following == '"' and end != '"':
                    parts.append(Text("\\", True))
                if following != "\n":
                    parts.append(Text(following, True))
                self.position += 2
            elif char in "$`":
                parts.append(self._dollar(quoted=True))
            else:
                parts.append(Text(char, True))
                self.position += 1

    def _dollar(self, quoted: bool) -> Part:
        """What begins with `$` or a back-quote at the cursor."""
        if self.text[self.position] == "`":
            return Substitution(self._back_quoted(quoted), quoted)
        if self.text.startswith("$((", self.position):
            expression = self._arithmetic()
            if expression is not None:
                return Arithmetic(expression, quoted)
        if self.text.startswith("$(", self.position):
            self.position += 2
            return Substitution(self._nested(self, ")"), quoted)
        if self.text.startswith("${", self.position):
            return self._braced(quoted)
        self.position += 1
        name = _NAME.match(self.text, self.position)
        if name:
            self.position = name.end()
            return Parameter(name[0], quoted)
        if self.text[self.position : self.position + 1] and self.text[self.position] in _SPECIAL:
            self.position += 1
            return Parameter(self.text[self.position - 1], quoted)
        return Text("$", quoted)

    def _back_quoted(self, quoted: bool) -> Program:
        self.position += 1
        inner = ""
        while True:
            if self.position >= len(self.text):
                raise ShellSyntaxError("EOF in backquote substitution")
            char = self.text[self.position]
            self.position += 1
            if char == "`":
                break
            if char == "\\" and self.position < len(self.text):
                following = self.text[self.position]
                self.position += 1
                inner += following if following in "$`\\" or (quoted and following == '"') else "\\" + following
            else:
                inner += char
        return self._nested(Lexer(inner, self._parse, self.depth), "")

    def _nested(self, lexer: Lexer, end: str) -> Program:
        if lexer.depth >= MAX_DEPTH:
            raise ShellSyntaxError("nested too deep")
        lexer.depth += 1
        program = self._parse(lexer, end)
        lexer.depth -= 1
        return program

    def _arithmetic(self) -> Word | None:
        """The expression of `$((…))`, or None if it turns out to be a command substitution with a subshell."""
        depth, index = 0, self.position + 3
        while index < len(self.text):
            if self.text[index] == "(":
                depth += 1
            elif self.text[index] == ")":
                if depth == 0:
                    break
                depth -= 1
            index += 1
        if not self.text.startswith("))", index):
            return None
        inside = Lexer(self.text[self.position + 3 : index], self._parse, self.depth)
        self.position = index + 2
        return inside._double_quoted("")

    def _braced(self, quoted: bool) -> Parameter:
        self.position += 2
        if (
            self.text.startswith("#", self.position)
            and self.text[self.position + 1 : self.position + 2] not in "}:-=?+%"
        ):
            self.position += 1
            name = self._parameter_name()
            self._expect_brace()
            return Parameter(name, quoted, "length")
        name = self._parameter_name()
        operation = _OPERATION.match(self.text, self.position)
        if operation is None:
            self._expect_brace()
            return Parameter(name, quoted)
        self.position = operation.end()
        return Parameter(name, quoted, operation[0], self._braced_word(quoted))

    def _parameter_name(self) -> str:
        match = re.compile(r"[A-Za-z_]\w*|\d+|[@*#?$!-]").match(self.text, self.position)
        if match is None:
            raise ShellSyntaxError("Bad substitution")
        self.position = match.end()
        return match[0]

    def _expect_brace(self) -> None:
        if not self.text.startswith("}", self.position):
            raise ShellSyntaxError("Bad substitution")
        self.position += 1

    def _braced_word(self, quoted: bool) -> Word:
        """The word behind an operator inside `${…}`, up to its closing brace."""
        parts: list[Part] = []
        while True:
            if self.position >= len(self.text):
                raise ShellSyntaxError("Missing '}'")
            char = self.text[self.position]
            if char == "}":
                self.position += 1
                return _joined(parts)
            if char == "'" and not quoted:
                parts.append(Text(self._until("'"), True))
            elif char == '"':
                self.position += 1
                parts += self._double_quoted('"') or (Text("", True),)
            elif char == "\\" and self.position + 1 < len(self.text):
                following = self.text[self.position + 1]
                keep = quoted and following not in '$`"\\}\n'
                parts.append(Text("\\" + following if keep else following, True))
                self.position += 2
            elif char in "$`":
                parts.append(self._dollar(quoted))
            else:
                parts.append(Text(char, quoted))
                self.position += 1

    def _read_here_documents(self) -> None:
        for document in self.pending:
            lines = []
            while self.position < len(self.text):
                end = self.text.find("\n", self.position)
                line = self.text[self.position :] if end < 0 else self.text[self.position : end]
                self.position = len(self.text) if end < 0 else end + 1
                if document.strip_tabs:
                    line = line.lstrip("\t")
                if line == document.delimiter:
                    break
                lines.append(line + "\n")
            body = "".join(lines)
            if document.literal:
                document.body = (Text(body, True),)
            else:
                document.body = Lexer(body, self._parse, self.depth)._double_quoted("")
        self.pending = []


def _joined(parts: list[Part]) -> Word:
    """Neighbouring texts of the same kind as one."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Text) and isinstance(last, Text) and last.quoted == part.quoted:
            joined[-1] = Text(last.text + part.text, part.quoted)
        else:
            joined.append(part)
    return tuple(joined)
