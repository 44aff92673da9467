"""Server-side apply and managed fields, without a server."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_microremed.embedded.api.apply import server_side_apply, track_update
from pytest_microremed.embedded.api.defaults import apply_defaults
from pytest_microremed.embedded.api.errors import ApiError
from pytest_microremed.embedded.api.field_paths import decode_fields, encode_fields
from pytest_microremed.embedded.api.last_applied import LAST_APPLIED
from pytest_microremed.embedded.api.resources import CONFIG_MAPS, DEPLOYMENTS, SERVICES, Resource

Object = dict[str, Any]

START = datetime(2030, 1, 1, tzinfo=UTC)
LATER = START + timedelta(minutes=1)


def deployment(*containers: Object, **spec: Any) -> Object:
    labels = {"app": "web"}
    pods = {"containers": list(containers or [{"name": "web", "image": "nginx"}])}
    template = {"metadata": {"labels": labels}, "spec": pods}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}, "template": template, **spec},
    }


def config_map(labels: dict[str, str] | None = None, **data: str) -> Object:
    meta: Object = {"name": "c", "namespace": "default", **({"labels": labels} if labels else {})}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, **({"data": data} if data else {})}


def applied(current: Object | None, body: Object, manager: str = "kubectl", **options: Any) -> Object:
    resource = DEPLOYMENTS if body["kind"] == "Deployment" else CONFIG_MAPS
    return server_side_apply(current, body, resource, manager, **{"now": START, **options})


def updated(current: Object, manager: str, /, **spec: Any) -> Object:
    new = {**current, "spec": {**current["spec"], **spec}}
    return track_update(current, new, DEPLOYMENTS, manager, now=START)


def managers(obj: Object) -> dict[tuple[str, str], Any]:
    """What each manager manages, by its name and operation."""
    entries = obj["metadata"].get("managedFields", ())
    return {(entry["manager"], entry["operation"]): entry["fieldsV1"] for entry in entries}


def conflict(current: Object, body: Object, manager: str = "kubectl") -> ApiError:
    with pytest.raises(ApiError) as caught:
        applied(current, body, manager)
    return caught.value


def test_applying_creates_what_is_not_there() -> None:
    obj = applied(None, deployment(replicas=3))
    assert obj["spec"]["replicas"] == 3
    assert managers(obj) == {
        ("kubectl", "Apply"): {
            "f:spec": {
                "f:replicas": {},
                "f:selector": {},
                "f:template": {
                    "f:metadata": {"f:labels": {"f:app": {}}},
                    "f:spec": {
                        "f:containers": {'k:{"name":"web"}': {".": {}, "f:image": {}, "f:name": {}}},
                    },
                },
            }
        }
    }


def test_the_entry_has_version_and_time() -> None:
    (entry,) = applied(None, deployment())["metadata"]["managedFields"]
    assert {key: entry[key] for key in ("apiVersion", "fieldsType", "time")} == {
        "apiVersion": "apps/v1",
        "fieldsType": "FieldsV1",
        "time": "2030-01-01T00:00:00Z",
    }


def test_a_create_gives_all_fields_to_its_maker() -> None:
    ports = [{"containerPort": 80}]
    body = apply_defaults(DEPLOYMENTS, deployment({"name": "web", "image": "nginx", "ports": ports}))
    fields = managers(track_update(None, body, DEPLOYMENTS, "kubectl-create"))["kubectl-create", "Update"]
    pods = fields["f:spec"]["f:template"]["f:spec"]
    assert pods["f:containers"]['k:{"name":"web"}']["f:ports"] == {
        ".": {},
        'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}, "f:protocol": {}},
    }
    assert fields["f:spec"]["f:strategy"]["f:rollingUpdate"]["."] == {}
    assert "." not in fields["f:spec"]
    assert "f:name" not in fields.get("f:metadata", {})


def test_what_another_changed_is_a_conflict() -> None:
    obj = updated(applied(None, deployment(replicas=3)), "scaler", replicas=5)
    error = conflict(obj, deployment(replicas=4))
    assert error.status() == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "reason": "Conflict",
        "code": 409,
        "message": 'Apply failed with 1 conflict: conflict with "scaler" using apps/v1: .spec.replicas',
        "details": {
            "causes": [
                {
                    "reason": "FieldManagerConflict",
                    "message": 'conflict with "scaler" using apps/v1',
                    "field": ".spec.replicas",
                }
            ]
        },
    }


def test_conflicts_are_grouped_by_manager() -> None:
    obj = updated(applied(None, deployment(replicas=3)), "scaler", replicas=5)
    template = deployment({"name": "web", "image": "broken"})["spec"]["template"]
    obj = updated(obj, "kubectl-set", template=template)
    error = conflict(obj, deployment({"name": "web", "image": "fixed"}, replicas=4))
    assert error.message == (
        'Apply failed with 2 conflicts: conflicts with "kubectl-set" using apps/v1:\n'
        '- .spec.template.spec.containers[name="web"].image\n'
        'conflicts with "scaler" using apps/v1:\n'
        "- .spec.replicas"
    )


def test_a_subresource_is_named_in_the_conflict() -> None:
    obj = applied(None, deployment(replicas=3))
    new = {**obj, "spec": {**obj["spec"], "replicas": 5}}
    obj = track_update(obj, new, DEPLOYMENTS, "kubectl", subresource="scale")
    assert conflict(obj, deployment(replicas=4)).message == (
        'Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas'
    )


def test_appliers_are_named_without_version() -> None:
    obj = applied(None, deployment(replicas=3), "first")
    assert conflict(obj, deployment(replicas=4), "second").message == (
        'Apply failed with 1 conflict: conflict with "first": .spec.replicas'
    )


def test_force_takes_the_fields_over() -> None:
    obj = updated(applied(None, deployment(replicas=3)), "scaler", replicas=5)
    obj = applied(obj, deployment(replicas=4), force=True)
    assert obj["spec"]["replicas"] == 4
    assert set(managers(obj)) == {("kubectl", "Apply")}


def test_the_same_value_makes_co_owners() -> None:
    obj = applied(applied(None, deployment(replicas=3), "first"), deployment(replicas=3), "second")
    assert managers(obj)["first", "Apply"] == managers(obj)["second", "Apply"]
    obj = applied(obj, deployment(), "first")
    assert obj["spec"]["replicas"] == 3


def test_a_field_that_its_only_manager_gives_up_is_removed() -> None:
    obj = applied(applied(None, deployment(replicas=3)), deployment())
    assert "replicas" not in obj["spec"]


def test_list_items_that_are_given_up_are_removed() -> None:
    web, side = {"name": "web", "image": "nginx"}, {"name": "side", "image": "busybox"}
    obj = applied(applied(None, deployment(web, side)), deployment(web))
    assert obj["spec"]["template"]["spec"]["containers"] == [web]


def test_what_nobody_applied_stays() -> None:
    obj = applied(None, config_map(a="1"))
    obj = track_update(obj, {**obj, "data": {"a": "1", "b": "2"}}, CONFIG_MAPS, "editor", now=START)
    obj = applied(obj, config_map())
    assert obj["data"] == {"b": "2"}


def test_an_item_another_added_to_stays_with_what_it_added() -> None:
    web, side = {"name": "web", "image": "nginx"}, {"name": "side", "image": "busybox"}
    obj = applied(None, deployment(web, side), "first")
    obj = applied(obj, deployment({"name": "web", "image": "nginx", "tty": True}), "second", force=True)
    obj = applied(obj, deployment(side), "first")
    assert {"name": "web", "image": "nginx", "tty": True} in obj["spec"]["template"]["spec"]["containers"]


def test_atomic_lists_and_maps_belong_to_one() -> None:
    obj = applied(None, deployment({"name": "web", "image": "x", "args": ["a"]}), "first")
    error = conflict(obj, deployment({"name": "web", "image": "x", "args": ["a", "b"]}), "second")
    assert error.message.endswith('.spec.template.spec.containers[name="web"].args')


def test_ports_may_leave_out_their_protocol() -> None:
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"ports": [{"port": 80, "targetPort": 8080}]},
    }
    obj = apply_defaults(SERVICES, server_side_apply(None, service, SERVICES, "a"))
    obj = server_side_apply(obj, service, SERVICES, "a")
    assert len(obj["spec"]["ports"]) == 1


def test_what_was_there_before_the_first_apply_has_a_manager() -> None:
    obj = {**deployment(replicas=2), "metadata": {"name": "web", "namespace": "default", "uid": "1"}}
    assert conflict(obj, deployment(replicas=4)).message == (
        'Apply failed with 1 conflict: conflict with "before-first-apply" using apps/v1: .spec.replicas'
    )


def test_users_of_client_side_apply_may_move_over() -> None:
    body = deployment(replicas=2)
    body["metadata"]["annotations"] = {LAST_APPLIED: json.dumps(deployment(replicas=2))}
    obj = track_update(None, body, DEPLOYMENTS, "kubectl-client-side-apply", now=START)
    obj["metadata"]["uid"] = "1"
    moved = applied(obj, deployment(replicas=4))
    assert moved["spec"]["replicas"] == 4
    assert json.loads(moved["metadata"]["annotations"][LAST_APPLIED])["spec"]["replicas"] == 4
    with pytest.raises(ApiError, match=r"conflict with .kubectl-client-side-apply"):
        applied(obj, deployment(replicas=4), "another-tool")


def test_an_update_takes_what_it_changes_and_keeps_its_time_otherwise() -> None:
    obj = track_update(None, deployment(replicas=1), DEPLOYMENTS, "first", now=START)
    obj["metadata"]["uid"] = "1"
    new = {**obj, "spec": {**obj["spec"], "replicas": 2}}
    changed = track_update(obj, new, DEPLOYMENTS, "second", now=LATER)
    assert managers(changed)["second", "Update"] == {"f:spec": {"f:replicas": {}}}
    assert "f:replicas" not in managers(changed)["first", "Update"]["f:spec"]
    again = track_update(changed, changed, DEPLOYMENTS, "third", now=LATER)
    assert managers(again) == managers(changed)


def test_the_status_has_managers_of_its_own() -> None:
    obj = track_update(None, deployment(replicas=1), DEPLOYMENTS, "maker", now=START)
    new = {**obj, "status": {"replicas": 1}}
    written = track_update(obj, new, DEPLOYMENTS, "controller", subresource="status", now=START)
    assert managers(written)["controller", "Update"] == {"f:status": {"f:replicas": {}}}
    assert (
        "f:status"
        not in managers(applied(obj, {**deployment(replicas=1), "status": {"replicas": 9}}))["kubectl", "Apply"]
    )


def test_managed_fields_can_be_reset() -> None:
    obj = track_update(None, deployment(replicas=1), DEPLOYMENTS, "maker", now=START)
    reset = {**obj, "metadata": {**obj["metadata"], "managedFields": [{}]}}
    assert "managedFields" not in track_update(obj, reset, DEPLOYMENTS, "maker")["metadata"]


def test_there_are_at_most_ten_updaters() -> None:
    obj = track_update(None, config_map(a="0"), CONFIG_MAPS, "maker", now=START)
    for number in range(12):
        new = {**obj, "data": {**obj["data"], f"k{number}": "x"}}
        moment = START + timedelta(seconds=number + 1)
        obj = track_update(obj, new, CONFIG_MAPS, f"updater-{number}", now=moment)
    names = [name for name, _ in managers(obj)]
    assert len(names) == 10
    assert "ancient-changes" in names
    assert {"updater-11", "updater-10"} <= set(names)


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"replica": 1}, ".spec.replica: field not declared in schema"),
        ({"replicas": "3"}, ".spec.replicas: expected numeric (int or float), got string"),
        ({"template": {"spec": {"containers": {}}}}, ".spec.template.spec.containers: expected list, got &{map[]}"),
        (
            {"template": {"spec": {"containers": [{"name": "a", "env": [{"name": "A", "value": 1}]}]}}},
            (
                '.spec.template.spec.containers[name="a"].env[name="A"].value:'
                " expected string, got &value.valueUnstructured{Value:1}"
            ),
        ),
        (
            {"template": {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}}},
            '.spec.template.spec.containers: duplicate entries for key [name="a"]',
        ),
        (
            {"template": {"spec": {"containers": [{"image": "a"}]}}},
            (
                ".spec.template.spec.containers: element 0: associative list with keys has an element that omits all"
                ' key fields ["name"] (and doesn\'t have default values for any key fields)'
            ),
        ),
    ],
    ids=["unknown field", "wrong type", "no list", "no text", "duplicate", "no key"],
)
def test_a_configuration_not_of_the_type_is_told(spec: Object, words: str) -> None:
    body = {**deployment(), "spec": spec}
    error = conflict(applied(None, deployment()), body)
    prefix = "failed to create typed patch object (default/web; apps/v1, Kind=Deployment): "
    assert (error.code, error.message) == (500, prefix + words)


def test_managed_fields_are_not_applied() -> None:
    body = deployment()
    body["metadata"]["managedFields"] = [{"manager": "x"}]
    assert conflict(applied(None, deployment()), body).message == "metadata.managedFields must be nil"


CUSTOM = Resource(
    "example.org",
    "v1",
    "widgets",
    "Widget",
    custom=True,
    schema={
        "type": "object",
        "properties": {
            "spec": {
                "type": "object",
                "properties": {
                    "list": {"type": "array", "items": {"type": "string"}},
                    "keyed": {
                        "type": "array",
                        "x-kubernetes-list-type": "map",
                        "x-kubernetes-list-map-keys": ["id"],
                        "items": {"type": "object", "properties": {"id": {"type": "string"}, "x": {"type": "integer"}}},
                    },
                    "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        },
    },
)


def test_custom_resources_merge_by_their_definition() -> None:
    def widget(**spec: Any) -> Object:
        return {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": spec}

    obj = server_side_apply(None, widget(list=["a"], keyed=[{"id": "1", "x": 1}], free={"a": 1}), CUSTOM, "one")
    obj = server_side_apply(obj, widget(keyed=[{"id": "2"}], free={"b": 2}), CUSTOM, "two")
    assert obj["spec"] == {
        "list": ["a"],
        "keyed": [{"id": "1", "x": 1}, {"id": "2"}],
        "free": {"a": 1, "b": 2},
    }
    with pytest.raises(ApiError, match=r"conflict with .one.: \.spec\.list"):
        server_side_apply(obj, widget(list=["b"]), CUSTOM, "two")


DATA = st.dictionaries(st.sampled_from("abcd"), st.sampled_from("12"), max_size=4)


@settings(deadline=None, max_examples=200)
@given(first=DATA, second=DATA, third=DATA)
def test_what_a_manager_last_applied_is_there_and_nothing_of_its_own_else(first: Any, second: Any, third: Any) -> None:
    obj = applied(None, config_map(**first), "one")
    obj = applied(obj, config_map(**second), "two", force=True)
    obj = applied(obj, config_map(**third), "one", force=True)
    others = {key: value for key, value in second.items() if key not in third}
    assert (obj.get("data") or {}) == {**others, **third}


PATHS = st.frozensets(
    st.lists(st.sampled_from(["f:a", "f:b", 'k:{"n":1}', 'v:"x"']), min_size=1, max_size=4).map(tuple), max_size=12
)


@given(PATHS)
def test_a_set_of_paths_survives_its_encoding(paths: Any) -> None:
    assert decode_fields(encode_fields(paths)) == paths
