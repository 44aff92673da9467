"""The real kubectl works with what the controllers do: rollouts, history and undo, scaling, describe."""

from __future__ import annotations

import re
from typing import Any

from tests.embedded.clients import Kubectl


def manifest(kind: str, name: str, image: str = "nginx:1.25", **spec: Any) -> dict[str, Any]:
    labels = {"app": name}
    pod = {"containers": [{"name": "main", "image": image}]}
    replicas = {} if kind == "DaemonSet" else {"replicas": 2}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod},
            **replicas,
            **spec,
        },
    }


def roll_out(kubectl: Kubectl, target: str) -> str:
    return kubectl("rollout", "status", target, "--timeout=30s")


def revisions(kubectl: Kubectl, target: str) -> list[str]:
    return re.findall(r"^(\d+) ", kubectl("rollout", "history", target), re.MULTILINE)


def images(kubectl: Kubectl, name: str) -> set[str]:
    pods = kubectl.json("get", "pods", "-l", f"app={name}")["items"]
    return {pod["spec"]["containers"][0]["image"] for pod in pods if "deletionTimestamp" not in pod["metadata"]}


def test_a_deployment_is_rolled_out_and_back(kubectl: Kubectl) -> None:
    kubectl("create", "deployment", "web", "--image=nginx:1.25", "--replicas=2")
    assert "successfully rolled out" in roll_out(kubectl, "deployment/web")
    kubectl("set", "image", "deployment/web", "nginx=nginx:1.26")
    roll_out(kubectl, "deployment/web")
    assert images(kubectl, "web") == {"nginx:1.26"}
    assert "Image:\tnginx:1.25" in kubectl("rollout", "history", "deployment/web", "--revision=1")
    kubectl("rollout", "undo", "deployment/web")
    roll_out(kubectl, "deployment/web")
    assert images(kubectl, "web") == {"nginx:1.25"}
    assert revisions(kubectl, "deployment/web") == ["2", "3"]
    assert len(kubectl.json("get", "replicasets")["items"]) == 2


def test_a_broken_rollout_is_told_and_undone(kubectl: Kubectl) -> None:
    kubectl.apply(manifest("Deployment", "web", progressDeadlineSeconds=60))
    roll_out(kubectl, "deployment/web")
    kubectl("set", "image", "deployment/web", "main=ghcr.io/nobody/nothing:0")
    told = kubectl.refused("rollout", "status", "deployment/web", "--timeout=30s")
    assert told == 'error: deployment "web" exceeded its progress deadline'
    assert re.search(r"Progressing +False +ProgressDeadlineExceeded", kubectl("describe", "deployment", "web"))
    kubectl("rollout", "undo", "deployment/web")
    assert "successfully rolled out" in roll_out(kubectl, "deployment/web")
    assert images(kubectl, "web") == {"nginx:1.25"}


def test_restart_pause_resume_and_scale(kubectl: Kubectl) -> None:
    kubectl.apply(manifest("Deployment", "web"))
    roll_out(kubectl, "deployment/web")
    before = kubectl("get", "pods", "-o", "name").split()
    kubectl("rollout", "restart", "deployment/web")
    roll_out(kubectl, "deployment/web")
    kubectl("rollout", "pause", "deployment/web")
    kubectl("set", "image", "deployment/web", "main=nginx:1.26")
    kubectl("scale", "deployment/web", "--replicas=3")
    kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", "deployment/web", "--timeout=30s")
    assert images(kubectl, "web") == {"nginx:1.25"}
    kubectl("rollout", "resume", "deployment/web")
    roll_out(kubectl, "deployment/web")
    assert images(kubectl, "web") == {"nginx:1.26"}
    assert not set(before) & set(kubectl("get", "pods", "-o", "name").split())


def test_describe_tells_the_conditions_and_the_events_in_order(kubectl: Kubectl) -> None:
    kubectl.apply(manifest("Deployment", "web", strategy={"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}))
    roll_out(kubectl, "deployment/web")
    kubectl("set", "image", "deployment/web", "main=nginx:1.26")
    roll_out(kubectl, "deployment/web")
    text = kubectl("describe", "deployment", "web")
    assert "Replicas:               2 desired | 2 updated | 2 total | 2 available | 0 unavailable" in text
    assert re.search(r"Available +True +MinimumReplicasAvailable", text)
    assert re.search(r"Progressing +True +NewReplicaSetAvailable", text)
    steps = re.findall(r"Scaled (up|down) replica set web-\w+ from (\d) to (\d)", text)
    assert ["".join(step) for step in steps] == ["up02", "up01", "down21", "up12", "down10"]


def test_a_stateful_set_is_rolled_out_and_back(kubectl: Kubectl) -> None:
    kubectl.apply(manifest("StatefulSet", "db", serviceName="db"))
    roll_out(kubectl, "statefulset/db")
    kubectl("set", "image", "statefulset/db", "main=nginx:1.26")
    roll_out(kubectl, "statefulset/db")
    assert images(kubectl, "db") == {"nginx:1.26"}
    kubectl("rollout", "undo", "statefulset/db", "--to-revision=1")
    roll_out(kubectl, "statefulset/db")
    assert images(kubectl, "db") == {"nginx:1.25"}
    assert revisions(kubectl, "statefulset/db") == ["2", "3"]
    assert kubectl("get", "pods", "-o", "name").split() == ["pod/db-0", "pod/db-1"]


def test_a_daemon_set_is_rolled_out_and_back(kubectl: Kubectl) -> None:
    kubectl.apply(manifest("DaemonSet", "agent"))
    assert "successfully rolled out" in roll_out(kubectl, "daemonset/agent")
    kubectl("set", "image", "daemonset/agent", "main=nginx:1.26")
    roll_out(kubectl, "daemonset/agent")
    kubectl("rollout", "undo", "daemonset/agent")
    roll_out(kubectl, "daemonset/agent")
    assert images(kubectl, "agent") == {"nginx:1.25"}
    assert revisions(kubectl, "daemonset/agent") == ["2", "3"]


def test_a_job_runs_to_its_end(kubectl: Kubectl) -> None:
    kubectl("create", "job", "hello", "--image=busybox", "--", "echo", "hi")
    kubectl("wait", "--for=condition=complete", "job/hello", "--timeout=30s")
    assert "0 Active (0 Ready) / 1 Succeeded / 0 Failed" in kubectl("describe", "job", "hello")


def test_a_pod_that_does_not_fit_says_why(kubectl: Kubectl) -> None:
    kubectl("run", "huge", "--image=nginx", '--overrides={"spec":{"nodeSelector":{"disk":"tape"}}}')
    kubectl("wait", "--for=condition=PodScheduled=false", "pod/huge", "--timeout=30s")
    text = kubectl("describe", "pod", "huge")
    assert "FailedScheduling" in text
    assert "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector." in text


def test_an_orphaned_replica_set_is_adopted_again(kubectl: Kubectl) -> None:
    web = manifest("Deployment", "web")
    kubectl.apply(web)
    roll_out(kubectl, "deployment/web")
    before = kubectl("get", "replicasets,pods", "-o", "name")
    kubectl("delete", "deployment", "web", "--cascade=orphan")
    assert kubectl("get", "replicasets,pods", "-o", "name") == before
    kubectl.apply(web)
    roll_out(kubectl, "deployment/web")
    kubectl("delete", "deployment", "web", "--cascade=foreground", "--timeout=30s")
    assert kubectl("get", "replicasets,pods", "-o", "name") == ""
