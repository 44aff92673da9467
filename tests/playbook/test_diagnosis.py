"""The reason of a run is read from Ansible's output, whatever else a playbook prints."""

from __future__ import annotations

from pytest_microremed.playbook.diagnosis import diagnose

RECAP = "PLAY RECAP *********\nlocalhost           : ok={ok} changed={changed} unreachable=0 failed={failed}\n"


def test_the_sums_of_a_run_that_ended_well() -> None:
    verdict = diagnose("PLAY [all] ***\n\n" + RECAP.format(ok=3, changed=1, failed=0), 0)
    assert verdict.ran
    assert verdict.reason == "the playbook ended well (ok 3, changed 1)"


def test_a_failure_that_was_ignored_or_rescued_is_not_the_reason() -> None:
    output = """\
TASK [Ignored] *********
fatal: [localhost]: FAILED! => {"msg": "not this one"}
...ignoring

TASK [shop : Loop] *****
failed: [localhost] (item=a) => {"msg": "first"}
failed: [localhost] (item={'x': 1}) => {"msg": "non-zero return code", "rc": 1, "stderr": "second\\nmore"}
"""
    verdict = diagnose(output + RECAP.format(ok=0, changed=0, failed=1), 2)
    assert verdict.reason == "exit code 2: task [shop : Loop] failed: non-zero return code: second"


def test_one_play_of_two_that_matched_no_host_is_mentioned() -> None:
    output = "[WARNING]: Could not match supplied host pattern, ignoring: web\n\n"
    output += "PLAY [web] ****\nskipping: no hosts matched\n\n"
    assert not diagnose(output + "PLAY RECAP ****\n\n", 0).ran
    both = diagnose(output + "PLAY [localhost] ***\n\n" + RECAP.format(ok=1, changed=0, failed=0), 0)
    assert both.ran
    assert both.reason == "the playbook ended well (ok 1), but a play matched no host (hosts: web)"


def test_a_printed_recap_does_not_count() -> None:
    output = 'PLAY [web] ***\nskipping: no hosts matched\n\nPLAY RECAP ***\n\nok: [x] => {"msg": " : ok=1 "}\n'
    assert not diagnose(output, 0).ran


def test_a_result_that_is_no_json_is_quoted_and_shortened() -> None:
    verdict = diagnose('TASK [a] **\nfatal: [localhost]: FAILED! => {"msg": "' + "x" * 9999, 2)
    assert verdict.reason.startswith('exit code 2: task [a] failed: {"msg": "xxx')
    assert len(verdict.reason) == 300


def test_no_log_hides_the_message() -> None:
    verdict = diagnose('TASK [a] **\nfatal: [localhost]: FAILED! => {"censored": "hidden by no_log"}\n', 2)
    assert verdict.reason == "exit code 2: task [a] failed: hidden by no_log"


def test_without_any_output() -> None:
    assert diagnose("", 250).reason == "exit code 250: no reason in the output"
    assert diagnose("", -9).reason == "ansible-playbook was ended by signal 9"
    assert diagnose("", 0).ran
