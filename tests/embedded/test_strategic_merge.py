"""Strategic merge patches, compared with the Go library: `kubectl patch --local` runs it without a cluster."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_microremed.embedded.api.resources import (
    DEPLOYMENTS,
    PODS,
    SERVICES,
    STATEFUL_SETS,
    Resource,
)
from pytest_microremed.embedded.api.schema import schema_of
from pytest_microremed.embedded.api.strategic import StrategicPatchError, strategic_merge

Object = dict[str, Any]

NAMES = st.sampled_from(["a", "b", "c", "d"])


def oracle(obj: Object, patch: Object) -> Object | str:
    """What kubectl makes of it: the patched object, or its error."""
    done = subprocess.run(
        ["kubectl", "patch", "--local", "-f", "-", "-p", json.dumps(patch), "-o", "json"],
        input=json.dumps(obj),
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "KUBECONFIG": "/dev/null"},
        capture_output=True,
        text=True,
        check=False,
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.strip()


def patched(resource: Resource, obj: Object, patch: Object) -> Object | str:
    try:
        return strategic_merge(obj, patch, schema_of(resource))
    except StrategicPatchError as error:
        return f"error: {error}".strip()


def unique(items: st.SearchStrategy[Object], key: str, most: int = 3, least: int = 0) -> st.SearchStrategy[Any]:
    return st.lists(items, min_size=least, max_size=most, unique_by=lambda item: item[key])


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Object]:
    return st.fixed_dictionaries({}, optional=fields)


def with_fields(
    required: dict[str, st.SearchStrategy[Any]], **fields: st.SearchStrategy[Any]
) -> st.SearchStrategy[Object]:
    return st.fixed_dictionaries(required, optional=fields)


VARIABLES = with_fields({"name": NAMES}, value=st.sampled_from(["1", "2"]))
PORTS = with_fields(
    {"containerPort": st.sampled_from([80, 81, 82])}, name=NAMES, protocol=st.sampled_from(["TCP", "UDP"])
)
RESOURCES = optional(
    limits=st.dictionaries(st.sampled_from(["cpu", "memory"]), st.sampled_from(["1", "2"]), max_size=2)
)
CONTAINERS = with_fields(
    {"name": NAMES},
    image=st.sampled_from(["i1", "i2"]),
    args=st.lists(NAMES, max_size=2),
    env=unique(VARIABLES, "name"),
    ports=unique(PORTS, "containerPort"),
    resources=RESOURCES,
    volumeMounts=unique(with_fields({"name": NAMES, "mountPath": NAMES}), "mountPath", 2),
    securityContext=optional(runAsUser=st.integers(0, 1), capabilities=optional(add=st.lists(NAMES, max_size=2))),
)
VOLUMES = st.one_of(
    with_fields({"name": NAMES, "emptyDir": st.just({})}),
    with_fields({"name": NAMES, "hostPath": st.just({"path": "/x"})}),
)
POD_SPECS = with_fields(
    {"containers": unique(CONTAINERS, "name", least=1)},
    volumes=unique(VOLUMES, "name", 2),
    tolerations=st.lists(with_fields({"key": NAMES}), max_size=2),
    imagePullSecrets=unique(with_fields({"name": NAMES}), "name"),
    nodeSelector=st.dictionaries(NAMES, st.just("1"), max_size=2),
    hostAliases=unique(with_fields({"ip": NAMES}, hostnames=st.lists(NAMES, max_size=2)), "ip", 2),
)
METADATA = with_fields(
    {"name": st.just("x")},
    labels=st.dictionaries(NAMES, NAMES, max_size=2),
    finalizers=st.lists(NAMES, max_size=3, unique=True),
)
SERVICE_SPECS = optional(
    ports=unique(
        with_fields({"port": st.sampled_from([80, 81, 82])}, name=NAMES, targetPort=st.integers(1, 2)), "port"
    ),
    selector=st.dictionaries(NAMES, NAMES, max_size=2),
    type=st.sampled_from(["ClusterIP", "NodePort"]),
)
STRATEGY = st.sampled_from([{"type": "Recreate"}, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}])
PLACES: dict[str, Resource] = {
    "Deployment": DEPLOYMENTS,
    "StatefulSet": STATEFUL_SETS,
    "Pod": PODS,
    "Service": SERVICES,
}


@st.composite
def objects(draw: st.DrawFn, kind: str) -> Object:
    """An object of the kind, without directives."""
    obj: Object = {"apiVersion": PLACES[kind].api_version, "kind": kind, "metadata": draw(METADATA)}
    if kind == "Service":
        return {**obj, "spec": draw(SERVICE_SPECS)}
    spec = draw(POD_SPECS)
    if kind == "Pod":
        return {**obj, "spec": spec}
    content: Object = {"replicas": draw(st.integers(0, 2)), "template": {"spec": spec}}
    if kind == "Deployment" and draw(st.booleans()):
        content["strategy"] = draw(STRATEGY)
    return {**obj, "spec": content}


@st.composite
def directed(draw: st.DrawFn, value: Any, key: str = "name") -> Any:
    """The same value, sprinkled with nulls and directives."""
    if isinstance(value, dict):
        changed: dict[str, Any] = {}
        for name, item in value.items():
            keep = name in ("name", "mountPath", "containerPort", "port", "ip", "metadata", "spec", "template")
            if not keep and draw(st.integers(0, 9)) == 0:
                changed[name] = None
                continue
            changed[name] = draw(directed(item))
            if name == "finalizers" and item and draw(st.booleans()):
                # An item both added and deleted is up to the order of Go's maps, which is random.
                gone = draw(st.sampled_from([other for other in "abcd" if other not in item]))
                changed[f"$deleteFromPrimitiveList/{name}"] = [gone]
            if name in ("containers", "finalizers", "ports") and draw(st.integers(0, 3)) == 0:
                changed[f"$setElementOrder/{name}"] = order_of(changed[name], draw(st.lists(NAMES, max_size=1)))
        if draw(st.integers(0, 24)) == 0:
            changed["$patch"] = draw(st.sampled_from(["replace", "delete"]))
        if ("emptyDir" in value or "hostPath" in value) and draw(st.booleans()):
            changed["$retainKeys"] = [name for name in value if value[name] is not None]
        return changed
    if isinstance(value, list):
        return [draw(directed(item)) for item in value]
    return value


def order_of(items: list[Any], more: list[str]) -> list[Any]:
    keys = ("name", "containerPort", "port", "ip")
    order: list[Any] = []
    for item in items:
        key = next((name for name in keys if isinstance(item, dict) and name in item), None)
        order.append({key: item[key]} if key else item)
    return order + (more if items and isinstance(items[0], str) else [])


def without_identity(patch: Object) -> Object:
    return {key: value for key, value in patch.items() if key not in ("apiVersion", "kind", "$patch")}


@pytest.mark.parametrize("kind", PLACES)
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(data=st.data())
def test_the_result_is_that_of_the_go_library(kind: str, data: st.DataObject) -> None:
    obj = data.draw(objects(kind), "object")
    patch = without_identity(data.draw(objects(kind).flatmap(directed), "patch"))
    assert patched(PLACES[kind], obj, patch) == oracle(obj, patch)


CONTAINER = {"name": "a", "image": "x"}


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": [{"name": "a", "$patch": "merge"}]},
        {"$patch": "merge", "nodeName": "x"},
        {"$patch": "other"},
        {"containers": [{"image": "y"}]},
        {"containers": ["x"]},
        {"containers": [["x"]]},
        {"$setElementOrder/foo": [{"name": "b"}]},
        {"$setElementOrder/containers": [{"name": "b"}], "containers": [{"name": "a"}]},
        {"$setElementOrder/containers": {}},
        {"securityContext": {"$retainKeys": "fsGroup"}},
        {"securityContext": {"$retainKeys": ["x"], "fsGroup": 1}},
        {"containers": {"name": "a"}},
        {"securityContext": {"seLinuxOptions": {"$patch": "replace", "level": "x"}, "fsGroup": 3}},
        {"volumes": [{"name": "v", "$patch": "delete"}, {"name": "w", "emptyDir": {}, "hostPath": None}]},
        {"containers": []},
        {"containers": [{"$patch": "replace"}, {"name": "z"}]},
    ],
    ids=str,
)
def test_directives_and_their_errors_are_those_of_the_go_library(spec: Object) -> None:
    security = {"runAsUser": 1}
    obj = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "x"},
        "spec": {"containers": [CONTAINER, {"name": "b"}], "securityContext": security},
    }
    assert patched(PODS, obj, {"spec": spec}) == oracle(obj, {"spec": spec})


def test_neither_the_object_nor_the_patch_is_changed() -> None:
    obj = {"spec": {"containers": [CONTAINER], "nodeSelector": {"a": "1"}}}
    patch = {"spec": {"containers": [{"name": "a", "image": None}], "nodeSelector": {"$patch": "replace"}}}
    before = json.dumps([obj, patch])
    strategic_merge(obj, patch, schema_of(PODS))
    assert json.dumps([obj, patch]) == before
