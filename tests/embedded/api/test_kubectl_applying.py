"""What `kubectl apply`, `diff`, `patch`, `set`, `edit` and `explain` make of the schemas and rules."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.embedded.api.objects import deployment
from tests.embedded.clients import Kubectl

Object = dict[str, Any]


def manifest(replicas: int = 2, image: str = "nginx:1.25", **container: Any) -> str:
    obj = deployment("web", replicas)
    obj["spec"]["template"]["spec"]["containers"] = [{"name": "main", "image": image, **container}]
    return json.dumps(obj)


def container(kubectl: Kubectl) -> Any:
    return kubectl.json("get", "deployment", "web")["spec"]["template"]["spec"]["containers"][0]


@pytest.fixture
def web(kubectl: Kubectl) -> Kubectl:
    kubectl("apply", "-f", "-", stdin=manifest())
    return kubectl


def test_apply_changes_what_differs(web: Kubectl) -> None:
    assert "unchanged" in web("apply", "-f", "-", stdin=manifest())
    assert "configured" in web("apply", "-f", "-", stdin=manifest(3, env=[{"name": "A", "value": "1"}]))
    assert container(web)["env"] == [{"name": "A", "value": "1"}]
    web("apply", "-f", "-", stdin=manifest(3))
    assert "env" not in container(web)


def test_apply_refuses_unknown_fields(kubectl: Kubectl) -> None:
    refused = kubectl.refused("apply", "-f", "-", stdin=manifest(imagee="x"))
    assert refused.endswith(
        'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field'
        ' "spec.template.spec.containers[0].imagee"'
    )


def test_diff_shows_the_change(web: Kubectl) -> None:
    assert web.run("diff", "-f", "-", stdin=manifest()).returncode == 0
    done = web.run("diff", "-f", "-", stdin=manifest(5))
    assert done.returncode == 1
    assert "-  replicas: 2\n+  replicas: 5" in done.stdout


def test_what_breaks_rules_is_listed(web: Kubectl) -> None:
    patch = {"spec": {"replicas": -1, "selector": {"matchLabels": {"app": "other"}}}}
    refused = web.refused("patch", "deployment", "web", "-p", json.dumps(patch))
    assert refused.splitlines() == [
        'The Deployment "web" is invalid: ',
        "* spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        '* spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
        '* spec.selector: Invalid value: {"matchLabels":{"app":"other"}}: field is immutable',
    ]


def test_a_patch_of_the_wrong_type_is_blamed(web: Kubectl) -> None:
    refused = web.refused("patch", "deployment", "web", "-p", '{"spec":{"replicas":"many"}}')
    assert refused == (
        'The request is invalid: patch: Invalid value: "map[spec:map[replicas:many]]": unrecognized type: int32'
    )


def test_unknown_fields_of_a_patch_are_warned_of(web: Kubectl) -> None:
    done = web.run("patch", "deployment", "web", "-p", '{"spec":{"replica":3}}')
    assert (done.returncode, done.stderr.strip()) == (0, 'Warning: unknown field "spec.replica"')


def test_set_changes_image_environment_and_resources(web: Kubectl) -> None:
    web("set", "image", "deployment/web", "main=nginx:1.26")
    web("set", "env", "deployment/web", "A=1", "B=2")
    web("set", "env", "deployment/web", "A-")
    web("set", "resources", "deployment/web", "--limits=cpu=1500m,memory=2048Mi")
    changed = container(web)
    assert changed["image"] == "nginx:1.26"
    assert changed["env"] == [{"name": "B", "value": "2"}]
    assert changed["resources"] == {"limits": {"cpu": "1500m", "memory": "2Gi"}}


def test_server_side_apply_tells_conflicts_as_a_real_server_does(web: Kubectl) -> None:
    web("scale", "deployment", "web", "--replicas=4")
    refused = web.refused("apply", "--server-side", "-f", "-", stdin=manifest(3))
    assert refused.startswith(
        'error: Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1:'
        " .spec.replicas\nPlease review the fields above"
    )
    forced = ("apply", "--server-side", "--force-conflicts", "-f", "-")
    assert "serverside-applied" in web(*forced, stdin=manifest(3))
    entries = web.json("get", "deployment", "web", "--show-managed-fields")["metadata"]["managedFields"]
    appliers = [entry["manager"] for entry in entries if entry["operation"] == "Apply"]
    assert sorted(appliers) == ["kubectl", "kubectl-last-applied"]


def test_explain_knows_types_and_descriptions(kubectl: Kubectl) -> None:
    shown = kubectl("explain", "deployment.spec.template.spec.containers.ports")
    assert "FIELD: ports <[]ContainerPort>" in shown
    assert "containerPort\t<integer> -required-" in shown
    assert "List of ports to expose from the container." in " ".join(shown.split())


def test_a_service_loses_what_only_its_former_type_had(kubectl: Kubectl) -> None:
    kubectl("create", "service", "loadbalancer", "web", "--tcp=80")
    kubectl("patch", "service", "web", "-p", '{"spec":{"type":"ClusterIP"}}')
    spec = kubectl.json("get", "service", "web")["spec"]
    assert {"externalTrafficPolicy", "allocateLoadBalancerNodePorts"}.isdisjoint(spec)
    assert "nodePort" not in spec["ports"][0]
