"""What the user got wrong is one line with the place and the way out, exit 4, and nothing is deployed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Folder = Callable[..., pytest.Pytester]
CPU = "- {system: simple-micro, fault: cpu-stress, target: hello-service}"


def refused(result: pytest.RunResult, *patterns: str) -> None:
    result.stderr.fnmatch_lines([f"ERROR: {patterns[0]}", *patterns[1:]])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Traceback" not in result.stderr.str() + result.stdout.str()
    assert len([line for line in result.stderr.lines if line.strip()]) == 1


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_without_a_remediator_the_known_ones_are_named(benchmark_folder: Folder, workers: tuple[str, ...]) -> None:
    result = benchmark_folder().runpytest(*workers)
    refused(result, "no remediator: pass --remediator with one of *noop*oracle*")


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_an_unknown_remediator(benchmark_folder: Folder, workers: tuple[str, ...]) -> None:
    result = benchmark_folder().runpytest("--remediator=orakel", *workers)
    refused(result, "*orakel*noop*oracle*")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "- {system: shop, fault: cpu-stress, target: web}",
            "*easy.yaml*shop*online-boutique*simple-micro*train-ticket*",
        ),
        ("- {system: simple-micro, fault: fire, target: hello-service}", "*easy.yaml*fire*cpu-stress*"),
        (
            "- {system: simple-micro, fault: cpu-stress, target: web}",
            "*easy.yaml*web*hello-service*time-service*",
        ),
        (
            "- {system: simple-micro, fault: pod-config-error, target: hello-service, variant: mood}",
            "*easy.yaml*mood*resource-limits*",
        ),
        ("- {system: simple-micro, fault: cpu-stress}", "*easy.yaml: ?1?.target: missing"),
        (
            "- {system: simple-micro, fault: cpu-stress, target: x, y: 1}",
            "*easy.yaml: ?1?.y: unknown key; known: *",
        ),
        ("- {system: [", "*easy.yaml*is no YAML*"),
    ],
    ids=["system", "fault", "target", "variant", "missing", "unknown-key", "yaml"],
)
def test_a_malformed_case(benchmark_folder: Folder, line: str, message: str) -> None:
    refused(benchmark_folder(CPU, line).runpytest("--remediator=noop"), message.replace("?1?", "?2?"))


def test_an_unknown_level(benchmark_folder: Folder) -> None:
    folder = benchmark_folder()
    folder.path.joinpath("easy.yaml").rename(folder.path / "brutal.yaml")
    refused(
        folder.runpytest("--remediator=noop"),
        "*brutal.yaml: unknown level*known: easy, medium, hard, full",
    )


def test_a_model_for_a_remediator_without_one(benchmark_folder: Folder) -> None:
    refused(
        benchmark_folder().runpytest("--remediator=noop", "--model=glm-4.5"),
        "--model: *uses no model*",
    )


def test_a_results_file_that_cannot_be_written(benchmark_folder: Folder) -> None:
    result = benchmark_folder().runpytest("--remediator=noop", "--microremed-results=/proc/none/x.jsonl")
    refused(result, "--microremed-results: cannot write /proc/none/x.jsonl: *")


def test_a_malformed_value_names_its_place(benchmark_folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MICROREMED_T_MAX", "many")
    refused(benchmark_folder().runpytest("--remediator=noop"), "MICROREMED_T_MAX: 'many' is not valid*")


def test_a_missing_playbook(benchmark_folder: Folder) -> None:
    refused(benchmark_folder().runpytest("--remediator=./nowhere.yml"), "*nowhere.yml*")


@pytest.mark.parametrize(
    ("args", "message"),
    [(("-n", "1", "--dist=each"), "--dist=each: *"), (("--timeout-method=thread",), "--timeout-method=thread ends *")],
)
def test_options_of_others_that_would_falsify_verdicts(
    benchmark_folder: Folder, args: tuple[str, ...], message: str
) -> None:
    refused(benchmark_folder().runpytest_subprocess("--remediator=noop", *args), message)


@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["alone", "xdist"])
def test_a_folder_of_playbooks_without_one_for_a_case(benchmark_folder: Folder, workers: tuple[str, ...]) -> None:
    folder = benchmark_folder()
    folder.mkdir("books").joinpath("disk-io.yml").write_text("- hosts: all")
    result = folder.runpytest_subprocess("--remediator=./books", *workers)
    refused(result, "*no playbook for easy-001-simple-micro-cpu-stress-hello-service: none of *cpu-stress.yml*")
