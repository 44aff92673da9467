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
from pytest_microremed.embedded.sim.shell.token_reader import TokenReader

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


class _Parser(TokenReader):
    """Recursive descent."""

    def at_end(self) -> bool:
        """Whether nothing but newlines is left."""
        self.skip_newlines()
        return self.token.type == "end"

    def line(self) -> Program:
        """One complete command: a list up to the end of its line, the newline still to come."""
        program = self.program(one_line=True)
        if self.token.type != "end" and not self.operator("\n"):
            raise self.unexpected()
        return program

    def program(self, *, one_line: bool = False) -> Program:
        items: list[AndOr] = []
        self.skip_newlines()
        while not self._at_end_of_list():
            first = self._pipeline()
            rest = []
            while self.operator("&&", "||"):
                operator = "&&" if self.token.text == "&&" else "||"
                self.advance()
                self.skip_newlines()
                rest.append((operator, self._pipeline()))
            background = self.operator("&")
            items.append(AndOr(first, tuple(rest), background))  # type: ignore[arg-type]
            if not self.operator(";", "&") and (one_line or not self.operator("\n")):
                break
            self.advance()
            if one_line and self.operator("\n"):
                break
            self.skip_newlines()
        return Program(tuple(items))

    def _at_end_of_list(self) -> bool:
        return self.token.type == "end" or self.operator(")", ";;") or (self.word() and self.token.text in _CLOSING)

    def _pipeline(self) -> Pipeline:
        negated = self.take("!")
        commands = [self._command()]
        while self.operator("|"):
            self.advance()
            self.skip_newlines()
            commands.append(self._command())
        return Pipeline(tuple(commands), negated)

    def _command(self) -> Command:
        if self.operator("("):
            self.advance()
            program = self._body()
            self.expect(")")
            return self._compound(Subshell(program))
        if not self.word():
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
        self.advance()
        program = self._body()
        self.expect("}")
        return Group(program)

    def _if(self) -> If:
        branches = []
        otherwise = None
        self.advance()
        while True:
            condition = self._body()
            self.expect("then")
            branches.append((condition, self._body()))
            if self.take("elif"):
                continue
            if self.take("else"):
                otherwise = self._body()
            self.expect("fi")
            return If(tuple(branches), otherwise)

    def _for(self) -> For:
        self.advance()
        name = self.token.text
        if not _NAME.match(name):
            raise ShellSyntaxError("Bad for loop variable")
        self.advance()
        self.skip_newlines()
        words: list[Word] | None = None
        if self.take("in"):
            words = []
            while self.word():
                words.append(self.token.word)
                self.advance()
        if self.operator(";", "\n"):
            self.advance()
        self.skip_newlines()
        return For(name, None if words is None else tuple(words), self._do_group())

    def _while(self) -> While:
        until = self.token.text == "until"
        self.advance()
        condition = self._body()
        return While(condition, self._do_group(), until)

    def _do_group(self) -> Program:
        self.expect("do")
        body = self._body()
        self.expect("done")
        return body

    def _case(self) -> Case:
        self.advance()
        if not self.word():
            raise self.unexpected()
        subject = self.token.word
        self.advance()
        self.skip_newlines()
        self.expect("in")
        self.skip_newlines()
        branches = []
        while not self.take("esac"):
            if self.operator("("):
                self.advance()
            patterns = [self._pattern()]
            while self.operator("|"):
                self.advance()
                patterns.append(self._pattern())
            self.expect(")")
            branches.append((tuple(patterns), self.program()))
            if self.operator(";;"):
                self.advance()
                self.skip_newlines()
            elif not (self.word() and self.token.text == "esac"):
                raise self.unexpected()
        return Case(subject, tuple(branches))

    def _pattern(self) -> Word:
        if not self.word():
            raise self.unexpected()
        word = self.token.word
        self.advance()
        return word

    def _simple(self) -> Command:
        assignments: list[Assignment] = []
        words: list[Word] = []
        redirections: list[Redirection] = []
        while True:
            if self._at_redirection():
                redirections += self._redirection()
            elif self.word():
                text, word = self.token.text, self.token.word
                self.advance()
                assignment = None if words else _ASSIGNMENT.match(text)
                if assignment:
                    assignments.append(Assignment(assignment[1], _without_prefix(word, len(assignment[0]))))
                    continue
                words.append(word)
                if len(words) == 1 and not assignments and not redirections and self.operator("("):
                    return self._function(text)
            else:
                break
        if not (assignments or words or redirections):
            raise self.unexpected()
        return Simple(tuple(assignments), tuple(words), tuple(redirections))

    def _function(self, name: str) -> Function:
        if not _NAME.match(name):
            raise ShellSyntaxError("Bad function name")
        self.advance()
        self.expect(")")
        self.skip_newlines()
        body = self._command()
        if not isinstance(body, Compound):
            raise self.unexpected()
        return Function(name, body)

    def _at_redirection(self) -> bool:
        return self.token.type == "number" or self.operator(*_REDIRECTIONS)

    def _redirection(self) -> list[Redirection]:
        number = None
        if self.token.type == "number":
            number = int(self.token.text)
            self.advance()
        operator = self.token.text
        if operator in ("<<", "<<-"):
            return [self._here_document(operator, number or 0)]
        self.advance()
        if not self.word():
            raise self.unexpected()
        word = self.token.word
        self.advance()
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
        self.advance()
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


def _without_prefix(word: Word, length: int) -> Word:
    """The value of an assignment word: all but its `name=`."""
    first = word[0]
    if not isinstance(first, Text):
        raise ShellSyntaxError("bad assignment")
    rest = first.text[length:]
    return ((Text(rest, first.quoted),) if rest else ()) + word[1:]
