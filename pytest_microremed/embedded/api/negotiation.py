"""In which form a client wants its answer (Kubernetes API concepts: alternate representations; only JSON)."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from pytest_microremed.embedded.api.errors import not_acceptable

_JSON = ("application/json", "application/*", "*/*")


class Form(Enum):
    OBJECT = "object"
    TABLE = "table"
    PARTIAL = "partial"
    """Only the metadata (PartialObjectMetadata)."""
    DISCOVERY = "discovery"
    """APIGroupDiscoveryList v2."""


_FORMS = {
    ("Table", "v1", "meta.k8s.io"): Form.TABLE,
    ("PartialObjectMetadata", "v1", "meta.k8s.io"): Form.PARTIAL,
    ("PartialObjectMetadataList", "v1", "meta.k8s.io"): Form.PARTIAL,
    ("APIGroupDiscoveryList", "v2", "apidiscovery.k8s.io"): Form.DISCOVERY,
}


@lru_cache(maxsize=256)
def negotiate(accept: str) -> Form:
    """The first form of the Accept header that is served. Raises ApiError 406 if none is."""
    if not accept:
        return Form.OBJECT
    for clause in accept.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        values = dict(parameter.partition("=")[::2] for parameter in parameters)
        if media_type not in _JSON:
            continue
        if "as" not in values:
            return Form.OBJECT
        form = _FORMS.get((values["as"], values.get("v", ""), values.get("g", "")))
        if form is not None:
            return form
    raise not_acceptable(["application/json"])
