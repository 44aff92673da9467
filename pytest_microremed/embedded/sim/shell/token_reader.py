"""What the parser does with single tokens: look at them, step over them, complain about them."""

from __future__ import annotations

from pytest_microremed.embedded.sim.shell.lexer import Lexer
from pytest_microremed.embedded.sim.shell.syntax import ShellSyntaxError


class TokenReader:
    """One token of look-ahead, which is never read beyond the end of a nested program."""

    def __init__(self, lexer: Lexer) -> None:
        self.lexer = lexer
        self.token = lexer.next()

    def unexpected(self) -> ShellSyntaxError:
        shown = {"": "end of file", "\n": "newline"}.get(self.token.text, f'"{self.token.text}"')
        return ShellSyntaxError(f"unexpected {shown}" if shown == "end of file" else f"{shown} unexpected")

    def advance(self) -> None:
        self.token = self.lexer.next()

    def skip_newlines(self) -> None:
        while self.operator("\n"):
            self.advance()

    def word(self) -> bool:
        return self.token.type == "word"

    def operator(self, *operators: str) -> bool:
        return self.token.type == "operator" and self.token.text in operators

    def take(self, reserved: str) -> bool:
        """Step over a reserved word if it is the next token."""
        if self.word() and self.token.text == reserved:
            self.advance()
            return True
        return False

    def expect(self, text: str) -> None:
        """The next token must be this; the one behind it is only read if the program goes on."""
        if self.token.type not in ("word", "operator") or self.token.text != text:
            shown = self.unexpected()
            raise ShellSyntaxError(f'{shown} (expecting "{text}")')
        self.advance()
