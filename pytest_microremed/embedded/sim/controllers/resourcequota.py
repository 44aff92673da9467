"""ResourceQuotas: their status shows what the namespace uses."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.quota import usage, used_text
from pytest_microremed.embedded.api.resources import BUILT_IN, EVENTS, RESOURCE_QUOTAS
from pytest_microremed.embedded.api.store import Change
from pytest_microremed.embedded.sim.controllers.base import Controller, Key, key_of
from pytest_microremed.embedded.sim.controllers.status import write_status


class ResourceQuotaController(Controller):
    component = "resourcequota-controller"
    watches = tuple(resource for resource in BUILT_IN if resource.namespaced and resource is not EVENTS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._quotas: dict[Key, None] = {}

    def keys(self, change: Change) -> Iterable[Key]:
        if change.resource is RESOURCE_QUOTAS:
            key = key_of(change.obj)
            if change.type == "DELETED":
                self._quotas.pop(key, None)
            else:
                self._quotas[key] = None
        namespace = change.obj["metadata"]["namespace"]
        return [key for key in self._quotas if key[0] == namespace]

    def reconcile(self, namespace: str, name: str) -> None:
        quota = self.store.get(RESOURCE_QUOTAS, namespace, name)
        if quota is not None:
            status = {"hard": quota["spec"].get("hard") or {}, "used": used_text(usage(quota, self.store))}
            write_status(self.store, RESOURCE_QUOTAS, quota, status)
