"""What the server fills in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_microremed.embedded.api import resources as r
from pytest_microremed.embedded.api.defaults import apply_defaults
from pytest_microremed.embedded.api.resources import Resource

Object = dict[str, Any]


def defaulted(resource: Resource, **content: Any) -> Object:
    obj = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {"name": "x"}, **content}
    before = json.dumps(obj)
    filled = apply_defaults(resource, obj)
    assert json.dumps(obj) == before, "the object itself was changed"
    assert apply_defaults(resource, filled) == filled, "defaulting twice is not defaulting once"
    return filled


def pod_spec(**spec: Any) -> Object:
    return {"containers": [{"name": "a", "image": "nginx:1.25"}], **spec}


def containers(obj: Object) -> Any:
    return obj["spec"].get("template", obj)["spec"]["containers"]


def test_a_deployment_looks_as_on_a_real_cluster() -> None:
    obj = defaulted(r.DEPLOYMENTS, spec={"template": {"spec": pod_spec()}})
    assert obj["spec"] == {
        "replicas": 1,
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
        "template": {
            "metadata": {},
            "spec": {
                "containers": [
                    {
                        "name": "a",
                        "image": "nginx:1.25",
                        "imagePullPolicy": "IfNotPresent",
                        "resources": {},
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File",
                    }
                ],
                "dnsPolicy": "ClusterFirst",
                "restartPolicy": "Always",
                "schedulerName": "default-scheduler",
                "securityContext": {},
                "terminationGracePeriodSeconds": 30,
            },
        },
    }


def test_recreating_has_no_rolling_update() -> None:
    obj = defaulted(r.DEPLOYMENTS, spec={"strategy": {"type": "Recreate"}, "template": {"spec": pod_spec()}})
    assert obj["spec"]["strategy"] == {"type": "Recreate"}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("nginx", "Always"),
        ("nginx:latest", "Always"),
        ("nginx:1.25", "IfNotPresent"),
        ("registry:5000/nginx", "Always"),
        ("registry:5000/nginx:1", "IfNotPresent"),
        ("nginx@sha256:abc", "IfNotPresent"),
    ],
)
def test_the_tag_decides_when_to_pull(image: str, policy: str) -> None:
    obj = defaulted(r.PODS, spec={"containers": [{"name": "a", "image": image}]})
    assert containers(obj)[0]["imagePullPolicy"] == policy


def test_a_pod_requests_what_limits_it() -> None:
    resources = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m"}}
    spec = {"containers": [{"name": "a", "image": "x", "resources": resources}]}
    pod = defaulted(r.PODS, spec=spec)
    assert containers(pod)[0]["resources"]["requests"] == {"cpu": "500m", "memory": "1Gi"}
    assert pod["spec"]["enableServiceLinks"] is True


def test_a_template_does_not() -> None:
    resources = {"limits": {"cpu": "1"}}
    spec = {"containers": [{"name": "a", "image": "x", "resources": resources}]}
    obj = defaulted(r.DEPLOYMENTS, spec={"template": {"spec": spec}})
    assert containers(obj)[0]["resources"] == resources
    assert "enableServiceLinks" not in obj["spec"]["template"]["spec"]


def test_probes_ports_and_references_are_completed() -> None:
    container = {
        "name": "a",
        "image": "x",
        "ports": [{"containerPort": 80}],
        "livenessProbe": {"httpGet": {"port": 80}},
        "readinessProbe": {"grpc": {"port": 80}, "periodSeconds": 3},
        "env": [{"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}],
    }
    (filled,) = containers(defaulted(r.PODS, spec={"containers": [container]}))
    times = {"timeoutSeconds": 1, "successThreshold": 1, "failureThreshold": 3}
    assert filled["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert filled["livenessProbe"] == {
        "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
        "periodSeconds": 10,
        **times,
    }
    assert filled["readinessProbe"] == {"grpc": {"port": 80, "service": ""}, "periodSeconds": 3, **times}
    assert filled["env"][0]["valueFrom"]["fieldRef"] == {"apiVersion": "v1", "fieldPath": "status.podIP"}


def test_volumes_are_completed() -> None:
    volumes = [
        {"name": "empty"},
        {"name": "config", "configMap": {"name": "c"}},
        {"name": "secret", "secret": {"secretName": "s", "defaultMode": 256}},
        {"name": "host", "hostPath": {"path": "/x"}},
        {"name": "token", "projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}},
    ]
    assert defaulted(r.PODS, spec=pod_spec(volumes=volumes))["spec"]["volumes"] == [
        {"name": "empty", "emptyDir": {}},
        {"name": "config", "configMap": {"name": "c", "defaultMode": 420}},
        {"name": "secret", "secret": {"secretName": "s", "defaultMode": 256}},
        {"name": "host", "hostPath": {"path": "/x", "type": ""}},
        {
            "name": "token",
            "projected": {
                "defaultMode": 420,
                "sources": [{"serviceAccountToken": {"path": "token", "expirationSeconds": 3600}}],
            },
        },
    ]


def test_the_old_name_of_the_service_account_stays_in_step() -> None:
    spec = defaulted(r.PODS, spec=pod_spec(serviceAccountName="robot"))["spec"]
    assert spec["serviceAccount"] == "robot"


def spec_of(resource: Resource, **spec: Any) -> Object:
    filled: Object = defaulted(resource, spec=spec)["spec"]
    return filled


def test_workloads_are_completed() -> None:
    template = {"template": {"spec": pod_spec()}}
    stateful = spec_of(r.STATEFUL_SETS, **template, volumeClaimTemplates=[{"metadata": {"name": "d"}}])
    assert stateful["podManagementPolicy"] == "OrderedReady"
    assert stateful["updateStrategy"] == {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    assert stateful["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}
    assert stateful["volumeClaimTemplates"][0]["spec"] == {"volumeMode": "Filesystem"}
    assert spec_of(r.DAEMON_SETS, **template)["updateStrategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0},
    }
    job = spec_of(r.JOBS, **template)
    assert (job["completions"], job["parallelism"], job["backoffLimit"]) == (1, 1, 6)
    assert "completions" not in spec_of(r.JOBS, **template, parallelism=3)
    cron = spec_of(r.CRON_JOBS, schedule="@daily", jobTemplate={"spec": template})
    assert (cron["concurrencyPolicy"], cron["successfulJobsHistoryLimit"]) == ("Allow", 3)
    assert "backoffLimit" not in cron["jobTemplate"]["spec"]


def test_services_are_completed() -> None:
    spec = spec_of(r.SERVICES, ports=[{"port": 80}, {"port": 81, "targetPort": "web"}])
    assert spec["ports"] == [
        {"port": 80, "protocol": "TCP", "targetPort": 80},
        {"port": 81, "protocol": "TCP", "targetPort": "web"},
    ]
    assert (spec["type"], spec["sessionAffinity"], spec["internalTrafficPolicy"]) == ("ClusterIP", "None", "Cluster")
    exposed = spec_of(r.SERVICES, type="LoadBalancer", sessionAffinity="ClientIP")
    assert exposed["externalTrafficPolicy"] == "Cluster"
    assert exposed["allocateLoadBalancerNodePorts"] is True
    assert exposed["sessionAffinityConfig"] == {"clientIP": {"timeoutSeconds": 10800}}
    assert "internalTrafficPolicy" not in spec_of(r.SERVICES, type="ExternalName")


def test_the_other_kinds_are_completed() -> None:
    assert defaulted(r.SECRETS)["type"] == "Opaque"
    assert spec_of(r.PERSISTENT_VOLUME_CLAIMS)["volumeMode"] == "Filesystem"
    assert spec_of(r.NETWORK_POLICIES, egress=[{}])["policyTypes"] == ["Ingress", "Egress"]
    assert spec_of(r.NETWORK_POLICIES, ingress=[{"ports": [{"port": 80}]}])["ingress"] == [
        {"ports": [{"port": 80, "protocol": "TCP"}]}
    ]
    scaler = spec_of(r.HORIZONTAL_POD_AUTOSCALERS, maxReplicas=3)
    assert scaler["minReplicas"] == 1
    assert scaler["metrics"][0]["resource"]["target"] == {"type": "Utilization", "averageUtilization": 80}
    binding = defaulted(
        r.ROLE_BINDINGS, roleRef={"kind": "Role", "name": "r"}, subjects=[{"kind": "User", "name": "u"}]
    )
    assert binding["roleRef"]["apiGroup"] == binding["subjects"][0]["apiGroup"] == "rbac.authorization.k8s.io"
    limits = spec_of(r.LIMIT_RANGES, limits=[{"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1"}}])
    assert limits["limits"][0]["default"] == limits["limits"][0]["defaultRequest"] == {"cpu": "2"}
    namespace = defaulted(r.NAMESPACES)
    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "x"}


def test_custom_resources_get_the_defaults_of_their_definition() -> None:
    schema = {
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "default": {},
                "properties": {
                    "mode": {"type": "string", "default": "one"},
                    "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"default": 1}}}},
                },
            }
        },
    }
    widgets = Resource("example.org", "v1", "widgets", "Widget", custom=True, schema=schema)
    assert defaulted(widgets)["spec"] == {"mode": "one"}
    assert defaulted(widgets, spec={"mode": None, "list": [{}]})["spec"] == {"mode": "one", "list": [{"n": 1}]}
