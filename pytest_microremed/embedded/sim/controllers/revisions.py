"""ControllerRevisions: the pod templates that a StatefulSet or DaemonSet has had.

Source: apps/v1 ControllerRevision; `kubectl rollout history` and `undo` read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytest_microremed.embedded.api.resources import CONTROLLER_REVISIONS
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.controllers.ownership import labels_of, owned, owner_reference
from pytest_microremed.embedded.sim.controllers.templates import same_template, short_hash, template_hash

REVISION_LABEL = "controller-revision-hash"
_HASH_LABEL = "controller.kubernetes.io/hash"


def revisions_of(store: Store, owner: Object) -> list[Object]:
    """All revisions of the owner, the oldest first."""
    return sorted(owned(store, CONTROLLER_REVISIONS, owner), key=lambda revision: int(revision["revision"]))


def template_of(revision: Object) -> dict[str, Any]:
    """The pod template that a revision keeps."""
    template = revision["data"]["spec"]["template"]
    return {key: value for key, value in template.items() if key != "$patch"}


def current_revision(store: Store, owner: Object) -> Object:
    """The revision of the owner's present template: a new one, or an old one made the newest again."""
    template = owner["spec"]["template"]
    known = revisions_of(store, owner)
    number = known[-1]["revision"] + 1 if known else 1
    same = next((each for each in reversed(known) if same_template(template_of(each), template)), None)
    if same is None:
        return store.create(CONTROLLER_REVISIONS, _revision(store, owner, number))
    if same is known[-1]:
        return same
    return store.update(CONTROLLER_REVISIONS, {**same, "revision": number})


def clean_up(store: Store, owner: Object, used: Iterable[str]) -> None:
    """Remove the oldest revisions above revisionHistoryLimit, but none that is named among the used ones."""
    live = set(used)
    idle = [each for each in revisions_of(store, owner) if each["metadata"]["name"] not in live]
    limit = owner["spec"].get("revisionHistoryLimit", 10)
    for each in idle[: max(0, len(idle) - limit)]:
        store.delete(CONTROLLER_REVISIONS, each)


def _revision(store: Store, owner: Object, number: int) -> Object:
    meta, template = owner["metadata"], owner["spec"]["template"]
    digest = template_hash(template)
    while store.get(CONTROLLER_REVISIONS, meta["namespace"], f"{meta['name']}-{digest}") is not None:
        digest = short_hash(digest)
    labels = (template.get("metadata") or {}).get("labels") or {}
    annotations = meta.get("annotations")
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": f"{meta['name']}-{digest}",
            "namespace": meta["namespace"],
            "labels": {**labels, _HASH_LABEL: digest},
            **({"annotations": annotations} if annotations else {}),
            "ownerReferences": [owner_reference(owner)],
        },
        "data": {"spec": {"template": {**template, "$patch": "replace"}}},
        "revision": number,
    }


def revision_hash(revision: Object) -> str:
    """The part of its name that tells the template."""
    return labels_of(revision)[_HASH_LABEL]


def revision_on(pod: Object) -> str:
    """The value of the pod's revision label: a revision's name (StatefulSet) or hash (DaemonSet)."""
    return labels_of(pod).get(REVISION_LABEL, "")
