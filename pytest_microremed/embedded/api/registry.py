"""Which resources are served: built-in ones, virtual ones (reviews, metrics) and custom ones."""

from __future__ import annotations

from pytest_microremed.embedded.api.resources import BUILT_IN, OTHER_VERSIONS, Resource

_CREATE = ("create",)
_READ = ("get", "list")


def _review(group: str, plural: str, kind: str, *, namespaced: bool = False) -> Resource:
    return Resource(group, "v1", plural, kind, namespaced, subresources=(), verbs=_CREATE)


TOKEN_REVIEWS = _review("authentication.k8s.io", "tokenreviews", "TokenReview")
SELF_SUBJECT_REVIEWS = _review("authentication.k8s.io", "selfsubjectreviews", "SelfSubjectReview")
SUBJECT_ACCESS_REVIEWS = _review("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview")
LOCAL_SUBJECT_ACCESS_REVIEWS = _review(
    "authorization.k8s.io", "localsubjectaccessreviews", "LocalSubjectAccessReview", namespaced=True
)
SELF_SUBJECT_ACCESS_REVIEWS = _review("authorization.k8s.io", "selfsubjectaccessreviews", "SelfSubjectAccessReview")
SELF_SUBJECT_RULES_REVIEWS = _review("authorization.k8s.io", "selfsubjectrulesreviews", "SelfSubjectRulesReview")
REVIEWS = (
    TOKEN_REVIEWS, SELF_SUBJECT_REVIEWS, SUBJECT_ACCESS_REVIEWS, LOCAL_SUBJECT_ACCESS_REVIEWS,
    SELF_SUBJECT_ACCESS_REVIEWS, SELF_SUBJECT_RULES_REVIEWS,
)  # fmt: skip

POD_METRICS = Resource("metrics.k8s.io", "v1beta1", "pods", "PodMetrics", subresources=(), verbs=_READ)
NODE_METRICS = Resource("metrics.k8s.io", "v1beta1", "nodes", "NodeMetrics", False, subresources=(), verbs=_READ)
METRICS = (POD_METRICS, NODE_METRICS)
VIRTUAL = frozenset((*REVIEWS, *METRICS))
"""Resources that are answered, not stored."""


class Registry:
    """The served resources, by API version and plural name, in the order in which discovery gives them."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str], Resource] = {}
        self.revision = 0
        """Goes up with each change, for those who cache what they derive."""
        for resource in (*BUILT_IN, *OTHER_VERSIONS, *REVIEWS, *METRICS):
            self.add(resource)

    def add(self, resource: Resource) -> None:
        self._resources[resource.api_version, resource.plural] = resource
        self.revision += 1

    def remove(self, resource: Resource) -> None:
        self._resources.pop((resource.api_version, resource.plural), None)
        self.revision += 1

    def find(self, api_version: str, plural: str) -> Resource | None:
        return self._resources.get((api_version, plural))

    def all(self) -> list[Resource]:
        return list(self._resources.values())

    def api_versions(self) -> list[str]:
        """`v1`, `apps/v1`, …: each once."""
        return list(dict.fromkeys(api_version for api_version, _ in self._resources))

    def of(self, api_version: str) -> list[Resource]:
        """The resources of one API version."""
        return [resource for (version, _), resource in self._resources.items() if version == api_version]
