"""Random scripts of harmless shell built-ins, to run by two shells and compare."""

from __future__ import annotations

import random

OPERATORS = (":-", "-", ":+", "+", ":=", "#", "##", "%", "%%")
ARITHMETIC = ("+", "-", "*", "<", ">", "<=", "==", "!=", "&&", "||", "&", "|", "^", "<<")
SMALL = (
    "true",
    "false",
    "echo $?",
    ":",
    "set -- x 'y z'; echo $# \"$@\"",
    "printf '%d|%5s|%-4s|%03d\\n' 1 a b 7",
    "echo 'u  v' | { read a b; echo \"$b-$a\"; }",
)
WRAPPED = (
    "{}",
    "{{ {}; }} > out; cat out; cat < out; cat < none; echo $?",
    "{{ {}; }} >> out; sort out | head -n 2",
    "cat <<END\n$( {})\n$a `echo $b` \\$c\nEND\n",
    "cat <<'END'\n{}\n$a\nEND\n",
    "set -e; {}; echo end",
    "set -u; {}; echo $unset",
)


class Scripts:
    """A source of scripts; the same seed gives the same ones."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self._loops = 0

    def script(self) -> str:
        body = self.random.choice(("; ", "\n")).join(self.command(3) for _ in range(self.random.randint(1, 4)))
        return "n=2; m=5; b='x y'; c=''\n" + self.random.choice(WRAPPED).format(body)

    def word(self, depth: int) -> str:
        """One word: quoted in one of the ways, or an expansion."""
        rng = self.random
        name = rng.choice("abc")
        text = "".join(rng.choice("abx 12*?.:-") for _ in range(rng.randint(0, 6)))
        plain = "".join(char for char in text if char not in " *?") or "w"
        operator = rng.choice(OPERATORS)
        kind = rng.randint(0, 12 if depth else 8)
        if kind == 9:
            return f"$(({self.expression(2)}))"
        if kind in (10, 11):
            quote = '"' if kind == 11 else ""
            return f"{quote}$( {self.command(depth - 1)}){quote}"
        if kind == 12:
            return self.word(0) + self.word(0)
        return (
            plain, f"'{text}'", f'"{text}"', f"${name}", f'"${name}"', f"${{#{name}}}", f'"${{{name}}}{plain}"',
            f"${{{name}{operator}{plain}}}", f'"${{{name}{operator}{plain}}}"',
        )[kind]  # fmt: skip

    def expression(self, depth: int) -> str:
        rng = self.random
        if not depth or rng.random() < 0.4:
            return rng.choice(("0", "1", "2", "7", "n", "m", "010", "0x1f"))
        left, right, operator = self.expression(depth - 1), self.expression(depth - 1), rng.choice(ARITHMETIC)
        forms = ("{0} {1} {2}", "({0} {1} {2})", "- {0} {1} {2}", "!{0} {1} {2}", "{0} ? {2} : {0}", "n = {0} {1} {2}")
        return rng.choice(forms).format(left, operator, right)

    def command(self, depth: int) -> str:
        rng = self.random
        arguments = " ".join(self.word(max(depth - 1, 0)) for _ in range(rng.randint(0, 3)))
        kind = rng.randint(0, 19 if depth > 0 else 6)
        if kind <= 6:
            word = self.word(max(depth - 1, 0))
            return (
                f"echo {arguments}", f"echo {arguments}", f"printf '%s,' {arguments}", rng.choice(SMALL),
                f"{rng.choice('abc')}={word}", f"test {word} {rng.choice(('=', '!='))} {self.word(0)}x",
                f"[ -n {word} ] && echo {arguments}",
            )[kind]  # fmt: skip
        self._loops += 1
        k = f"k{self._loops}"
        one, two, three = (self.command(depth - 1) for _ in range(3))
        return (
            f"{one}; {two}",
            f"{one} && {two}",
            f"{one} || {two}",
            f"if {one}; then {two}; else {three}; fi",
            f"for i in 1 'p q' {arguments}; do {one}; echo \"$i\"; done",
            f"( {one}; {two} )",
            f"{{ {one}; {two}; }}",
            f"{one} | cat",
            f"{one} | tr ab xy | wc -c",
            f"{k}=3; while [ ${k} -gt 0 ]; do {one}; {k}=$(({k} - 1)); [ ${k} -gt 1 ] || break; done",
            f"case {self.word(0)} in a*) {one};; [b-x]|''|'a b') {two};; *) echo other;; esac",
            f"f{k}() {{ {one}; return 3; }}; f{k} {arguments}; echo $? $1",
            f"! {one}",
        )[kind - 7]
