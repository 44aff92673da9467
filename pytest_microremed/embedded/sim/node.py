"""The Node object of the simulated cluster."""

from __future__ import annotations

import uuid

from pytest_microremed.embedded.api.store import Object, timestamp
from pytest_microremed.embedded.sim.clock import SimClock
from pytest_microremed.embedded.sim.usage import NODE_CORES, NODE_MEMORY

NODE_NAME = "microremed-node-1"
NODE_IP = "172.18.0.2"
KUBELET_VERSION = "v1.34.2"
KERNEL = "6.8.0-45-generic"
MAX_PODS = 250


def node_object(clock: SimClock) -> Object:
    """A node that is ready, with every field that the models of the Python client require."""
    now = timestamp(clock.now())
    amounts = {
        "cpu": str(NODE_CORES),
        "memory": f"{NODE_MEMORY // 1024}Ki",
        "pods": str(MAX_PODS),
        "ephemeral-storage": "488275Mi",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
    }
    pressures = (("MemoryPressure", "sufficient memory"), ("DiskPressure", "no disk pressure"),
                 ("PIDPressure", "sufficient PID"))  # fmt: skip
    conditions = [
        (kind, "False", f"KubeletHas{words.title().replace(' ', '')}", f"kubelet has {words} available")
        for kind, words in pressures
    ]
    conditions.append(("Ready", "True", "KubeletReady", "kubelet is posting ready status"))
    labels = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": NODE_NAME,
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/control-plane": "",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": NODE_NAME, "labels": labels, "annotations": {}},
        "spec": {
            "podCIDR": "10.244.0.0/16",
            "podCIDRs": ["10.244.0.0/16"],
            "providerID": f"simulated://{NODE_NAME}",
        },
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": NODE_IP},
                {"type": "Hostname", "address": NODE_NAME},
            ],
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": message,
                    "lastHeartbeatTime": now,
                    "lastTransitionTime": now,
                }
                for kind, status, reason, message in conditions
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": [],
            "nodeInfo": {
                "architecture": "amd64",
                "bootID": str(uuid.uuid4()),
                "containerRuntimeVersion": "containerd://2.1.5",
                "kernelVersion": KERNEL,
                "kubeProxyVersion": KUBELET_VERSION,
                "kubeletVersion": KUBELET_VERSION,
                "machineID": uuid.uuid4().hex,
                "operatingSystem": "linux",
                "osImage": "Debian GNU/Linux 12 (bookworm)",
                "systemUUID": str(uuid.uuid4()),
            },
        },
    }
