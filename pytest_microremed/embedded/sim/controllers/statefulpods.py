"""The identity of a StatefulSet's pods: names, labels, host names and claims."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_microremed.embedded.api.store import Object
from pytest_microremed.embedded.sim.controllers.podwriter import pod_from_template
from pytest_microremed.embedded.sim.controllers.revisions import REVISION_LABEL

POD_NAME_LABEL = "statefulset.kubernetes.io/pod-name"
POD_INDEX_LABEL = "apps.kubernetes.io/pod-index"


def ordinal(stateful_set: Object, pod: Object) -> int | None:
    """The number at the end of the pod's name; None if the pod is not named after the set."""
    parent, _, number = pod["metadata"]["name"].rpartition("-")
    return int(number) if parent == stateful_set["metadata"]["name"] and number.isdigit() else None


def stateful_pod(stateful_set: Object, number: int, template: Mapping[str, Any], revision: str) -> Object:
    """The pod of an ordinal, with its own claims in place of template volumes of the same name."""
    name = f"{stateful_set['metadata']['name']}-{number}"
    labels = {POD_NAME_LABEL: name, POD_INDEX_LABEL: str(number), REVISION_LABEL: revision}
    pod = pod_from_template(stateful_set, template, name, labels)
    own = {
        claim["metadata"]["name"]: _claim_name(stateful_set, claim, number)
        for claim in stateful_set["spec"].get("volumeClaimTemplates") or ()
    }
    volumes = [volume for volume in pod["spec"].get("volumes") or () if volume["name"] not in own]
    volumes += [{"name": name, "persistentVolumeClaim": {"claimName": claim}} for name, claim in own.items()]
    pod["spec"] = {
        **pod["spec"],
        "hostname": name,
        "subdomain": stateful_set["spec"].get("serviceName", ""),
        **({"volumes": volumes} if volumes else {}),
    }
    return pod


def claims_of(stateful_set: Object, number: int) -> list[Object]:
    """The PersistentVolumeClaims of an ordinal. They outlive the pod and the set."""
    selected = stateful_set["spec"]["selector"].get("matchLabels") or {}
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": _claim_name(stateful_set, claim, number),
                "namespace": stateful_set["metadata"]["namespace"],
                "labels": {**(claim["metadata"].get("labels") or {}), **selected},
            },
            "spec": {"volumeMode": "Filesystem", **claim["spec"]},
            "status": {"phase": "Pending"},
        }
        for claim in stateful_set["spec"].get("volumeClaimTemplates") or ()
    ]


def _claim_name(stateful_set: Object, claim: Object, number: int) -> str:
    return f"{claim['metadata']['name']}-{stateful_set['metadata']['name']}-{number}"
