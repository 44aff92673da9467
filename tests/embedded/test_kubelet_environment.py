"""The environment and the files that a container gets."""

from __future__ import annotations

import base64

from pytest_microremed.embedded.api.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, SECRETS
from pytest_microremed.embedded.api.store import Object
from tests.embedded.node import NAMESPACE, Node, environment, limits, on_a_node, server


def config(name: str, **data: str) -> Object:
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def secret(name: str, **data: str) -> Object:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    metadata = {"name": name, "namespace": NAMESPACE}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded}


def ref(kind: str, name: str, key: str, **more: object) -> Object:
    return {"valueFrom": {kind: {"name": name, "key": key, **more}}}


@on_a_node
async def test_values_references_and_expansion(node: Node) -> None:
    node.create(CONFIG_MAPS, config("settings", colour="green"))
    node.create(SECRETS, secret("login", password="s3cret"))
    env = [
        {"name": "PLAIN", "value": "one"},
        {"name": "BOTH", "value": "$(PLAIN)-$(UNKNOWN)-$$(PLAIN)"},
        {"name": "COLOUR", **ref("configMapKeyRef", "settings", "colour")},
        {"name": "PASSWORD", **ref("secretKeyRef", "login", "password")},
        {"name": "ABSENT", **ref("configMapKeyRef", "settings", "size", optional=True)},
        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
        {"name": "IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "MILLI", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}},
    ]
    node.run("redis", server(env=env, resources=limits("250m")))
    await node.ready("redis")
    found = node.container("redis").env
    assert {name: found.get(name) for name in ("PLAIN", "BOTH", "COLOUR", "PASSWORD", "POD", "APP", "MILLI")} == {
        "PLAIN": "one",
        "BOTH": "one-$(UNKNOWN)-$(PLAIN)",
        "COLOUR": "green",
        "PASSWORD": "s3cret",
        "POD": "redis",
        "APP": "redis",
        "MILLI": "250",
    }
    assert found["IP"] == node.sandbox("redis").ip
    assert "ABSENT" not in found


@on_a_node
async def test_whole_maps_with_a_prefix_and_env_on_top(node: Node) -> None:
    node.create(CONFIG_MAPS, config("settings", colour="green", size="L"))
    env_from = [{"prefix": "X_", "configMapRef": {"name": "settings"}}]
    node.run("redis", server(envFrom=env_from, env=environment(X_size="XL")))
    await node.ready("redis")
    assert (node.container("redis").env["X_colour"], node.container("redis").env["X_size"]) == ("green", "XL")


@on_a_node
async def test_services_of_the_namespace_are_linked(node: Node) -> None:
    node.service("user-db", 5432)
    node.run("redis", server())
    await node.ready("redis")
    env = node.container("redis").env
    assert env["USER_DB_SERVICE_HOST"] == "10.96.0.20"
    assert env["USER_DB_PORT"] == "tcp://10.96.0.20:5432"
    assert "KUBERNETES_SERVICE_HOST" in env


@on_a_node
async def test_missing_config_map_is_a_config_error_until_it_comes(node: Node) -> None:
    node.run("redis", server(envFrom=[{"configMapRef": {"name": "settings"}}]))
    state = await node.waiting("redis", "CreateContainerConfigError")
    assert state["message"] == 'configmap "settings" not found'
    assert node.events("Failed") == ['Error: configmap "settings" not found']
    node.create(CONFIG_MAPS, config("settings", colour="green"))
    await node.ready("redis", limit_s=20)


@on_a_node
async def test_missing_key_is_a_config_error(node: Node) -> None:
    node.create(SECRETS, secret("login", user="me"))
    node.run("redis", server(env=[{"name": "PASSWORD", **ref("secretKeyRef", "login", "password")}]))
    state = await node.waiting("redis", "CreateContainerConfigError")
    assert state["message"] == f"couldn't find key password in Secret {NAMESPACE}/login"


@on_a_node
async def test_config_map_volume_is_read_and_follows_changes(node: Node) -> None:
    made = node.create(CONFIG_MAPS, config("settings", **{"app.conf": "colour=green"}))
    volume = {"name": "config", "configMap": {"name": "settings"}}
    mount = {"name": "config", "mountPath": "/etc/app"}
    node.run("redis", server(volumeMounts=[mount]), volumes=[volume])
    await node.ready("redis")
    assert (await node.execute("redis", "cat", "/etc/app/app.conf")).stdout == b"colour=green"
    node.store.update(CONFIG_MAPS, {**made, "data": {"app.conf": "colour=red"}})
    assert (await node.execute("redis", "cat", "/etc/app/app.conf")).stdout == b"colour=red"


@on_a_node
async def test_missing_volume_source_keeps_the_pod_creating(node: Node) -> None:
    volume = {"name": "config", "secret": {"secretName": "tls"}}
    node.run("redis", server(volumeMounts=[{"name": "config", "mountPath": "/tls"}]), volumes=[volume])
    await node.until("told", lambda: node.events("FailedMount"))
    assert node.events("FailedMount") == ['MountVolume.SetUp failed for volume "config" : secret "tls" not found']
    assert node.status("redis")["state"]["waiting"]["reason"] == "ContainerCreating"
    node.create(SECRETS, secret("tls", key="k"))
    await node.ready("redis", limit_s=40)


@on_a_node
async def test_containers_of_a_pod_share_an_empty_dir(node: Node) -> None:
    mount = {"name": "logs", "mountPath": "/var/log/service"}
    sidecar = {
        "name": "probe",
        "image": "busybox:1.36",
        "command": ["sh", "-c", "while :; do sleep 60; done"],
        "volumeMounts": [mount],
    }
    node.run("redis", server(volumeMounts=[mount]), sidecar, volumes=[{"name": "logs", "emptyDir": {}}])
    await node.ready("redis")
    await node.execute("redis", "sh", "-c", "echo here > /var/log/service/mark", container="probe")
    assert (await node.execute("redis", "cat", "/var/log/service/mark")).stdout == b"here\n"


@on_a_node
async def test_claimed_volume_outlives_the_pod(node: Node) -> None:
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": NAMESPACE},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    node.create(PERSISTENT_VOLUME_CLAIMS, claim)
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    mounts = [{"name": "data", "mountPath": "/data"}]
    node.run("first", server(volumeMounts=mounts), volumes=volumes)
    await node.ready("first")
    await node.execute("first", "sh", "-c", "echo kept > /data/file")
    node.run("second", server(volumeMounts=mounts), volumes=volumes)
    await node.ready("second")
    assert (await node.execute("second", "cat", "/data/file")).stdout == b"kept\n"
