"""Who may do what: roles, bindings, the words of a refusal, and how clients ask beforehand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.resources import SERVICE_ACCOUNTS
from pytest_microremed.embedded.api.store import Store
from pytest_microremed.embedded.api.tokens import Tokens
from tests.embedded.api.bare_cluster import BareCluster
from tests.embedded.api.objects import config_map, deployment, pod, role, role_binding
from tests.embedded.clients import Http, Kubectl

READ = ["get", "list", "watch"]


class Account:
    """A service account `agent` of the namespace, with a token, and what its roles are."""

    def __init__(self, cluster: BareCluster, admin: Http, namespace: str) -> None:
        self.admin, self.namespace = admin, namespace
        self.path = f"/api/v1/namespaces/{namespace}"
        self.rbac = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{namespace}"
        admin.create(f"{self.path}/serviceaccounts", {"metadata": {"name": "agent"}})
        answer = admin.create(f"{self.path}/serviceaccounts/agent/token", {"spec": {}})
        self.token: str = answer["status"]["token"]
        self.http = Http.to(cluster, self.token)
        self.name = f"system:serviceaccount:{namespace}:agent"
        self.subject = {"kind": "ServiceAccount", "name": "agent", "namespace": namespace}

    def may(self, *verbs: str, of: str, group: str = "", name: str | None = None) -> None:
        """Give it a Role for these verbs of `of` (a resource, `*`, or `pods/exec`)."""
        rule: dict[str, Any] = {"apiGroups": [group], "resources": [of], "verbs": list(verbs)}
        if name:
            rule["resourceNames"] = [name]
        title = f"r-{abs(hash((verbs, of, group, name)))}"
        self.admin.create(f"{self.rbac}/roles", role(title, rule))
        self.admin.create(f"{self.rbac}/rolebindings", role_binding(title, self.subject))


@pytest.fixture
def account(cluster: BareCluster, http: Http, namespace: str) -> Account:
    return Account(cluster, http, namespace)


def test_without_a_role_nothing_is_allowed(account: Account) -> None:
    answer = account.http.get(f"{account.path}/pods")
    assert (answer.status, answer.body["reason"]) == (403, "Forbidden")
    assert answer.body["message"] == (
        f'pods is forbidden: User "{account.name}" cannot list resource "pods" in API group "" in the namespace'
        f' "{account.namespace}"'
    )


def test_a_refusal_names_the_object_and_its_group(account: Account) -> None:
    path = f"/apis/apps/v1/namespaces/{account.namespace}/deployments/web"
    assert account.http.request("DELETE", path).body["message"] == (
        f'deployments.apps "web" is forbidden: User "{account.name}" cannot delete resource "deployments" in API'
        f' group "apps" in the namespace "{account.namespace}"'
    )


def test_a_refusal_across_namespaces_is_at_the_cluster_scope(account: Account) -> None:
    assert account.http.get("/api/v1/nodes").body["message"] == (
        f'nodes is forbidden: User "{account.name}" cannot list resource "nodes" in API group "" at the cluster scope'
    )


def test_a_role_allows_its_verbs_in_its_namespace(account: Account) -> None:
    account.may("get", "list", of="pods")
    assert account.http.get(f"{account.path}/pods").status == 200
    assert account.http.get(f"{account.path}/pods?watch=true&timeoutSeconds=1").status == 403
    assert account.http.get("/api/v1/namespaces/default/pods").status == 403
    assert account.http.get("/api/v1/pods").status == 403
    assert account.http.request("POST", f"{account.path}/pods", pod("p")).status == 403


def test_a_star_stands_for_every_verb_and_resource(account: Account) -> None:
    account.may("*", of="*")
    assert account.http.request("POST", f"{account.path}/configmaps", config_map("c")).status == 201
    assert account.http.request("DELETE", f"{account.path}/configmaps/c").status == 200
    assert account.http.get(f"/apis/apps/v1/namespaces/{account.namespace}/deployments").status == 403


def test_a_role_may_be_for_named_objects_only(account: Account) -> None:
    account.may("get", "list", of="configmaps", name="mine")
    for name in ("mine", "other"):
        account.admin.create(f"{account.path}/configmaps", config_map(name))
    assert account.http.get(f"{account.path}/configmaps/mine").status == 200
    assert account.http.get(f"{account.path}/configmaps/other").status == 403
    assert account.http.get(f"{account.path}/configmaps").status == 403
    assert account.http.get(f"{account.path}/configmaps?fieldSelector=metadata.name%3Dmine").status == 200


@pytest.mark.parametrize("rule", ["deployments/scale", "*/scale"])
def test_a_subresource_has_rules_of_its_own(account: Account, rule: str) -> None:
    path = f"/apis/apps/v1/namespaces/{account.namespace}/deployments"
    account.admin.create(path, deployment("web"))
    account.may("patch", of=rule, group="apps")
    assert account.http.patch(f"{path}/web/scale", {"spec": {"replicas": 2}}).status == 200
    refused = account.http.patch(f"{path}/web", {"spec": {"replicas": 3}})
    assert 'cannot patch resource "deployments" in API group "apps"' in refused.body["message"]


def test_commands_need_the_right_to_create_exec(account: Account) -> None:
    account.admin.create(f"{account.path}/pods", pod("p", node="n1"))
    path = f"{account.path}/pods/p/exec?command=ls"
    assert 'cannot create resource "pods/exec"' in account.http.get(path).body["message"]
    account.may("create", of="pods/exec")
    assert account.http.get(path).body["message"].startswith("unable to upgrade")


def test_a_cluster_role_can_be_bound_in_one_namespace(account: Account) -> None:
    account.admin.create(f"{account.rbac}/rolebindings", role_binding("view", account.subject, kind="ClusterRole"))
    assert account.http.get(f"{account.path}/pods").status == 200
    assert account.http.get(f"{account.path}/secrets").status == 403
    assert account.http.get("/api/v1/namespaces/default/pods").status == 403


def test_groups_can_be_bound(account: Account) -> None:
    group = {"kind": "Group", "name": f"system:serviceaccounts:{account.namespace}"}
    account.admin.create(f"{account.rbac}/rolebindings", role_binding("view", group, kind="ClusterRole"))
    assert account.http.get(f"{account.path}/pods").status == 200


def test_aggregated_cluster_roles_have_the_rules_of_those_they_select(account: Account, http: Http) -> None:
    label = {"part-of": account.namespace}
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": READ}]
    path = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
    part, whole = f"part-{account.namespace}", f"whole-{account.namespace}"
    http.create(path, {"metadata": {"name": part, "labels": label}, "rules": rules})
    selectors = [{"matchLabels": label}]
    http.create(path, {"metadata": {"name": whole}, "aggregationRule": {"clusterRoleSelectors": selectors}})
    http.create(f"{account.rbac}/rolebindings", role_binding(whole, account.subject, kind="ClusterRole"))
    assert account.http.get(f"{account.path}/pods").status == 200
    for name in (part, whole):
        http.request("DELETE", f"{path}/{name}")


def test_a_binding_to_a_missing_role_is_mentioned(account: Account) -> None:
    account.admin.create(f"{account.rbac}/rolebindings", role_binding("ghost", account.subject))
    message = account.http.get(f"{account.path}/pods").body["message"]
    assert message.endswith(': RBAC: role.rbac.authorization.k8s.io "ghost" not found')


def test_everyone_with_a_token_can_discover(account: Account) -> None:
    for path in ("/version", "/api", "/apis", "/apis/apps/v1", "/openapi/v3", "/healthz"):
        assert account.http.get(path).status == 200, path
    refused = account.http.get("/metrics")
    assert refused.body["message"] == f'forbidden: User "{account.name}" cannot get path "/metrics"'


def test_a_token_that_nobody_issued_is_refused(cluster: BareCluster) -> None:
    answer = Http.to(cluster, "made-up").get("/api/v1/namespaces")
    assert (answer.status, answer.body["message"]) == (401, "Unauthorized")


def test_no_token_is_refused(http: Http) -> None:
    http.token = None
    assert http.get("/api/v1/namespaces").status == 401


def test_a_token_ends_with_its_account(account: Account) -> None:
    account.may("get", "list", of="pods")
    account.admin.request("DELETE", f"{account.path}/serviceaccounts/agent")
    account.admin.create(f"{account.path}/serviceaccounts", {"metadata": {"name": "agent"}})
    assert account.http.get(f"{account.path}/pods").status == 401


def test_kubectl_uses_a_token_of_its_own_making(kubectl: Kubectl, account: Account) -> None:
    token = kubectl("create", "token", "agent").strip()
    account.may("list", of="pods")
    assert "No resources found" in kubectl.run("get", "pods", "--token", token).stderr
    refused = kubectl.refused("get", "secrets", "--token", token)
    assert refused.startswith(f'Error from server (Forbidden): secrets is forbidden: User "{account.name}"')


def test_a_token_cannot_be_too_short_lived(account: Account) -> None:
    answer = account.admin.request(
        "POST", f"{account.path}/serviceaccounts/agent/token", {"spec": {"expirationSeconds": 60}}
    )
    assert answer.status == 422
    assert "may not specify a duration less than 10 minutes" in answer.body["message"]


def test_kubectl_can_ask_beforehand(kubectl: Kubectl, account: Account) -> None:
    account.may("get", of="pods")
    account.may("create", of="pods/exec")
    impersonated = f"--as={account.name}"
    assert kubectl("auth", "can-i", "get", "pods", impersonated).strip() == "yes"
    assert kubectl("auth", "can-i", "create", "pods", "--subresource=exec", impersonated).strip() == "yes"
    assert kubectl.run("auth", "can-i", "delete", "pods", impersonated).stdout.strip() == "no"
    listed = kubectl("auth", "can-i", "--list", impersonated)
    assert "pods/exec" in listed
    assert account.name in kubectl("auth", "whoami", impersonated)


def test_impersonation_needs_the_right_to(account: Account) -> None:
    account.http.headers["Impersonate-User"] = "kubernetes-admin"
    answer = account.http.get(f"{account.path}/pods")
    assert answer.status == 403
    assert 'cannot impersonate resource "users"' in answer.body["message"]


def test_a_token_can_be_reviewed(account: Account) -> None:
    path = "/apis/authentication.k8s.io/v1/tokenreviews"
    review = account.admin.create(path, {"spec": {"token": account.token}})
    assert review["status"]["user"]["username"] == account.name
    assert account.admin.create(path, {"spec": {"token": "made-up"}})["status"].get("authenticated") is None


def test_the_access_of_another_can_be_reviewed(account: Account) -> None:
    account.may("get", of="pods")
    about = {"namespace": account.namespace, "verb": "get", "resource": "pods"}
    review = account.admin.create(
        "/apis/authorization.k8s.io/v1/subjectaccessreviews",
        {"spec": {"user": account.name, "resourceAttributes": about}},
    )
    assert review["status"] == {"allowed": True}


def test_a_token_expires() -> None:
    now = datetime(2026, 1, 2, tzinfo=UTC)
    store = Store(lambda: now)
    tokens = Tokens(store)
    account = store.create(SERVICE_ACCOUNTS, {"metadata": {"name": "agent", "namespace": "x"}})
    token, expires = tokens.issue(account, 600)
    assert expires == now + timedelta(minutes=10)
    assert tokens.identify(token).name == "system:serviceaccount:x:agent"
    now = expires
    with pytest.raises(ApiError, match="Unauthorized"):
        tokens.identify(token)
