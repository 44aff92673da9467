"""What the API server takes for an experiment: the schema of the definitions, and Chaos Mesh's admission webhooks."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.embedded.clients import Kubectl

SELECTOR = {"namespaces": ["default"], "labelSelectors": {"app": "none"}}
CPU = {"stressors": {"cpu": {"workers": 1, "load": 100}}}


def manifest(kind: str, spec: dict[str, Any], name: str = "test") -> str:
    head = {"apiVersion": "chaos-mesh.org/v1alpha1", "kind": kind, "metadata": {"name": name}}
    return yaml.safe_dump({**head, "spec": {"mode": "one", "selector": SELECTOR, **spec}})


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("StressChaos", {}, "missing stressors"),
        ("StressChaos", {"stressors": {"cpu": {"workers": 0}}}, "workers should always be positive"),
        ("StressChaos", {"stressors": {"cpu": {"load": 3}}}, "spec.stressors.cpu.workers: Required value"),
        ("StressChaos", {"stressors": {"cpu": {"workers": 1, "load": 101}}}, "should be less than or equal to 100"),
        ("StressChaos", {"stressors": {"memory": {"workers": 1, "size": "much"}}}, "incorrect bytes format"),
        ("StressChaos", {**CPU, "mode": "some"}, 'Unsupported value: "some"'),
        ("StressChaos", {**CPU, "duration": "soon"}, 'parse duration field error: time: invalid duration "soon"'),
        ("NetworkChaos", {"action": "slow"}, 'Unsupported value: "slow"'),
        ("NetworkChaos", {"action": "delay", "delay": {"latency": "soon"}}, "should match"),
        ("NetworkChaos", {"action": "loss", "loss": {"loss": "5"}, "direction": "from"}, "when targets is empty"),
        ("IOChaos", {"action": "latency", "delay": "1s"}, "spec.volumePath: Required value"),
        ("IOChaos", {"action": "fault", "volumePath": "/data"}, "action fault: errno 0 is not supported"),
        ("PodChaos", {"action": "container-kill"}, "the name of container is required on container-kill action"),
    ],
)
def test_invalid_experiments_are_refused(kubectl: Kubectl, kind: str, spec: dict[str, Any], message: str) -> None:
    assert message in kubectl.refused("create", "-f", "-", stdin=manifest(kind, spec))


def test_defaults_are_filled_in(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifest("NetworkChaos", {"action": "loss", "loss": {"loss": "5"}}))
    kubectl("create", "-f", "-", stdin=manifest("IOChaos", {"action": "latency", "delay": "1s", "volumePath": "/data"}))
    assert kubectl("get", "networkchaos", "test", "-o", "jsonpath={.spec.direction}") == "to"
    assert kubectl("get", "iochaos", "test", "-o", "jsonpath={.spec.percent}") == "100"


def test_the_spec_cannot_be_changed_but_annotations_can(kubectl: Kubectl) -> None:
    kubectl("create", "-f", "-", stdin=manifest("StressChaos", CPU))
    patch = '{"spec":{"stressors":{"cpu":{"load":1}}}}'
    assert kubectl.refused("patch", "stresschaos", "test", "--type=merge", "-p", patch) == (
        'Error from server (Forbidden): admission webhook "vstresschaos.kb.io" denied the request: '
        "Cannot update chaos spec"
    )
    kubectl("annotate", "stresschaos", "test", "experiment.chaos-mesh.org/pause=true")


def test_the_table_shows_the_columns_of_the_definition(kubectl: Kubectl) -> None:
    spec = {"action": "loss", "loss": {"loss": "5"}, "duration": "10m"}
    kubectl("create", "-f", "-", stdin=manifest("NetworkChaos", spec))
    lines = kubectl("get", "networkchaos").splitlines()
    assert [line.split() for line in lines] == [["NAME", "ACTION", "DURATION"], ["test", "loss", "10m"]]
