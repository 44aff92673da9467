"""A malformed system is answered with one line that says where and what."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_microremed.errors import UsageError
from pytest_microremed.systems.render import render
from pytest_microremed.systems.system import read_system

GOOD = """
namespace: shop
workloads:
  web:
    image: nginx:1.27
    port: 80
    services: [{name: web, port: 80}]
    requests: {cpu: 10m, memory: 16Mi}
    limits: {cpu: 100m, memory: 64Mi}
    readiness: {check: tcp}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "shop" / "system.yaml"
    path.parent.mkdir()
    path.write_text(text)
    return path


def test_a_system_of_ones_own_is_read_and_rendered(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    (path.parent / "thing.yaml.j2").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ system.name }}}\n")
    system = read_system(path)
    assert system.name == "shop"
    assert [obj["metadata"]["name"] for obj in render(system, "shop")] == ["shop"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "namespace: shop",
            "namespce: shop",
            "namespce: unknown key; known: defaults, namespace, shared, workloads",
        ),
        ("    image: nginx:1.27\n", "", "workloads.web.image: missing"),
        ("cpu: 10m, ", "", "workloads.web.requests.cpu: missing"),
        ("port: 80\n", "port: '80'\n", "workloads.web.port: must be an integer, not '80'"),
        (
            "check: tcp",
            "check: ping",
            "workloads.web.readiness.check: 'ping' is none of http, grpc, tcp, exec",
        ),
        ("check: tcp", "check: tcp, delay: 3", "workloads.web.readiness.delay: unknown key"),
        ("  web:\n", "  web:\n    name: other\n", "workloads.web.name: the key above is the name"),
        ("  web:\n", "  web:\n    calls: [db]\n", "workloads.web.calls: no workload db; known: web"),
        (
            "  web:\n",
            "  web:\n    dependencies: [{variable: DB, service: db, port: 1}]\n",
            "workloads.web.dependencies: no workload has a service db:1",
        ),
        ("workloads:\n", "workloads:\n  db:\n", "workloads.db: must be a mapping, not None"),
    ],
)
def test_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new, 1))
    with pytest.raises(UsageError) as caught:
        read_system(path)
    assert str(caught.value).startswith(f"{path}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{% for %}", r"thing\.yaml\.j2: line 1: "),
        ("{{ system.nothing }}", r"thing\.yaml\.j2 of system shop: .*nothing"),
        ("a: [", r"thing\.yaml\.j2 of system shop renders to what is no YAML"),
    ],
)
def test_a_bad_template_is_named(tmp_path: Path, template: str, message: str) -> None:
    path = written(tmp_path, GOOD)
    (path.parent / "thing.yaml.j2").write_text(template)
    with pytest.raises(UsageError, match=message) as caught:
        render(read_system(path), "shop")
    assert "\n" not in str(caught.value)
