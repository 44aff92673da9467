"""Cells of tables that take more than one field (Kubernetes: `pkg/printers/internalversion`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from pytest_microremed.embedded.api.durations import age, human_duration
from pytest_microremed.embedded.api.store import Object

NONE = "<none>"
_SHOWN_ENDPOINTS = 3
_ACCESS_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def dig(obj: Any, path: str, default: Any = None) -> Any:
    """The value at a dotted path, or `default`."""
    for key in path.split("."):
        obj = obj.get(key) if isinstance(obj, Mapping) else None
    return default if obj is None else obj


def joined(values: Iterable[Any]) -> str:
    return ",".join(map(str, values)) or NONE


def labels(pairs: Mapping[str, str] | None) -> str:
    return joined(f"{key}={value}" for key, value in sorted((pairs or {}).items()))


def container_names(obj: Object) -> str:
    return joined(each["name"] for each in dig(obj, "spec.template.spec.containers", ()))


def container_images(obj: Object) -> str:
    return joined(each.get("image", "") for each in dig(obj, "spec.template.spec.containers", ()))


def node_status(node: Object) -> str:
    ready = [each["status"] for each in dig(node, "status.conditions", ()) if each["type"] == "Ready"]
    texts = {"True": "Ready", "False": "NotReady"}
    parts = [texts.get(status, "NotReady") for status in ready] or ["Unknown"]
    if dig(node, "spec.unschedulable"):
        parts.append("SchedulingDisabled")
    return ",".join(parts)


def node_roles(node: Object) -> str:
    prefix = "node-role.kubernetes.io/"
    return joined(
        sorted(key.removeprefix(prefix) for key in dig(node, "metadata.labels", {}) if key.startswith(prefix))
    )


def node_address(node: Object, kind: str) -> str:
    return next((each["address"] for each in dig(node, "status.addresses", ()) if each["type"] == kind), NONE)


def service_external(service: Object) -> str:
    spec = service["spec"]
    addresses = list(spec.get("externalIPs") or ())
    if spec.get("type") == "ExternalName":
        return str(spec.get("externalName", NONE))
    if spec.get("type") == "LoadBalancer":
        ingress = dig(service, "status.loadBalancer.ingress", ())
        addresses += [each.get("ip") or each.get("hostname") for each in ingress]
        return joined(addresses) if addresses else "<pending>"
    return joined(addresses)


def service_ports(service: Object) -> str:
    def one(port: Mapping[str, Any]) -> str:
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        return f"{port['port']}{node_port}/{port.get('protocol', 'TCP')}"

    return joined(one(port) for port in service["spec"].get("ports") or ())


def endpoint_addresses(endpoints: Object) -> str:
    """The first three ready addresses, and how many more there are."""
    found = [
        f"{address['ip']}:{port['port']}"
        for subset in endpoints.get("subsets") or ()
        for port in subset.get("ports") or ()
        for address in subset.get("addresses") or ()
    ]
    more = len(found) - _SHOWN_ENDPOINTS
    return joined(found[:_SHOWN_ENDPOINTS]) + (f" + {more} more..." if more > 0 else "")


def slice_addresses(endpoint_slice: Object) -> str:
    found = [address for each in endpoint_slice.get("endpoints") or () for address in each.get("addresses") or ()]
    more = len(found) - _SHOWN_ENDPOINTS
    return joined(found[:_SHOWN_ENDPOINTS]) + (f" + {more} more..." if more > 0 else "")


def event_last_seen(event: Object, now: datetime) -> str:
    moment = dig(event, "series.lastObservedTime") or event.get("lastTimestamp") or event.get("eventTime")
    return age(moment or event.get("firstTimestamp"), now)


def event_first_seen(event: Object, now: datetime) -> str:
    return age(event.get("firstTimestamp") or event.get("eventTime"), now)


def event_object(event: Object) -> str:
    involved = event.get("involvedObject") or {}
    return f"{involved.get('kind', '').lower()}/{involved.get('name', '')}"


def event_source(event: Object) -> str:
    source = event.get("source") or {}
    parts = [source.get("component") or event.get("reportingComponent", ""), source.get("host", "")]
    return ", ".join(filter(None, parts))


def access_modes(modes: Iterable[str] | None) -> str:
    return ",".join(_ACCESS_MODES.get(mode, mode) for mode in modes or ())


def phase(obj: Object) -> str:
    return "Terminating" if "deletionTimestamp" in obj["metadata"] else str(dig(obj, "status.phase", ""))


def claim_of(volume: Object) -> str:
    reference = dig(volume, "spec.claimRef")
    return f"{reference['namespace']}/{reference['name']}" if reference else ""


def quota_usage(quota: Object, *, limits: bool) -> str:
    hard, used = dig(quota, "status.hard", {}), dig(quota, "status.used", {})
    names = sorted(name for name in hard if name.startswith("limits.") is limits)
    return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)


def job_completions(job: Object) -> str:
    completions, parallelism = dig(job, "spec.completions"), dig(job, "spec.parallelism", 1)
    succeeded = dig(job, "status.succeeded", 0)
    if completions is not None:
        return f"{succeeded}/{completions}"
    return f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"


def job_duration(job: Object, now: datetime) -> str:
    started, completed = dig(job, "status.startTime"), dig(job, "status.completionTime")
    if not started:
        return ""
    end = datetime.fromisoformat(completed) if completed else now
    return human_duration((end - datetime.fromisoformat(started)).total_seconds())


def last_schedule(cron_job: Object, now: datetime) -> str:
    moment = dig(cron_job, "status.lastScheduleTime")
    return age(moment, now) if moment else NONE


def controller(obj: Object) -> str:
    """`daemonset.apps/fluentd`: the controlling owner."""
    owners = (each for each in dig(obj, "metadata.ownerReferences", ()) if each.get("controller"))
    return joined(f"{each['kind'].lower()}.{each['apiVersion'].partition('/')[0]}/{each['name']}" for each in owners)


def ingress_hosts(ingress: Object) -> str:
    hosts = [each.get("host") or "*" for each in dig(ingress, "spec.rules", ())]
    return ",".join(hosts) or "*"


def ingress_address(ingress: Object) -> str:
    found = dig(ingress, "status.loadBalancer.ingress", ())
    return ",".join(each.get("ip") or each.get("hostname", "") for each in found)


def scale_target(autoscaler: Object) -> str:
    reference = dig(autoscaler, "spec.scaleTargetRef", {})
    return f"{reference.get('kind', '')}/{reference.get('name', '')}"


def metric_targets(autoscaler: Object) -> str:
    """`cpu: 12%/80%`; the current value is unknown until the controller has measured it."""
    current = {_metric_name(each): each for each in dig(autoscaler, "status.currentMetrics", ())}
    texts = []
    for each in dig(autoscaler, "spec.metrics", ()):
        name = _metric_name(each)
        texts.append(f"{name}: {_metric_value(current.get(name), 'current')}/{_metric_value(each, 'target')}")
    return ", ".join(texts) or NONE


def _metric_name(metric: Mapping[str, Any]) -> str:
    source = _metric_source(metric)
    return str(source.get("name") or dig(source, "metric.name", ""))


def _metric_source(metric: Mapping[str, Any]) -> Mapping[str, Any]:
    key = metric["type"][0].lower() + metric["type"][1:]
    source: Mapping[str, Any] = metric.get(key) or {}
    return source


def _metric_value(metric: Mapping[str, Any] | None, key: str) -> str:
    value = _metric_source(metric).get(key, {}) if metric else {}
    if value.get("averageUtilization") is not None:
        return f"{value['averageUtilization']}%"
    return str(value.get("averageValue") or value.get("value") or "<unknown>")


def subjects(binding: Object, kind: str) -> str:
    found = [each for each in binding.get("subjects") or () if each.get("kind") == kind]
    return ", ".join(f"{each['namespace']}/{each['name']}" if each.get("namespace") else each["name"] for each in found)
