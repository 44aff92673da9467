"""grep and its kin."""

from __future__ import annotations

import re

from pytest_microremed.embedded.sim.shell import regex
from pytest_microremed.embedded.sim.shell.registry import Call, CommandError, command

_FOUND, _NOT_FOUND, _TROUBLE = 0, 1, 2


@command("grep", "egrep", "fgrep", "zgrep")
async def grep(call: Call) -> int:
    pairs, operands = call.option_pairs(
        "EFGPivcqonlLwxhHrRsae:f:m:A:B:C:zU",
        ["extended-regexp", "fixed-strings", "ignore-case", "invert-match", "count", "quiet", "silent", "only-matching",
         "line-number", "files-with-matches", "word-regexp", "line-regexp", "no-filename", "with-filename", "recursive",
         "regexp=", "max-count=", "after-context=", "before-context=", "context=", "color=", "colour=", "color",
         "line-buffered", "include=", "exclude=", "perl-regexp", "no-messages", "text"],
    )  # fmt: skip
    options = dict(pairs)
    patterns = [value for name, value in pairs if name in ("e", "regexp")]
    if not patterns:
        if not operands:
            raise CommandError("usage: grep [OPTION]... PATTERNS [FILE]...", _TROUBLE)
        patterns = [operands.pop(0)]
    search = _Search(call, options, "\n".join(patterns).split("\n"))
    recursive = bool({"r", "R", "recursive"} & options.keys())
    return await search.run(operands or (["."] if recursive else ["-"]), recursive=recursive)


class _Search:
    def __init__(self, call: Call, options: dict[str, str], patterns: list[str]) -> None:
        self.call = call
        self.options = options
        self.shape = self._compiled(patterns)
        self.invert = self._has("v", "invert-match")
        self.count = self._has("c", "count")
        self.quiet = self._has("q", "quiet", "silent")
        self.only = self._has("o", "only-matching")
        self.numbered = self._has("n", "line-number")
        self.names_only = self._has("l", "files-with-matches")
        self.most = self._number("m", "max-count", 10**9)
        around = self._number("C", "context", 0)
        self.after = self._number("A", "after-context", around)
        self.before = self._number("B", "before-context", around)

    def _has(self, *names: str) -> bool:
        return bool(self.options.keys() & set(names))

    def _number(self, short: str, long: str, default: int) -> int:
        text = self.options.get(short) or self.options.get(long)
        if text is None:
            return default
        if not text.isdigit():
            raise CommandError(f"{text}: invalid context length argument", _TROUBLE)
        return int(text)

    def _compiled(self, patterns: list[str]) -> re.Pattern[str]:
        fixed = self._has("F", "fixed-strings") or self.call.name == "fgrep"
        perl = self._has("P", "perl-regexp")
        extended = self._has("E", "extended-regexp") or self.call.name == "egrep"
        try:
            parts = [
                re.escape(text) if fixed else text if perl else regex.translate(text, extended=extended)
                for text in patterns
            ]
            whole = "|".join(f"(?:{part})" for part in parts) if len(parts) > 1 else parts[0]
            if self._has("w", "word-regexp"):
                whole = rf"(?<!\w)(?:{whole})(?!\w)"
            if self._has("x", "line-regexp"):
                whole = rf"(?:{whole})\Z"
            flags = re.IGNORECASE if self._has("i", "ignore-case") else 0
            return re.compile((r"\A" if self._has("x", "line-regexp") else "") + whole, flags)
        except (re.error, ValueError) as error:
            raise CommandError(str(error), _TROUBLE) from None

    async def run(self, names: list[str], *, recursive: bool) -> int:
        call = self.call
        files: list[str] = []
        status = _NOT_FOUND
        for name in names:
            path = call.path(name)
            if name != "-" and call.files.is_directory(path):
                if not recursive:
                    call.complain(f"{name}: Is a directory")
                    continue
                inside = [p for p in call.files.walk(path) if call.files.is_file(p)]
                files += [name.rstrip("/") + p[len(path.rstrip("/")) :] for p in inside]
            else:
                files.append(name)
        shown = (len(files) > 1 or recursive or self._has("H", "with-filename")) and not self._has("h", "no-filename")
        trouble = False
        for name in files:
            try:
                found = await self._file(name, shown=shown)
            except OSError as error:
                trouble = True
                if not self._has("s", "no-messages"):
                    call.complain(f"{name}: {error.strerror}")
                continue
            if found:
                status = _FOUND
                if self.quiet:
                    return _FOUND
        return _TROUBLE if trouble and not (self.quiet and status == _FOUND) else status

    async def _file(self, name: str, *, shown: bool) -> bool:
        call = self.call
        label = "(standard input)" if name == "-" else name
        prefix = f"{label}:" if shown else ""
        stream = call.stdin if name == "-" else await call.open(name)
        matched, number = 0, 0
        history: list[str] = []
        trailing, printed_to = 0, 0
        while matched < self.most and (raw := await stream.readline()):
            number += 1
            line = raw.decode("utf-8", "surrogateescape").rstrip("\n")
            hit = bool(self.shape.search(line)) != self.invert
            if hit:
                matched += 1
                if self.quiet or self.names_only:
                    break
                if not self.count:
                    if self.before and printed_to and number - len(history) > printed_to + 1:
                        call.print("--")
                    for index, old in enumerate(history):
                        call.print(self._line(label, number - len(history) + index, old, "-", shown=shown))
                    self._print(label, number, line, shown=shown)
                    history, trailing, printed_to = [], self.after, number
            elif trailing:
                call.print(self._line(label, number, line, "-", shown=shown))
                trailing -= 1
                printed_to = number
            elif self.before:
                history = [*history, line][-self.before :]
            await call.out.drain()
        if self.names_only and matched:
            call.print(label)
        elif self.count and not self.quiet:
            call.print(f"{prefix}{matched}")
        return bool(matched)

    def _print(self, label: str, number: int, line: str, *, shown: bool) -> None:
        if self.only:
            if not self.invert:
                for match in self.shape.finditer(line):
                    if match[0]:
                        self.call.print(self._line(label, number, match[0], ":", shown=shown))
            return
        self.call.print(self._line(label, number, line, ":", shown=shown))

    def _line(self, label: str, number: int, text: str, separator: str, *, shown: bool) -> str:
        prefix = f"{label}{separator}" if shown else ""
        return prefix + (f"{number}{separator}" if self.numbered else "") + text
