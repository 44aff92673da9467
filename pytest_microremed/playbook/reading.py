"""Which kubectl commands only read: the rule for a remediator's probes.

* A command is `kubectl`, at most `-n NAMESPACE`, then a verb of `VERBS`: where other options precede it,
  kubectl may take another word for the verb than one would think.
* Every option is one of `_SWITCHES` or `_VALUED`. Missing are those that choose another server or identity,
  read or write files of the host, or wait for ever.
* `exec` needs `--`, and behind it a program that reads: one of `programs.READERS`, or `sh -c` with a pipeline
  of such.

The words are taken as a POSIX shell would split them, but there is no shell: `|`, `;`, `&`, `<` and `>` are
refused. The probe's credentials are the second line: they allow nothing but to read and to exec.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from pytest_microremed.playbook.programs import check_program, names

VERBS = names(
    """
    api-resources api-versions auth cluster-info describe events exec explain get logs rollout top version
    """
)
_SUBCOMMANDS = {"auth": ("can-i", "whoami"), "rollout": ("history", "status")}
"""Verbs of which only some subcommands read. These must come right behind the verb, for the same reason."""

_SWITCHES = names(
    """
    -A --all-namespaces --show-labels --show-kind --show-managed-fields --show-events --no-headers
    --ignore-not-found --server-print --allow-missing-template-keys -p --previous --all-containers --all-pods
    --timestamps --prefix --ignore-errors --containers --sum --show-capacity --show-swap --recursive
    --namespaced --cached --client --list -q --quiet --no-warnings -i --stdin -t --tty
    """
)
"""Options without a value, or with one after `=`."""
_VALUED = names(
    """
    -n --namespace -l --selector --field-selector -o --output --sort-by -L --label-columns --chunk-size
    --template --subresource --raw --request-timeout --tail --since --since-time -c --container --limit-bytes
    --max-log-requests --pod-running-timeout --api-version --verbs --api-group --categories --for --types
    --revision --timeout
    """
)
"""Options with a value. `--raw` is a GET with the verb `get`, the only one here that has it."""
_FILE_OUTPUT = re.compile(r"(?:go-template|jsonpath|custom-columns|template)-?file", re.IGNORECASE)
_OPERATORS = ";|&<>"
_FOLLOWING = ("-w", "--watch", "--watch-only", "-f", "--follow")


class RefusedError(Exception):
    """A command that does more than to read; the text says what is in the way."""


def split(command: str) -> list[str]:
    """The words of a command that only reads, `kubectl` first. Raises RefusedError."""
    words = _words(command)
    if not words:
        raise RefusedError("the command is empty")
    if words[0] != "kubectl":
        raise RefusedError(f"{words[0]}: only kubectl can be used, with one of {', '.join(sorted(VERBS))}")
    if any(set(word) <= set(_OPERATORS) for word in words):
        raise RefusedError("there is no shell: pipes and redirections are refused, each command is one kubectl command")
    start = 1
    if words[1:2] in (["-n"], ["--namespace"]):
        start = 3
    elif words[1:2] and words[1].startswith("--namespace="):
        start = 2
    if not words[start:] or words[start] not in VERBS:
        verb = words[start] if words[start:] else "no verb"
        raise RefusedError(f"kubectl {verb}: the verb must come first, and be one of {', '.join(sorted(VERBS))}")
    _check_arguments(words[start], words[start + 1 :])
    return words


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars=_OPERATORS)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError as error:
        raise RefusedError(f"the command cannot be split into words: {error}") from None


def _check_arguments(verb: str, words: Sequence[str]) -> None:
    subcommands = _SUBCOMMANDS.get(verb)
    if subcommands and (not words or words[0] not in subcommands):
        raise RefusedError(f"kubectl {verb}: only {verb} {' and '.join(subcommands)} are allowed")
    objects: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            if verb != "exec":
                raise RefusedError(f"kubectl {verb}: -- is for exec")
            _check_exec(objects, rest)
            return
        if word.startswith("-") and word != "-":
            _check_option(word, rest)
        else:
            objects.append(word)
    if verb == "exec":
        raise RefusedError("kubectl exec: write -- before the program")
    if verb == "cluster-info" and objects:
        raise RefusedError("kubectl cluster-info: dump writes files and is refused")


def _check_option(word: str, rest: list[str]) -> None:
    """Raise RefusedError, or take the option's value out of `rest` (syntax: github.com/spf13/pflag)."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        if name == "--watch" and value == "false":
            return
        _check_name(name)
        if name in _VALUED:
            _check_value(name, value if equals else _next(name, rest))
        return
    for place, letter in enumerate(word[1:], 1):
        name = f"-{letter}"
        _check_name(name)
        if name in _VALUED:
            value = word[place + 1 :].removeprefix("=") or _next(name, rest)
            _check_value(name, value)
            return
        if word[place + 1 : place + 2] == "=":
            return


def _check_name(name: str) -> None:
    if name in _FOLLOWING:
        raise RefusedError(f"option {name}: following, watching and files are refused, a probe is one look")
    if name not in _SWITCHES and name not in _VALUED:
        raise RefusedError(f"option {name} is refused in a probe")


def _next(name: str, rest: list[str]) -> str:
    if not rest:
        raise RefusedError(f"option {name} has no value")
    return rest.pop(0)


def _check_value(name: str, value: str) -> None:
    if name in ("-o", "--output") and _FILE_OUTPUT.match(value):
        raise RefusedError(f"option {name} {value}: reading files of the host is refused")


def _check_exec(objects: Sequence[str], program: Sequence[str]) -> None:
    if len(objects) != 1:
        raise RefusedError("kubectl exec: name one pod, or one TYPE/NAME")
    reason = check_program(program)
    if reason:
        raise RefusedError(f"kubectl exec: {reason}")
