"""The manifests are what an API server takes, always the same, and tell nothing of faults or tests."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from typing import Any

import pytest

from pytest_microremed.cluster.kinds import Obj
from pytest_microremed.systems.render import namespace_manifest, render
from pytest_microremed.systems.system import LOG_PATH, System, Workload, known_systems, load_system

ORACLE = "1.31"
HINTS = re.compile(r"fault|chaos|inject|stress|microremed|benchmark|remediat|victim|test", re.IGNORECASE)


@pytest.fixture(params=known_systems())
def system(request: pytest.FixtureRequest) -> System:
    return load_system(request.param)


def pods_of(system: System) -> list[tuple[Workload, Obj]]:
    """Each workload with its pod template."""
    return [
        (system.workload(obj["metadata"]["name"]), obj["spec"]["template"])
        for obj in render(system, "somewhere")
        if obj["kind"] in ("Deployment", "StatefulSet")
    ]


def test_every_manifest_is_valid(system: System, monkeypatch: pytest.MonkeyPatch) -> None:
    from kubernetes_validate import utils

    monkeypatch.setattr(utils, "schema_contents", functools.cache(utils.schema_contents))
    for obj in [namespace_manifest(system, "somewhere"), *render(system, "somewhere")]:
        utils.validate(obj, ORACLE, strict=True)


def test_rendering_is_deterministic(system: System) -> None:
    assert json.dumps(render(system, "a")) == json.dumps(render(system, "a"))


def test_the_namespace_is_the_only_difference(system: System) -> None:
    def without_namespace(obj: Obj) -> Obj:
        meta = obj["metadata"]
        return {**obj, "metadata": {key: value for key, value in meta.items() if key != "namespace"}}

    here, there = render(system, "here"), render(system, "there")
    assert {obj["metadata"]["namespace"] for obj in here} == {"here"}
    assert [without_namespace(obj) for obj in here] == [without_namespace(obj) for obj in there]


def test_objects_are_unique(system: System) -> None:
    names = Counter((obj["kind"], obj["metadata"]["name"]) for obj in render(system, "somewhere"))
    assert set(names.values()) == {1}


def test_train_ticket_has_its_configuration() -> None:
    objects = {(o["kind"], o["metadata"]["name"]): o for o in render(load_system("train-ticket"), "somewhere")}
    assert Counter(kind for kind, _ in objects) == {
        "Deployment": 47,
        "StatefulSet": 3,
        "Service": 54,
        "Secret": 27,
        "ConfigMap": 2,
    }
    assert objects["Secret", "ts-order-other-mysql"]["stringData"] == {
        "ORDER_OTHER_MYSQL_HOST": "tsdb-mysql-leader",
        "ORDER_OTHER_MYSQL_PORT": "3306",
        "ORDER_OTHER_MYSQL_DATABASE": "ts",
        "ORDER_OTHER_MYSQL_USER": "ts",
        "ORDER_OTHER_MYSQL_PASSWORD": "ts-demo",
    }
    assert objects["ConfigMap", "nacos"]["data"] == {"NACOS_ADDRS": "nacos:8848"}
    leader = objects["Service", "nacosdb-mysql-leader"]["spec"]["selector"]
    assert leader["statefulset.kubernetes.io/pod-name"] == "nacosdb-mysql-0"


def test_main_container_comes_first_and_has_requests_limits_and_probe(system: System) -> None:
    for workload, pod in pods_of(system):
        main = pod["spec"]["containers"][0]
        assert main["name"] == workload.container
        assert set(main["resources"]["requests"]) == set(main["resources"]["limits"]) == {"cpu", "memory"}
        assert main["readinessProbe"]["initialDelaySeconds"] == workload.readiness.initial_delay_s


def test_the_probe_sidecar_lives_for_ever_and_shares_the_log_volume(system: System) -> None:
    for _, pod in pods_of(system):
        main, probe = pod["spec"]["containers"]
        assert probe["name"] == "probe"
        assert probe["image"].startswith("busybox:")
        assert "while :" in probe["command"][2]
        assert "trap 'exit 0' TERM" in probe["command"][2]
        assert probe["securityContext"]["capabilities"]["add"] == ["NET_RAW"]
        for container in (main, probe):
            assert {"name": "logs", "mountPath": LOG_PATH} in container["volumeMounts"]
        assert {"name": "logs", "emptyDir": {}} in pod["spec"]["volumes"]


def test_labels_select_the_pods(system: System) -> None:
    for workload, pod in pods_of(system):
        assert workload.labels.items() <= pod["metadata"]["labels"].items()
    for obj in render(system, "somewhere"):
        assert obj["metadata"]["labels"]["app.kubernetes.io/part-of"] == system.name
        assert obj["metadata"]["labels"]["app.kubernetes.io/managed-by"] == "pytest-microremed"


def test_nothing_hints_at_faults_or_tests(system: System) -> None:
    def strings(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [s for key, item in value.items() for s in [key, *strings(item)]]
        if isinstance(value, list):
            return [s for item in value for s in strings(item)]
        return [str(value)]

    for obj in render(system, "somewhere"):
        found = [s for s in strings(obj) if HINTS.search(s) and s != "pytest-microremed"]
        assert not found, f"{obj['kind']}/{obj['metadata']['name']}: {found}"
