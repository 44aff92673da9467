"""The faults' files: all of the paper's, none that heals by waiting or gives itself away, and mistakes said
in one line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from pytest_microremed.errors import UsageError
from pytest_microremed.faults.fault import known_faults, load_fault, read_fault
from pytest_microremed.systems.system import known_systems, load_system

TITLES = {
    "cpu-stress": "CPU Saturation",
    "memory-stress": "Memory Saturation",
    "disk-io": "IO Saturation",
    "network-loss": "Network Loss",
    "network-delay": "Network Delay",
    "pod-fail": "Pod Failure",
    "pod-config-error": "Configuration Error",
}
VALUES = {
    "name": "exp-0123456789",
    "injector_namespace": "apart",
    "namespace": "shop",
    "pod": "cart-0",
    "container": "server",
    "disk_container": "probe",
    "log_path": "/var/log/service",
    "memory_mib": "100",
}


def test_the_seven_faults_of_the_paper() -> None:
    assert {name: load_fault(name).title for name in known_faults()} == TITLES


@pytest.mark.parametrize("name", [name for name in TITLES if name != "pod-config-error"])
def test_a_custom_resource_hits_one_named_pod_from_apart_and_for_good(name: str) -> None:
    resource = load_fault(name).render(VALUES)
    assert resource["metadata"] == {"name": "exp-0123456789", "namespace": "apart"}
    assert resource["spec"]["mode"] == "one"
    assert resource["spec"]["selector"] == {"pods": {"shop": ["cart-0"]}}
    assert "duration" not in resource["spec"]


def test_the_parameters_are_the_papers() -> None:
    specs = {name: load_fault(name).render(VALUES)["spec"] for name in TITLES if name != "pod-config-error"}
    assert specs["cpu-stress"]["stressors"] == {"cpu": {"workers": 10, "load": 100}}
    assert specs["memory-stress"]["stressors"] == {"memory": {"workers": 1, "size": "100MiB"}}
    assert specs["cpu-stress"]["containerNames"] == specs["memory-stress"]["containerNames"] == ["server"]
    assert (specs["disk-io"]["action"], specs["disk-io"]["delay"], specs["disk-io"]["percent"]) == (
        "latency",
        "5s",
        100,
    )
    assert specs["disk-io"]["containerNames"] == ["probe"]
    assert specs["network-loss"]["loss"] == {"loss": "50", "correlation": "0"}
    assert specs["network-delay"]["delay"]["latency"] == "1000ms"
    assert specs["network-loss"]["direction"] == specs["network-delay"]["direction"] == "to"
    assert (specs["pod-fail"]["action"], specs["pod-fail"]["gracePeriod"]) == ("pod-failure", 0)


@pytest.mark.parametrize("name", TITLES)
def test_the_report_names_the_target_and_not_the_injector(name: str) -> None:
    for system in known_systems():
        for workload in load_system(system).workloads.values():
            report = load_fault(name).report_for(workload, system)
            assert workload.name in report
            assert not re.search(r"chaos|inject|experiment|stress-ng|netem|microremed", report, re.IGNORECASE)


GOOD = yaml.safe_load(
    """
title: Some Failure
family: chaos
check: cpu-usage
report: "{{ target }} is broken"
resource: |
  apiVersion: chaos-mesh.org/v1alpha1
  kind: StressChaos
  metadata: {name: "{{ name }}", namespace: "{{ injector_namespace }}"}
  spec: {mode: one}
"""
)


def write(folder: Path, **changes: object) -> Path:
    data = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    path = folder / "some-fault.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return path


def test_a_fault_of_ones_own(tmp_path: Path) -> None:
    assert read_fault(write(tmp_path)).render(VALUES)["kind"] == "StressChaos"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"title": None}, "title: missing"),
        ({"title": 7}, "title: must be a string"),
        ({"titel": "x"}, "titel: unknown key; known: check"),
        ({"family": "cosmic"}, "family: 'cosmic' is none of chaos, configuration"),
        ({"check": "luck"}, "check: 'luck' is none of cpu-usage"),
        ({"resource": None}, "resource: the family chaos has one"),
        (
            {"family": "configuration"},
            "resource: the family chaos has one, the family configuration has none",
        ),
        (
            {"variants": ["resource-limits"]},
            "variants: the family configuration has them, the family chaos has none",
        ),
        (
            {"family": "configuration", "resource": None, "variants": ["typo"], "check": "configuration"},
            "variants: unknown 'typo'; known: resource-limits, ",
        ),
        ({"report": "{{ taget }}"}, "report: 'taget' is undefined"),
        ({"report": "{% if %}"}, "report: "),
        ({"resource": "{{ nobody }}"}, "resource: 'nobody' is undefined"),
        ({"resource": "a: [1"}, "resource: "),
        ({"resource": "- a list"}, "resource: does not render to an object of chaos-mesh.org/v1alpha1"),
        (
            {"resource": GOOD["resource"].replace("StressChaos", "Schedule")},
            "resource: kind 'Schedule' is none of ",
        ),
        ({"resource": GOOD["resource"].replace("spec: {mode: one}", "")}, "resource: lacks "),
        ({"resource": GOOD["resource"].replace("mode: one", "duration: 60s")}, "resource: has a duration"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_mistake_is_one_line_with_file_and_key(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = write(tmp_path, **changes)
    with pytest.raises(UsageError) as caught:
        read_fault(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="unknown fault 'cpu'; known: cpu-stress, disk-io"):
        load_fault("cpu")
