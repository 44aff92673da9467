"""Faults of configuration: a wrong pod template, put in force at once and in every pod of the workload."""

from __future__ import annotations

import copy
from collections.abc import Callable

from pytest_microremed.cluster.cluster import Cluster, Conflict
from pytest_microremed.cluster.kinds import PODS, Obj
from pytest_microremed.errors import ClusterError, NotPosed
from pytest_microremed.faults.mutation import Mutation
from pytest_microremed.faults.target import Target, name_of
from pytest_microremed.systems.system import Workload

REPLACE_S = 180.0
"""How long the old pods may take to go, in cluster seconds."""
_TRIES = 5


class ConfigurationInjection:
    """A wrong configuration in a workload's pod template, so that every new pod has it as well.

    A rolling update alone would do no harm: where the new pod does not come up, the old one goes on
    serving. So the old pods are made to go first: a Deployment by the strategy Recreate, which is set back
    afterwards, a StatefulSet by deleting them. The template changes once: the rollout history then holds
    the right revision just before the wrong one, as after a bad release.
    """

    mechanism = "configuration"

    def __init__(self, cluster: Cluster, workload: Workload, namespace: str, mutation: Mutation) -> None:
        self.cluster = cluster
        self.workload = workload
        self.namespace = namespace
        self.mutation = mutation
        self._template: Obj | None = None
        """The right one, saved before the change."""

    def start(self) -> None:
        """Make the change, and wait until all pods have it. NotPosed or ClusterError if that fails."""
        target = Target(self.cluster, self.workload, self.namespace)
        old = {pod["metadata"]["uid"] for pod in target.look().pods}
        found = self._get()
        if found is None:
            raise NotPosed(f"{self.workload.kind} {self.workload.name} does not exist")
        template, strategy = found["spec"]["template"], found["spec"].get("strategy")
        self._template = copy.deepcopy(template)

        def make_wrong(spec: Obj) -> None:
            spec["template"] = self.mutation.apply(template)
            if self.workload.kind == "Deployment":
                spec["strategy"] = {"type": "Recreate"}

        self._change(make_wrong)
        if self.workload.kind == "StatefulSet":
            for pod in target.look().pods:
                self.cluster.delete(PODS, self.namespace, name_of(pod))

        def replaced() -> bool:
            pods = target.look().pods
            return bool(pods) and all(
                pod["metadata"]["uid"] not in old and self.mutation.is_in({"spec": pod["spec"]}) for pod in pods
            )

        self.cluster.wait_for(f"{self.workload.name}: its pods replaced by misconfigured ones", replaced, REPLACE_S)
        if self.workload.kind == "Deployment":
            self._change(lambda spec: spec.update(strategy=strategy))

    def active(self) -> bool:
        """Whether the workload's template still has the change as it was made."""
        found = self._get()
        return found is not None and self.mutation.is_in(found["spec"]["template"])

    def stop(self) -> None:
        """Put the saved template back, if it has changed; a workload that is gone is left to the system's
        restoration."""
        if self._template is not None and self._get() is not None:
            self._change(lambda spec: spec.update(template=self._template))

    def _get(self) -> Obj | None:
        return self.cluster.get(self.workload.object_kind, self.namespace, self.workload.name)

    def _change(self, change: Callable[[Obj], None]) -> None:
        """Read, change the spec, write; again where somebody else wrote in between."""
        for _ in range(_TRIES):
            found = self._get()
            if found is None:
                break
            change(found["spec"])
            try:
                self.cluster.replace(found)
            except Conflict:
                continue
            return
        raise ClusterError(f"{self.workload.kind} {self.namespace}/{self.workload.name} could not be changed")
