"""The plugin in other people's runs: silent, and out of the way."""

from __future__ import annotations

import pytest


def test_nothing_of_ours_shows(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_theirs(): pass")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=1)
    assert "microremed:" not in result.stdout.str()
    assert "= microremed =" not in result.stdout.str()


def test_a_case_parameter_of_theirs_is_theirs(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.parametrize("case", ["hard", "easy"])
        def test_theirs(case):
            assert isinstance(case, str)
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_their_order_is_kept(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        def test_b(): pass
        def test_a(): pass
        """
    )
    result = pytester.runpytest_subprocess("-v")
    result.stdout.fnmatch_lines(["*test_b PASSED*", "*test_a PASSED*"])


def test_with_xdist_and_without(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_theirs(): pass")
    pytester.runpytest_subprocess("-n", "1").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("-p", "no:xdist").assert_outcomes(passed=1)
