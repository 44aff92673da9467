"""What kubectl creates by its typed clients, whose bodies are protobuf."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.embedded.clients import Kubectl

Object = dict[str, Any]


def part_of(expected: Any, received: Any) -> bool:
    """Whether `received` has all that `expected` says; lists item by item."""
    if isinstance(expected, dict):
        return isinstance(received, dict) and all(part_of(value, received.get(key)) for key, value in expected.items())
    if isinstance(expected, list):
        if not isinstance(received, list) or len(expected) != len(received):
            return False
        return all(part_of(left, right) for left, right in zip(expected, received, strict=True))
    return bool(expected == received)


def made(kubectl: Kubectl, command: str) -> Any:
    """What the command made; the words after `--` are the container's."""
    words, separator, own = command.partition(" -- ")
    return json.loads(kubectl(*words.split(), "-o", "json", *([separator.strip(), *own.split()] if own else [])))


def template(**container: Any) -> Object:
    return {"template": {"spec": {"containers": [container]}}}


RULE = {"verbs": ["get", "list"], "apiGroups": ["apps"], "resources": ["deployments"]}
SUBJECT = {"kind": "ServiceAccount", "name": "robot", "namespace": "there"}
BACKEND = {"service": {"name": "web", "port": {"number": 80}}}

CREATED: dict[str, tuple[str, Object]] = {
    "deployment": (
        "deployment web --image=nginx:1.25 --replicas=2 --port=80",
        {
            "spec": {
                "replicas": 2,
                **template(name="nginx", image="nginx:1.25", ports=[{"containerPort": 80, "protocol": "TCP"}]),
            }
        },
    ),
    "configmap": ("configmap c --from-literal=a=b", {"data": {"a": "b"}}),
    "generic secret": ("secret generic s --from-literal=a=b", {"type": "Opaque", "data": {"a": "Yg=="}}),
    "namespace": ("namespace other-{namespace}", {"status": {"phase": "Active"}}),
    "cluster address": (
        "service clusterip web --tcp=80:8080",
        {"spec": {"type": "ClusterIP", "ports": [{"name": "80-8080", "port": 80, "targetPort": 8080}]}},
    ),
    "headless": ("service clusterip web --clusterip=None", {"spec": {"clusterIP": "None"}}),
    "node port": ("service nodeport web --tcp=80", {"spec": {"type": "NodePort", "ports": [{"port": 80}]}}),
    "load balancer": ("service loadbalancer web --tcp=80", {"spec": {"type": "LoadBalancer"}}),
    "external name": (
        "service externalname web --external-name=example.com",
        {"spec": {"type": "ExternalName", "externalName": "example.com"}},
    ),
    "service account": ("serviceaccount robot", {"metadata": {"name": "robot"}}),
    "job": (
        "job j --image=busybox -- sleep 1",
        {"spec": template(name="j", image="busybox", command=["sleep", "1"])},
    ),
    "cron job": (
        "cronjob c --image=busybox --schedule=@daily -- date",
        {"spec": {"schedule": "@daily", "jobTemplate": {"spec": template(command=["date"])}}},
    ),
    "quota": ("quota q --hard=cpu=1500m,pods=2", {"spec": {"hard": {"cpu": "1500m", "pods": "2"}}}),
    "role": ("role r --verb=get,list --resource=deployments", {"rules": [RULE]}),
    "role binding": (
        "rolebinding b --role=r --serviceaccount=there:robot",
        {"roleRef": {"kind": "Role", "name": "r"}, "subjects": [SUBJECT]},
    ),
    "cluster role": ("clusterrole r-{namespace} --verb=get,list --resource=deployments", {"rules": [RULE]}),
    "cluster role binding": (
        "clusterrolebinding b-{namespace} --clusterrole=r --user=jane",
        {"roleRef": {"kind": "ClusterRole", "name": "r"}, "subjects": [{"kind": "User", "name": "jane"}]},
    ),
    "ingress": (
        "ingress i --rule=example.com/path=web:80",
        {"spec": {"rules": [{"host": "example.com", "http": {"paths": [{"path": "/path", "backend": BACKEND}]}}]}},
    ),
    "disruption budget": (
        "pdb p --selector=app=web --min-available=50%",
        {"spec": {"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}}},
    ),
    "priority class": ("priorityclass p-{namespace} --value=-5", {"value": -5}),
}


@pytest.mark.parametrize("what", CREATED)
def test_create(what: str, kubectl: Kubectl, namespace: str) -> None:
    command, expected = CREATED[what]
    received = made(kubectl, f"create {command.format(namespace=namespace)}")
    assert part_of(expected, received), received


def test_create_tls_secret(kubectl: Kubectl, tmp_path: Path) -> None:
    from tests.embedded.api.certificates import write_pair

    certificate, key = write_pair(tmp_path)
    secret = kubectl.json("create", "secret", "tls", "t", f"--cert={certificate}", f"--key={key}")
    assert secret["type"] == "kubernetes.io/tls"
    assert set(secret["data"]) == {"tls.crt", "tls.key"}


def test_create_job_from_cron_job(kubectl: Kubectl) -> None:
    kubectl("create", "cronjob", "c", "--image=busybox", "--schedule=@daily", "--", "date")
    job = kubectl.json("create", "job", "j", "--from=cronjob/c")
    assert part_of({"spec": template(image="busybox", command=["date"])}, job)
    assert job["metadata"]["ownerReferences"][0]["kind"] == "CronJob"


def test_run(kubectl: Kubectl) -> None:
    pod = made(kubectl, "run p --image=busybox --env=A=B --port=80 --labels=x=y -- sleep 9")
    (container,) = pod["spec"]["containers"]
    expected = {"image": "busybox", "args": ["sleep", "9"], "env": [{"name": "A", "value": "B"}]}
    assert part_of(expected, container), container
    assert pod["metadata"]["labels"] == {"x": "y"}


def test_expose_and_autoscale(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx")
    service = kubectl.json("expose", "deployment", "web", "--port=80", "--target-port=8080")
    assert part_of({"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}, service["spec"])
    scaler = kubectl.json("autoscale", "deployment", "web", "--max=3", "--cpu=50%")
    assert scaler["spec"]["maxReplicas"] == 3
    assert scaler["spec"]["metrics"][0]["resource"]["target"]["averageUtilization"] == 50
