"""The verbs of the API on plain JSON objects."""

from __future__ import annotations

import pytest

from pytest_microremed.cluster.cluster import Cluster, Conflict, Obj, RequestFailed
from pytest_microremed.cluster.kinds import CONFIG_MAPS, ENDPOINTS, PODS
from pytest_microremed.errors import ClusterError


def config_map(name: str, **data: str) -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "shop", "labels": {"test": name}},
        "data": data,
    }


def test_create_get_replace_delete(cluster: Cluster, namespace: str) -> None:
    created = cluster.create(config_map("verbs", a="1"))
    assert created["metadata"]["uid"]
    with pytest.raises(Conflict, match=r"POST ConfigMap shop/verbs: 409: .*already exists"):
        cluster.create(config_map("verbs"))
    cluster.replace(config_map("verbs", b="2"))
    found = cluster.get(CONFIG_MAPS, namespace, "verbs")
    assert found
    assert found["data"] == {"b": "2"}
    with pytest.raises(Conflict):
        cluster.replace(created)  # with the resourceVersion of before
    cluster.delete(CONFIG_MAPS, namespace, "verbs")
    assert cluster.get(CONFIG_MAPS, namespace, "verbs") is None
    cluster.delete(CONFIG_MAPS, namespace, "verbs")


def test_patches(cluster: Cluster, namespace: str) -> None:
    cluster.create(config_map("patched", a="1", b="2"))
    assert cluster.patch(CONFIG_MAPS, namespace, "patched", {"data": {"a": None}})["data"] == {"b": "2"}
    added = [{"op": "add", "path": "/data/c", "value": "3"}]
    assert cluster.patch(CONFIG_MAPS, namespace, "patched", added, how="json")["data"] == {"b": "2", "c": "3"}
    with pytest.raises(RequestFailed, match=r"PATCH ConfigMap shop/nothing: 404: .*not found"):
        cluster.patch(CONFIG_MAPS, namespace, "nothing", {"data": {}})


def test_apply_creates_and_takes_over(cluster: Cluster, namespace: str) -> None:
    cluster.apply(config_map("applied", a="1"))
    cluster.patch(CONFIG_MAPS, namespace, "applied", {"data": {"a": "9"}})
    assert cluster.apply(config_map("applied", a="2"))["data"] == {"a": "2"}


def test_listed_objects_say_their_kind(cluster: Cluster, namespace: str) -> None:
    cluster.create(config_map("listed"))
    (only,) = cluster.list(CONFIG_MAPS, namespace, {"test": "listed"})
    assert (only["apiVersion"], only["kind"], only["metadata"]["name"]) == ("v1", "ConfigMap", "listed")
    cluster.replace({**only, "data": {"a": "1"}})
    cluster.delete_all(CONFIG_MAPS, namespace, {"test": "listed"})
    assert cluster.list(CONFIG_MAPS, namespace, {"test": "listed"}) == []
    assert cluster.list(ENDPOINTS, "no-such-namespace") == []


def test_names_may_be_generated(cluster: Cluster, namespace: str) -> None:
    obj = config_map("x")
    obj["metadata"] = {"generateName": "made-", "namespace": namespace}
    assert cluster.create(obj)["metadata"]["name"].startswith("made-")


def test_an_unknown_kind_is_not_guessed(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match=r"no kind 'Gadget' of 'v1' is known here"):
        cluster.create({"apiVersion": "v1", "kind": "Gadget", "metadata": {"name": "g"}})


def test_exec_gives_both_streams_and_the_exit_code(cluster: Cluster, namespace: str) -> None:
    output = cluster.execute(namespace, "web", "shell", ["sh", "-c", "echo out; echo err >&2; exit 3"], timeout_s=30)
    assert (output.stdout, output.stderr, output.exit_code) == ("out\n", "err\n", 3)
    assert cluster.execute(namespace, "web", "shell", ["true"], timeout_s=30).exit_code == 0


def test_exec_where_there_is_nothing(cluster: Cluster, namespace: str) -> None:
    with pytest.raises(RequestFailed, match=r"EXEC Pod shop/gone container shell: 404: .*not found"):
        cluster.execute(namespace, "gone", "shell", ["true"], timeout_s=30)
    with pytest.raises(RequestFailed, match=r"EXEC Pod shop/web container nope: 4\d\d: .*nope"):
        cluster.execute(namespace, "web", "nope", ["true"], timeout_s=30)


def test_exec_of_much_output(cluster: Cluster, namespace: str) -> None:
    output = cluster.execute(namespace, "web", "shell", ["sh", "-c", "yes abcdefg | head -n 20000"], timeout_s=30)
    assert output.stdout == "abcdefg\n" * 20000


def test_usage_comes_in_cores_and_bytes(cluster: Cluster, namespace: str) -> None:
    (sample,) = cluster.wait_for("metrics of web", lambda: cluster.usage(namespace, {"app": "web"}), 120)
    assert (sample.pod, sample.container) == ("web", "shell")
    assert 0 <= sample.cpu_cores < 0.5
    assert 0 < sample.memory_bytes < 64 * 2**20
    assert cluster.usage(namespace, {"app": "nobody"}) == []


def test_a_pod_can_be_deleted_at_once(cluster: Cluster, namespace: str) -> None:
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "brief", "namespace": namespace},
        "spec": {"containers": [{"name": "shell", "image": "busybox:1.36", "command": ["sleep", "infinity"]}]},
    }
    cluster.create(pod)
    cluster.delete(PODS, namespace, "brief", grace_s=0)
    cluster.wait_for("brief gone", lambda: cluster.get(PODS, namespace, "brief") is None, 60)
