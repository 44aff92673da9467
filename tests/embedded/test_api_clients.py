"""Real clients on the whole cluster: every kind of kubectl command that repairs use, and the typed Python client."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.embedded.clients import Kubectl

LABELS = {"app": "web"}
WEB: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web", "labels": LABELS},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": LABELS},
        "template": {
            "metadata": {"labels": LABELS},
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "image": "nginx:1.25",
                        "ports": [{"containerPort": 80}],
                        "resources": {"limits": {"cpu": "100m", "memory": "128Mi"}},
                    },
                    {"name": "side", "image": "busybox", "command": ["sleep", "100000"]},
                ]
            },
        },
    },
}


@pytest.fixture
def web(kubectl: Kubectl) -> Kubectl:
    """A namespace with the Deployment `web`, rolled out, and its Service."""
    kubectl.apply(WEB)
    kubectl("expose", "deployment", "web", "--port=80")
    kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    return kubectl


def _image(kubectl: Kubectl) -> str:
    path = "jsonpath={.spec.template.spec.containers[0].image}"
    return kubectl("get", "deployment", "web", "-o", path)


def test_a_manifest_is_applied_compared_and_applied_again(web: Kubectl, tmp_path: Path) -> None:
    manifest = tmp_path / "web.json"
    manifest.write_text(json.dumps(WEB))
    assert "unchanged" in web("apply", "-f", str(manifest))
    assert web("diff", "-f", str(manifest)) == ""
    manifest.write_text(json.dumps(WEB).replace("nginx:1.25", "nginx:1.26"))
    compared = web.run("diff", "-f", str(manifest))
    assert compared.returncode == 1
    assert "nginx:1.26" in compared.stdout
    assert "configured" in web("apply", "-f", str(manifest))
    assert "serverside-applied" in web("apply", "--server-side", "--force-conflicts", "-f", str(manifest))
    assert "replaced" in web("replace", "-f", str(manifest))
    assert _image(web) == "nginx:1.26"


def test_what_was_read_can_be_changed_and_applied(web: Kubectl) -> None:
    one = web("get", "deployment", "web", "-o", "yaml").replace("replicas: 2", "replicas: 1")
    assert "configured" in web("apply", "-f", "-", stdin=one)
    several = web("get", "deployments", "-o", "yaml").replace("replicas: 1", "replicas: 2")
    assert "configured" in web("apply", "-f", "-", stdin=several)


@pytest.mark.parametrize(
    ("command", "path", "expected"),
    [
        (["set", "image", "deployment/web", "web=nginx:1.26"], ".spec.template.spec.containers[0].image", "nginx:1.26"),
        (
            ["set", "resources", "deployment/web", "-c", "web", "--limits=cpu=200m,memory=256Mi"],
            ".spec.template.spec.containers[0].resources.limits.memory",
            "256Mi",
        ),
        (["set", "env", "deployment/web", "-c", "web", "A=1"], ".spec.template.spec.containers[0].env[0].value", "1"),
        (["scale", "deployment/web", "--replicas=1"], ".spec.replicas", "1"),
        (["label", "deployment", "web", "tier=front"], ".metadata.labels.tier", "front"),
        (["annotate", "deployment", "web", "note=hello"], ".metadata.annotations.note", "hello"),
        (["patch", "deployment", "web", "-p", '{"spec":{"replicas":1}}'], ".spec.replicas", "1"),
        (
            ["patch", "deployment", "web", "--type=json", "-p", '[{"op":"remove","path":"/metadata/labels/app"}]'],
            ".metadata.labels",
            "",
        ),
        (["autoscale", "deployment", "web", "--max=4", "--cpu-percent=80"], ".metadata.name", "web"),
    ],
)
def test_a_deployment_is_changed_in_place(web: Kubectl, command: list[str], path: str, expected: str) -> None:
    web(*command)
    assert web("get", "deployment", "web", "-o", f"jsonpath={{{path}}}") == expected
    assert web("rollout", "status", "deployment/web", "--timeout=60s")


def test_a_rollout_is_undone_paused_and_restarted(web: Kubectl) -> None:
    web("set", "image", "deployment/web", "web=nginx:1.26")
    web("rollout", "status", "deployment/web", "--timeout=60s")
    assert "nginx:1.25" in web("rollout", "history", "deployment/web", "--revision=1")
    web("rollout", "undo", "deployment/web")
    assert _image(web) == "nginx:1.25"
    web("rollout", "pause", "deployment/web")
    web("rollout", "resume", "deployment/web")
    before = set(web("get", "pods", "-o", "name").split())
    web("rollout", "restart", "deployment/web")
    web("rollout", "status", "deployment/web", "--timeout=60s")
    web("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
    assert before.isdisjoint(web("get", "pods", "-o", "name", "--field-selector=status.phase=Running").split())


def test_pods_are_looked_into(web: Kubectl) -> None:
    assert web("exec", "deployment/web", "-c", "side", "--", "sh", "-c", "echo $HOSTNAME").startswith("web-")
    assert web("exec", "-i", "deployment/web", "-c", "side", "--", "cat", stdin="hello") == "hello"
    assert "start worker" in web("logs", "deployment/web", "-c", "web")
    assert "web" in web("top", "pods", "--containers")
    assert "Scheduled" in web("describe", "pods", "-l", "app=web")
    assert "ScalingReplicaSet" in web("events", "--for", "deployment/web")
    assert web("get", "endpoints", "web", "-o", "jsonpath={.subsets[0].addresses[*].ip}").count("10.") == 2


@pytest.mark.parametrize(
    "arguments",
    [
        "deployment api --image=nginx",
        "configmap c --from-literal=a=b",
        "secret generic s --from-literal=a=b",
        "serviceaccount a",
        "service clusterip s --tcp=80:80",
        "service nodeport s --tcp=80:80",
        "service externalname s --external-name=example.com",
        "job j --image=busybox -- echo hi",
        "cronjob c --image=busybox --schedule=*/5_*_*_*_* -- echo hi",
        "quota q --hard=pods=50",
        "role r --verb=get --resource=pods",
        "rolebinding b --clusterrole=view --serviceaccount=default:default",
        "poddisruptionbudget p --selector=app=web --min-available=1",
        "ingress i --rule=example.com/path=web:80",
        "token default",
    ],
)
def test_kubectl_creates(kubectl: Kubectl, arguments: str) -> None:
    words = [word.replace("_", " ") for word in arguments.split()]
    kubectl("create", *words)
    if words[0] != "token":
        name = words[2] if words[1] in ("generic", "clusterip", "nodeport", "externalname") else words[1]
        kubectl("describe", words[0], name)


def test_a_job_runs_to_its_end(kubectl: Kubectl) -> None:
    kubectl("create", "job", "j", "--image=busybox", "--", "echo", "done here")
    kubectl("wait", "--for=condition=complete", "job/j", "--timeout=60s")
    assert kubectl("logs", "job/j") == "done here\n"


def test_a_pod_is_run_waited_for_and_deleted(kubectl: Kubectl) -> None:
    kubectl("run", "box", "--image=busybox", "--restart=Never", "--", "sleep", "1000")
    kubectl("wait", "--for=condition=Ready", "pod/box", "--timeout=60s")
    kubectl("delete", "pod", "box", "--timeout=60s")
    assert "not found" in kubectl.refused("get", "pod", "box")


def test_a_namespace_with_a_running_system_goes(web: Kubectl) -> None:
    web("delete", "namespace", web.namespace, "--timeout=60s")
    assert "not found" in web.refused("get", "namespace", web.namespace)


def test_a_node_is_cordoned_tainted_and_released(kubectl: Kubectl) -> None:
    node = kubectl("get", "nodes", "-o", "jsonpath={.items[0].metadata.name}")
    kubectl("cordon", node)
    assert "SchedulingDisabled" in kubectl("get", "node", node)
    kubectl("uncordon", node)
    kubectl("taint", "node", node, "key=value:PreferNoSchedule")
    kubectl("taint", "node", node, "key-")
    assert "Taints:             <none>" in kubectl("describe", "node", node)


@pytest.mark.usefixtures("web")
def test_the_typed_python_client_reads_every_kind(client: Any) -> None:
    from kubernetes import client as models

    reads: list[tuple[Callable[[Any], Any], tuple[str, ...]]] = [
        (
            models.CoreV1Api,
            ("config_map", "endpoints", "event", "pod", "secret", "service", "service_account"),
        ),
        (models.AppsV1Api, ("deployment", "replica_set", "stateful_set", "daemon_set")),
        (models.DiscoveryV1Api, ("endpoint_slice",)),
        (models.RbacAuthorizationV1Api, ("role", "role_binding")),
    ]
    for make, kinds in reads:
        api = make(client)
        for kind in kinds:
            listed = getattr(api, f"list_{kind}_for_all_namespaces")()
            assert isinstance(listed.items, list), kind
    for kind in ("node", "namespace"):
        assert getattr(models.CoreV1Api(client), f"list_{kind}")().items
    assert models.RbacAuthorizationV1Api(client).list_cluster_role().items
