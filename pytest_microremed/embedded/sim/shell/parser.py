"""Parses shell text into a syntax tree (POSIX 2.10 "Shell Grammar")."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pytest_microremed.embedded.sim.shell.lexer import MAX_DEPTH, Lexer
from pytest_microremed.embedded.sim.shell.syntax import (
    AndOr,
    Assignment,
    Case,
    Command,
    Compound,
    For,
    Function,
    Group,
    HereDocument,
    If,
    Pipeline,
    Program,
    Redirection,
    ShellSyntaxError,
    Simple,
    Subshell,
    Text,
    While,
    Word,
)

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_CLOSING = frozenset({"then", "else", "elif", "fi", "do", "done", "esac", "}"})
_REDIRECTIONS = frozenset({"<", ">", ">>", ">|", "<&", ">&", "<<", "<<-", "<>", "&>", "<<<"})


def parse(text: str) -> Program:
    """Raises `ShellSyntaxError`."""
    return _parse_until(Lexer(text, _parse_until), "")


def parse_lines(text: str) -> Iterator[Program]:
    """The program line by line, as a shell runs it: a syntax error comes up behind the lines before it.

    Raises `ShellSyntaxError`.
    """
    parser = _Parser(Lexer(text, _parse_until))
    while not parser.at_end():
        yield parser.line()


def _parse_until(lexer: Lexer, end: str) -> Program:
    parser = _Parser(lexer)
    program = parser.program()
    if parser.token.text != end or (end and parser.token.type != "operator"):
        raise parser.unexpected()
    return program


class _Parser:
    """Recursive descent with one token of look-ahead, which is never read beyond the end of a nested program."""

    def __init__(self, lexer: Lexer) -> None:
        self.lexer = lexer
        self.token = lexer.next()

    def unexpected(self) -> ShellSyntaxError:
        shown = {"": "end of file", "\n": "newline"}.get(self.token.text, f'"{self.token.text}"')
        return ShellSyntaxError(f"unexpected {shown}" if shown == "end of file" else f"{shown} unexpected")

    def at_end(self) -> bool:
        """Whether nothing but newlines is left."""
        self._skip_newlines()
        return self.token.type == "end"

    def line(self) -> Program:
        """One complete command: a list up to the end of its line, the newline still to come."""
        program = self.program(one_line=True)
        if self.token.type != "end" and not self._operator("\n"):
            raise self.unexpected()
        return program

    def program(self, *, one_line: bool = False) -> Program:
        items: list[AndOr] = []
        self._skip_newlines()
        while not self._at_end_of_list():
            first = self._pipeline()
            rest = []
            while self._operator("&&", "||"):
                operator = "&&" if self.token.text == "&&" else "||"
                self._advance()
                self._skip_newlines()
                rest.append((operator, self._pipeline()))
            background = self._operator("&")
            items.append(AndOr(first, tuple(rest), background))  # type: ignore[arg-type]
            if not self._operator(";", "&") and (one_line or not self._operator("\n")):
                break
            self._advance()
            if one_line and self._operator("\n"):
                break
            self._skip_newlines()
        return Program(tuple(items))

    def _at_end_of_list(self) -> bool:
        return self.token.type == "end" or self._operator(")", ";;") or (self._word() and self.token.text in _CLOSING)

    def _pipeline(self) -> Pipeline:
        negated = self._take("!")
        commands = [self._command()]
        while self._operator("|"):
            self._advance()
            self._skip_newlines()
            commands.append(self._command())
        return Pipeline(tuple(commands), negated)

    def _command(self) -> Command:
        if self._operator("("):
            self._advance()
            program = self._body()
            self._expect(")")
            return self._compound(Subshell(program))
        if not self._word():
            return self._simple()
        compounds: dict[str, Callable[[], Group | If | For | While | Case]] = {
            "{": self._group, "if": self._if, "for": self._for, "case": self._case,
            "while": self._while, "until": self._while,
        }  # fmt: skip
        parse_compound = compounds.get(self.token.text)
        if parse_compound is not None:
            return self._compound(parse_compound())
        if self.token.text in _CLOSING or self.token.text == "!":
            raise self.unexpected()
        return self._simple()

    def _compound(self, body: Group | Subshell | If | For | While | Case) -> Compound:
        redirections = []
        while self._at_redirection():
            redirections += self._redirection()
        return Compound(body, tuple(redirections))

    def _group(self) -> Group:
        self._advance()
        program = self._body()
        self._expect("}")
        return Group(program)

    def _if(self) -> If:
        branches = []
        otherwise = None
        self._advance()
        while True:
            condition = self._body()
            self._expect("then")
            branches.append((condition, self._body()))
            if self._take("elif"):
                continue
            if self._take("else"):
                otherwise = self._body()
            self._expect("fi")
            return If(tuple(branches), otherwise)

    def _for(self) -> For:
        self._advance()
        name = self.token.text
        if not _NAME.match(name):
            raise ShellSyntaxError("Bad for loop variable")
        self._advance()
        self._skip_newlines()
        words: list[Word] | None = None
        if self._take("in"):
            words = []
            while self._word():
                words.append(self.token.word)
                self._advance()
        if self._operator(";", "\n"):
            self._advance()
        self._skip_newlines()
        return For(name, None if words is None else tuple(words), self._do_group())

    def _while(self) -> While:
        until = self.token.text == "until"
        self._advance()
        condition = self._body()
        return While(condition, self._do_group(), until)

    def _do_group(self) -> Program:
        self._expect("do")
        body = self._body()
        self._expect("done")
        return body

    def _case(self) -> Case:
        self._advance()
        if not self._word():
            raise self.unexpected()
        subject = self.token.word
        self._advance()
        self._skip_newlines()
        self._expect("in")
        self._skip_newlines()
        branches = []
        while not self._take("esac"):
            if self._operator("("):
                self._advance()
            patterns = [self._pattern()]
            while self._operator("|"):
                self._advance()
                patterns.append(self._pattern())
            self._expect(")")
            branches.append((tuple(patterns), self.program()))
            if self._operator(";;"):
                self._advance()
                self._skip_newlines()
            elif not (self._word() and self.token.text == "esac"):
                raise self.unexpected()
        return Case(subject, tuple(branches))

    def _pattern(self) -> Word:
        if not self._word():
            raise self.unexpected()
        word = self.token.word
        self._advance()
        return word

    def _simple(self) -> Command:
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            if self._at_redirection():
                redirections += self._redirection()
            elif self._word():
                text, word = self.token.text, self.token.word
                self._advance()
                assignment = None if words else _ASSIGNMENT.match(text)
                if assignment:
                    assignments.append(Assignment(assignment[1], _without_prefix(word, len(assignment[0]))))
                    continue
                words.append(word)
                if len(words) == 1 and not assignments and not redirections and self._operator("("):
                    return self._function(text)
            else:
                break
        if not (assignments or words or redirections):
            raise self.unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirections))

    def _function(self, name: str) -> Function:
        if not _NAME.match(name):
            raise ShellSyntaxError("Bad function name")
        self._advance()
        self._expect(")")
        self._skip_newlines()
        body = self._command()
        if not isinstance(body, Compound):
            raise self.unexpected()
        return Function(name, body)

    def _at_redirection(self) -> bool:
        return self.token.type == "number" or self._operator(*_REDIRECTIONS)

    def _redirection(self) -> list[Redirection]:
        number = None
        if self.token.type == "number":
            number = int(self.token.text)
            self._advance()
        operator = self.token.text
        if operator in ("<<", "<<-"):
            return [self._here_document(operator, number or 0)]
        self._advance()
        if not self._word():
            raise self.unexpected()
        word = self.token.word
        self._advance()
        if operator == "<<<":  # bash: here-string
            return [Redirection(number or 0, "<<", HereDocument("", False, False, (*word, Text("\n", True))))]
        if operator == "&>":  # bash: both outputs
            return [Redirection(1, ">", word), Redirection(2, ">&", (Text("1", True),))]
        default = 0 if operator.startswith("<") else 1
        return [Redirection(default if number is None else number, operator, word)]  # type: ignore[arg-type]

    def _here_document(self, operator: str, descriptor: int) -> Redirection:
        # The delimiter must be known before the lexer reads the end of this line.
        token = self.lexer.next()
        if token.type not in ("word", "number"):
            self.token = token
            raise self.unexpected()
        literal = any(part.quoted for part in token.word)
        delimiter = "".join(part.text for part in token.word if isinstance(part, Text)) or token.text
        document = HereDocument(delimiter, operator == "<<-", literal)
        self.lexer.pending.append(document)
        self._advance()
        return Redirection(descriptor, "<<", document)

    def _body(self) -> Program:
        """The program inside a compound command: at least one command."""
        if self.lexer.depth >= MAX_DEPTH:
            raise ShellSyntaxError("nested too deep")
        self.lexer.depth += 1
        program = self.program()
        self.lexer.depth -= 1
        if not program.items:
            raise self.unexpected()
        return program

    def _advance(self) -> None:
        self.token = self.lexer.next()

    def _skip_newlines(self) -> None:
        while self._operator("\n"):
            self._advance()

    def _word(self) -> bool:
        return self.token.type == "word"

    def _operator(self, *operators: str) -> bool:
        return self.token.type == "operator" and self.token.text in operators

    def _take(self, reserved: str) -> bool:
        """Step over a reserved word if it is the next token."""
        if self._word() and self.token.text == reserved:
            self._advance()
            return True
        return False

    def _expect(self, text: str) -> None:
        """The next token must be this; the one behind it is only read if the program goes on."""
        if self.token.type not in ("word", "operator") or self.token.text != text:
            shown = self.unexpected()
            raise ShellSyntaxError(f'{shown} (expecting "{text}")')
        self._advance()


def _without_prefix(word: Word, length: int) -> Word:
    """The value of an assignment word: all but its `name=`."""
    first = word[0]
    if not isinstance(first, Text):
        raise ShellSyntaxError("bad assignment")
    rest = first.text[length:]
    return ((Text(rest, first.quoted),) if rest else ()) + word[1:]
