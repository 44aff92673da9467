"""Tables: what `kubectl get` prints of each kind, in the columns of a real API server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.embedded.api.objects import deployment, pod, service
from tests.embedded.clients import Http, Kubectl

TABLE = "application/json;as=Table;g=meta.k8s.io;v=v1"


def _ago(seconds: int) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")


def _waiting(reason: str) -> dict[str, Any]:
    return {"waiting": {"reason": reason}}


def _ended(code: int, **more: Any) -> dict[str, Any]:
    return {"terminated": {"exitCode": code, **more}}


RUNNING: dict[str, Any] = {"running": {}}


def _status(state: dict[str, Any], *, ready: bool = False, restarts: int = 0, **more: Any) -> dict[str, Any]:
    common = {"name": "main", "image": "busybox", "imageID": ""}
    return {**common, "ready": ready, "restartCount": restarts, "state": state, **more}


@pytest.mark.parametrize(
    ("status", "cells"),
    [
        ({"phase": "Pending"}, ["0/1", "Pending", "0"]),
        ({"phase": "Running", "containerStatuses": [_status(RUNNING, ready=True)]}, ["1/1", "Running", "0"]),
        ({"phase": "Running", "containerStatuses": [_status(RUNNING)]}, ["0/1", "Running", "0"]),
        (
            {"phase": "Pending", "containerStatuses": [_status(_waiting("ContainerCreating"))]},
            ["0/1", "ContainerCreating", "0"],
        ),
        (
            {
                "phase": "Running",
                "containerStatuses": [
                    _status(
                        _waiting("CrashLoopBackOff"),
                        restarts=3,
                        lastState=_ended(1, finishedAt=_ago(75 * 3600 + 1800)),
                    )
                ],
            },
            ["0/1", "CrashLoopBackOff", "3 (3d3h ago)"],
        ),
        (
            {"phase": "Running", "containerStatuses": [_status(_ended(137, reason="OOMKilled"))]},
            ["0/1", "OOMKilled", "0"],
        ),
        ({"phase": "Running", "containerStatuses": [_status(_ended(2))]}, ["0/1", "ExitCode:2", "0"]),
        (
            {"phase": "Succeeded", "containerStatuses": [_status(_ended(0, reason="Completed"))]},
            ["0/1", "Completed", "0"],
        ),
        ({"phase": "Failed", "reason": "Evicted"}, ["0/1", "Evicted", "0"]),
    ],
)
def test_a_pod_says_how_it_is(http: Http, namespace: str, status: dict[str, Any], cells: list[str]) -> None:
    http.create(f"/api/v1/namespaces/{namespace}/pods", pod("p"))
    http.patch(f"/api/v1/namespaces/{namespace}/pods/p/status", {"status": status})
    (row,) = http.get(f"/api/v1/namespaces/{namespace}/pods", Accept=TABLE).body["rows"]
    assert row["cells"][1:4] == cells


@pytest.mark.parametrize(
    ("states", "text"),
    [
        ([RUNNING, _waiting("PodInitializing")], "Init:0/2"),
        ([_ended(0), RUNNING], "Init:1/2"),
        ([_ended(1), _waiting("PodInitializing")], "Init:ExitCode:1"),
        ([_ended(1, reason="Error"), _waiting("PodInitializing")], "Init:Error"),
        ([_waiting("ImagePullBackOff"), _waiting("PodInitializing")], "Init:ImagePullBackOff"),
        ([_ended(0), _ended(0)], "PodInitializing"),
    ],
)
def test_a_pod_says_how_far_its_init_containers_are(
    http: Http, namespace: str, states: list[dict[str, Any]], text: str
) -> None:
    created = pod("p")
    created["spec"]["initContainers"] = [{"name": name, "image": "busybox"} for name in ("i1", "i2")]
    http.create(f"/api/v1/namespaces/{namespace}/pods", created)
    inits = [{**_status(state), "name": name} for name, state in zip(("i1", "i2"), states, strict=True)]
    status = {
        "phase": "Pending",
        "initContainerStatuses": inits,
        "containerStatuses": [_status(_waiting("PodInitializing"))],
    }
    http.patch(f"/api/v1/namespaces/{namespace}/pods/p/status", {"status": status})
    (row,) = http.get(f"/api/v1/namespaces/{namespace}/pods", Accept=TABLE).body["rows"]
    assert row["cells"][2] == text


def test_a_pod_that_ends_is_terminating(kubectl: Kubectl, http: Http, namespace: str) -> None:
    http.create(f"/api/v1/namespaces/{namespace}/pods", pod("p", node="n1"))
    http.request("DELETE", f"/api/v1/namespaces/{namespace}/pods/p")
    assert kubectl("get", "pods", "--no-headers").split()[:3] == ["p", "0/1", "Terminating"]


def test_wide_columns_come_with_o_wide_only(kubectl: Kubectl, http: Http, namespace: str) -> None:
    http.create(f"/api/v1/namespaces/{namespace}/pods", pod("p", node="n1"))
    assert kubectl("get", "pods").split("\n")[0].split() == ["NAME", "READY", "STATUS", "RESTARTS", "AGE"]
    header, row = kubectl("get", "pods", "-o", "wide").splitlines()[:2]
    assert header.split()[5:] == ["IP", "NODE", "NOMINATED", "NODE", "READINESS", "GATES"]
    assert row.split()[5:] == ["<none>", "n1", "<none>", "<none>"]


def test_a_deployment_says_how_much_of_it_is_there(kubectl: Kubectl, http: Http, namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{namespace}/deployments"
    http.create(path, deployment("web", replicas=3))
    status = {"readyReplicas": 1, "updatedReplicas": 2, "availableReplicas": 1}
    http.patch(f"{path}/web/status", {"status": status})
    assert kubectl("get", "deployments", "--no-headers").split()[:4] == ["web", "1/3", "2", "1"]
    wide = kubectl("get", "deployments", "--no-headers", "-o", "wide").split()
    assert wide[5:] == ["main", "nginx:1.25", "app=web"]


@pytest.mark.parametrize(
    ("spec", "cells"),
    [
        ({}, ["ClusterIP", "<none>", "80/TCP,53/TCP"]),
        ({"type": "LoadBalancer"}, ["LoadBalancer", "<pending>", None]),
        ({"type": "ExternalName", "externalName": "example.com"}, ["ExternalName", "example.com", "80/TCP,53/TCP"]),
    ],
)
def test_a_service_says_where_it_is(http: Http, namespace: str, spec: dict[str, Any], cells: list[str | None]) -> None:
    http.create(f"/api/v1/namespaces/{namespace}/services", service("s", 80, 53, **spec))
    (row,) = http.get(f"/api/v1/namespaces/{namespace}/services", Accept=TABLE).body["rows"]
    kind, external, ports = row["cells"][1], row["cells"][3], row["cells"][4]
    assert [kind, external] == cells[:2]
    if cells[2] is None:
        assert ports.count(":3") == 2  # node ports
    else:
        assert ports == cells[2]


def test_events_are_told_by_their_object(http: Http, namespace: str) -> None:
    about = {"kind": "Pod", "name": "web-1", "namespace": namespace}
    event: dict[str, Any] = {"metadata": {"name": "e"}, "involvedObject": about, "type": "Warning", "reason": "BackOff"}
    event |= {"message": "Back-off restarting\n", "lastTimestamp": _ago(60), "count": 4}
    http.create(f"/api/v1/namespaces/{namespace}/events", event)
    table = http.get(f"/api/v1/namespaces/{namespace}/events", Accept=TABLE).body
    cells = dict(zip([each["name"] for each in table["columnDefinitions"]], table["rows"][0]["cells"], strict=True))
    assert (cells["Type"], cells["Reason"], cells["Object"]) == ("Warning", "BackOff", "pod/web-1")
    assert (cells["Message"], cells["Count"]) == ("Back-off restarting", 4)
    assert cells["Last Seen"].startswith("6")


def test_an_autoscaler_says_what_it_aims_at(kubectl: Kubectl, http: Http, namespace: str) -> None:
    http.create(f"/apis/apps/v1/namespaces/{namespace}/deployments", deployment("web"))
    kubectl("autoscale", "deployment", "web", "--min=1", "--max=5", "--cpu-percent=80")
    cells = kubectl("get", "hpa", "--no-headers").split()
    assert cells[:7] == ["web", "Deployment/web", "cpu:", "<unknown>/80%", "1", "5", "0"]


@pytest.mark.parametrize(
    ("path", "columns"),
    [
        ("/api/v1/nodes", "Name Status Roles Age Version"),
        ("/api/v1/namespaces", "Name Status Age"),
        ("/api/v1/configmaps", "Name Data Age"),
        ("/api/v1/secrets", "Name Type Data Age"),
        ("/api/v1/serviceaccounts", "Name Secrets Age"),
        ("/api/v1/endpoints", "Name Endpoints Age"),
        ("/api/v1/resourcequotas", "Name Age Request Limit"),
        (
            "/api/v1/persistentvolumeclaims",
            "Name Status Volume Capacity Access_Modes StorageClass Age",
        ),
        (
            "/api/v1/persistentvolumes",
            "Name Capacity Access_Modes Reclaim_Policy Status Claim StorageClass Reason Age",
        ),
        ("/apis/apps/v1/replicasets", "Name Desired Current Ready Age"),
        ("/apis/apps/v1/statefulsets", "Name Ready Age"),
        (
            "/apis/apps/v1/daemonsets",
            "Name Desired Current Ready Up-to-date Available Node_Selector Age",
        ),
        ("/apis/batch/v1/jobs", "Name Completions Duration Age"),
        ("/apis/networking.k8s.io/v1/networkpolicies", "Name Pod-Selector Age"),
        ("/apis/networking.k8s.io/v1/ingresses", "Name Class Hosts Address Ports Age"),
        (
            "/apis/policy/v1/poddisruptionbudgets",
            "Name Min_Available Max_Unavailable Allowed_Disruptions Age",
        ),
        (
            "/apis/autoscaling/v2/horizontalpodautoscalers",
            "Name Reference Targets MinPods MaxPods Replicas Age",
        ),
        (
            "/apis/storage.k8s.io/v1/storageclasses",
            "Name Provisioner ReclaimPolicy VolumeBindingMode AllowVolumeExpansion Age",
        ),
    ],
)
def test_each_kind_has_the_columns_of_a_real_server(http: Http, path: str, columns: str) -> None:
    definitions = http.get(path, Accept=TABLE).body["columnDefinitions"]
    narrow = [each["name"].replace(" ", "_") for each in definitions if each["priority"] == 0]
    assert narrow == columns.split()


@pytest.mark.parametrize("include", ["None", "Metadata", "Object"])
def test_a_row_carries_what_was_asked_for(http: Http, namespace: str, include: str) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/kube-root-ca.crt?includeObject={include}"
    (row,) = http.get(path, Accept=TABLE).body["rows"]
    expected = {"None": None, "Metadata": "PartialObjectMetadata", "Object": "ConfigMap"}[include]
    assert row.get("object", {}).get("kind") == expected
