"""The shell's language beyond what the comparison with dash covers: errors, here-documents, jobs, options, traps."""

from __future__ import annotations

import pytest

from tests.embedded.nodes import Output, World, in_container, run


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("echo 'a", "unterminated quoted string"),
        ("if true; then echo a", 'unexpected end of file (expecting "fi")'),
        ("echo a; )", '")" unexpected'),
        ("for 1x in a; do :; done", "Bad for loop variable"),
        ("echo ${x", "Bad substitution"),
        ("a | | b", '"|" unexpected'),
        ("(" * 200 + "true" + ")" * 200, "nested too deep"),
        ("echo $(" * 200 + ")" * 200, "nested too deep"),
    ],
)
def test_a_syntax_error_says_what_is_wrong_and_ends_with_2(script: str, message: str) -> None:
    assert in_container(script) == Output("", f"sh: syntax error: {message}\n", 2)


def test_lines_before_a_syntax_error_are_run() -> None:
    assert in_container("echo before\nfi\necho after").out == "before\n"


def test_an_unknown_command_is_not_found() -> None:
    assert in_container("frobnicate --now; echo $?") == Output("127\n", "sh: frobnicate: not found\n", 0)


def test_here_documents_expand_unless_their_delimiter_is_quoted() -> None:
    script = "x=1; cat <<A; cat <<'B'; cat <<-C\n$x $((x+1)) `echo y`\nA\n$x\nB\n\tindented\n\tC\n"
    assert in_container(script).out == "1 2 y\n$x\nindented\n"


def test_standard_input_reaches_the_script() -> None:
    async def session() -> str:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        result = await world.execute(container, ["sh", "-c", "read a b; echo $b; wc -l"], b"1 2 3\nx\ny\n")
        return result.stdout.decode()

    assert run(session()) == "2 3\n2\n"


def test_a_script_on_standard_input_is_run() -> None:
    async def session() -> tuple[bytes, int]:
        world = World()
        container = world.add_pod("web-1").containers["web"]
        result = await world.execute(container, ["sh"], b"echo one\nexit 4\n")
        return result.stdout, result.exit_code

    assert run(session()) == (b"one\n", 4)


def test_errexit_ends_the_script_at_the_first_failure() -> None:
    assert in_container("set -e; false || echo caught; if false; then :; fi; ls /none; echo not here").out == "caught\n"


def test_pipefail_gives_the_failure_of_any_stage() -> None:
    assert in_container("false | true; echo $?; set -o pipefail; false | true; echo $?").out == "0\n1\n"


def test_jobs_run_beside_the_shell_and_can_be_waited_for() -> None:
    script = "(sleep 1; echo late) & echo $!; wait $!; echo done $?; sh -c 'exit 3' & wait $!; echo $?"
    assert in_container(script).out.splitlines()[1:] == ["late", "done 0", "3"]


def test_a_reader_that_leaves_ends_the_writer() -> None:
    assert in_container("yes | head -n 2; cat /dev/zero | head -c 3 | wc -c").out == "y\ny\n3\n"


def test_exec_redirects_for_good() -> None:
    assert in_container("exec > /tmp/o 2>&1; echo a; nope", "cat /tmp/o").out == "a\nsh: nope: not found\n"


def test_an_exit_trap_runs_at_the_end() -> None:
    assert in_container("trap 'echo bye $?' EXIT; echo hi; exit 5") == Output("hi\nbye 5\n", "", 5)


def test_functions_have_their_own_arguments() -> None:
    assert (
        in_container('f() { echo "$#:$1"; }; set -- x y; f "a b"; echo $2; g() { g; }; g; echo no').out == "1:a b\ny\n"
    )


def test_unset_variables_are_an_error_with_nounset() -> None:
    assert in_container("set -u; echo ${x:-d}; echo $x; echo no") == Output("d\n", "sh: x: parameter not set\n", 2)


@pytest.mark.parametrize(
    ("expression", "value"),
    [("1 + 2 * 3", "7"), ("(1 + 2) * 3", "9"), ("-7 / 2", "-3"), ("-7 % 2", "-1"), ("1 ? 2 : 1 / 0", "2"),
     ("0x10 + 010", "24"), ("x = 5", "5"), ("!3 || 0", "0"), ("1 << 3 | 1", "9")],
)  # fmt: skip
def test_arithmetic(expression: str, value: str) -> None:
    assert in_container(f"echo $(({expression}))").out == f"{value}\n"


def test_division_by_zero_is_an_error() -> None:
    output = in_container("echo $((1 / 0))")
    assert output.code == 2
    assert "division by zero" in output.err


def test_bash_says_things_in_its_own_way() -> None:
    output = in_container("bash -c 'nope'", image="debian:12")
    assert output == Output("", "bash: line 1: nope: command not found\n", 127)


@pytest.mark.parametrize(
    ("separators", "value", "fields"),
    [
        (":", "a::b", "a||b|"),
        (":", ":a:", "|a|"),
        (": ", " a : b ", "a|b|"),
        ("", "a b", "a b|"),
        (" ", "  a  b ", "a|b|"),
    ],
)
def test_field_splitting(separators: str, value: str, fields: str) -> None:
    assert in_container(f"IFS='{separators}'; x='{value}'; printf '%s|' $x").out == fields
