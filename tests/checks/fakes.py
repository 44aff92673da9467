"""A cluster made of a few objects by hand, for the logic of checks: no HTTP, no time passes but by
sleeping."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from pytest_microremed.cluster.cluster import Cluster, Conflict, ContainerUsage, ExecOutput, RequestFailed
from pytest_microremed.cluster.kinds import DEPLOYMENTS, PODS, Kind, Obj, kind_of
from pytest_microremed.systems.system import (
    PROBE_CONTAINER,
    Dependency,
    Readiness,
    Resources,
    Service,
    System,
    Workload,
)

NAMESPACE = "shop"
START = datetime(2026, 1, 1, tzinfo=UTC)

CART = Workload(
    name="cart",
    image="cart:1",
    container="server",
    requests=Resources("100m", "64Mi"),
    limits=Resources("200m", "256Mi"),
    readiness=Readiness("http"),
    port=8080,
    protocol="http",
    http_path="/",
    services=(Service("cart", 80, 8080),),
    environment={"PORT": "8080"},
    dependencies=(Dependency("REDIS_ADDR", "redis", 6379),),
)
REDIS = Workload(
    name="redis",
    image="redis:alpine",
    container="redis",
    requests=Resources("100m", "64Mi"),
    limits=Resources("200m", "256Mi"),
    readiness=Readiness("tcp"),
    port=6379,
    services=(Service("redis", 6379),),
)
SHOP = System(namespace=NAMESPACE, workloads={"cart": CART, "redis": REDIS}, name="shop")


class FakeClock:
    """Stands still until somebody sleeps."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.at: list[tuple[float, Callable[[], None]]] = []
        """What happens when, to be put in by tests."""

    def now(self) -> float:
        return self.seconds

    def sleep(self, seconds: float) -> None:
        self.seconds += seconds
        due = [entry for entry in self.at if entry[0] <= self.seconds]
        self.at = [entry for entry in self.at if entry[0] > self.seconds]
        for _, happen in due:
            happen()


class FakeCluster(Cluster):
    """Objects by kind, namespace and name; usage and command output as the test says."""

    def __init__(self) -> None:
        self.clock = self.time = FakeClock()
        self.name = "fake"
        self.objects: dict[tuple[str, str | None, str], Obj] = {}
        self.used: dict[tuple[str, str], tuple[float, float]] = {}
        """Cores and bytes by pod and container."""
        self.answers: Callable[[str, str, Sequence[str]], ExecOutput | Exception] = lambda *_: ExecOutput("", "", 0)
        self.commands: list[tuple[str, str, Sequence[str]]] = []
        self.numbers = 0
        self.sampled = START

    def put(self, obj: Obj) -> Obj:
        meta = obj["metadata"]
        self.numbers += 1
        meta.setdefault("uid", f"uid-{self.numbers}")
        self.objects[kind_of(obj).kind, meta.get("namespace"), meta["name"]] = obj
        return obj

    def remove(self, kind: Kind, name: str) -> None:
        del self.objects[kind.kind, NAMESPACE, name]

    def get(self, kind: Kind, namespace: str | None, name: str) -> Obj | None:
        return copy.deepcopy(self.objects.get((kind.kind, namespace, name)))

    def list(self, kind: Kind, namespace: str | None, labels: Mapping[str, str] | None = None) -> Any:
        return [
            copy.deepcopy(obj)
            for (of_kind, of_namespace, _), obj in self.objects.items()
            if of_kind == kind.kind
            and namespace in (None, of_namespace)
            and (labels or {}).items() <= obj["metadata"].get("labels", {}).items()
        ]

    def create(self, obj: Obj) -> Obj:
        if self.get(kind_of(obj), obj["metadata"].get("namespace"), obj["metadata"]["name"]):
            raise Conflict("POST", obj["kind"], 409, "already exists")
        return self.put(copy.deepcopy(obj))

    def replace(self, obj: Obj) -> Obj:
        return self.put(copy.deepcopy(obj))

    def patch(self, kind: Kind, namespace: str | None, name: str, patch: Any, *, how: Any = "merge") -> Obj:
        obj = self.objects[kind.kind, namespace, name]
        merge(obj, patch)
        return obj

    def delete(self, kind: Kind, namespace: str | None, name: str, *, grace_s: int | None = None) -> None:
        self.objects.pop((kind.kind, namespace, name), None)

    def execute(
        self, namespace: str, pod: str, container: str, command: Sequence[str], *, timeout_s: float
    ) -> ExecOutput:
        self.commands.append((pod, container, command))
        answer = self.answers(pod, container, command)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def usage(self, namespace: str, labels: Mapping[str, str]) -> Any:
        return [
            ContainerUsage(pod, container, cores, int(size), self.sampled)
            for (pod, container), (cores, size) in self.used.items()
        ]

    def sample(self) -> None:
        """Time passes on the metrics server."""
        self.sampled += timedelta(seconds=15)


def merge(obj: Obj, patch: Obj) -> None:
    for key, value in patch.items():
        if isinstance(value, dict):
            merge(obj.setdefault(key, {}), value)
        else:
            obj[key] = value


def failed(message: str, status: int = 500) -> RequestFailed:
    return RequestFailed("EXEC", "pod", status, message)


def deployment(workload: Workload = CART, replicas: int = 1) -> Obj:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": workload.name,
            "namespace": NAMESPACE,
            "uid": f"{workload.name}-deployment",
            "generation": 1,
        },
        "spec": {
            "replicas": replicas,
            "strategy": {
                "type": "RollingUpdate",
                "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
            },
            "template": {
                "metadata": {"labels": workload.labels},
                "spec": {"containers": containers(workload)},
            },
        },
        "status": {
            "observedGeneration": 1,
            "replicas": replicas,
            "updatedReplicas": replicas,
            "readyReplicas": replicas,
        },
    }


def replica_set(workload: Workload = CART) -> Obj:
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{workload.name}-rs",
            "namespace": NAMESPACE,
            "uid": f"{workload.name}-rs",
            "labels": workload.labels,
            "ownerReferences": [
                {
                    "kind": "Deployment",
                    "uid": f"{workload.name}-deployment",
                    "controller": True,
                    "name": workload.name,
                }
            ],
        },
    }


def containers(workload: Workload) -> list[Obj]:
    limits = {"cpu": workload.cpu_limit, "memory": workload.memory_limit}
    return [
        {
            "name": workload.container,
            "image": workload.image,
            "env": [{"name": name, "value": value} for name, value in workload.env.items()],
            "resources": {"limits": limits},
            "readinessProbe": {
                "tcpSocket": {"port": workload.port},
                "periodSeconds": 10,
                "failureThreshold": 3,
            },
        },
        {
            "name": PROBE_CONTAINER,
            "image": "busybox:1.36",
            "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}},
        },
    ]


def pod(workload: Workload = CART, name: str = "cart-a", *, ready: bool = True, owned: bool = True) -> Obj:
    owner = {
        "kind": "ReplicaSet",
        "uid": f"{workload.name}-rs",
        "controller": True,
        "name": f"{workload.name}-rs",
    }
    specs = containers(workload)
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"uid-of-{name}",
            "labels": dict(workload.labels),
            "ownerReferences": [owner] if owned else [],
        },
        "spec": {"containers": specs},
        "status": {
            "phase": "Running",
            "podIP": "10.0.0.1",
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
            "containerStatuses": [
                {
                    "name": spec["name"],
                    "containerID": f"containerd://{name}-{spec['name']}",
                    "state": {"running": {"startedAt": (START - timedelta(minutes=5)).isoformat()}},
                }
                for spec in specs
            ],
        },
    }


def endpoints(*pods: Obj, port: int = 8080, name: str = "cart") -> Obj:
    return {
        "apiVersion": "v1",
        "kind": "Endpoints",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "subsets": [
            {
                "addresses": [
                    {"ip": p["status"]["podIP"], "targetRef": {"kind": "Pod", "uid": p["metadata"]["uid"]}}
                    for p in pods
                ],
                "ports": [{"port": port}],
            }
        ]
        if pods
        else [],
    }


def shop() -> FakeCluster:
    """The healthy shop: a cart and a redis, one pod each."""
    cluster = FakeCluster()
    for workload, name in ((CART, "cart-a"), (REDIS, "redis-a")):
        cluster.put(deployment(workload))
        cluster.put(replica_set(workload))
        cluster.put(pod(workload, name))
        cluster.used[name, workload.container] = (0.02, 50 * 2**20)
        cluster.used[name, PROBE_CONTAINER] = (0.0, 2**20)
    cluster.put(endpoints(cluster.objects["Pod", NAMESPACE, "cart-a"]))
    return cluster


def the_pod(cluster: FakeCluster, name: str = "cart-a") -> Obj:
    return cluster.objects[PODS.kind, NAMESPACE, name]


def the_deployment(cluster: FakeCluster, name: str = "cart") -> Obj:
    return cluster.objects[DEPLOYMENTS.kind, NAMESPACE, name]
