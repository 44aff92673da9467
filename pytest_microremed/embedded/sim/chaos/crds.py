"""The CustomResourceDefinitions, built from a table of fields.

The table is in a small notation: a dict is an object, whose keys end with `!` where they are required; a
list holds the type of its items; `map` and a type is an object with free keys; a tuple is a type with more
keywords.
"""

from __future__ import annotations

from typing import Any

from pytest_microremed.embedded.api.resources import CUSTOM_RESOURCE_DEFINITIONS, Resource
from pytest_microremed.embedded.api.store import Object, Store
from pytest_microremed.embedded.sim.chaos.resources import (
    GROUP,
    IO_CHAOS,
    NETWORK_CHAOS,
    POD_CHAOS,
    STRESS_CHAOS,
    VERSION,
)

MODES = ("one", "all", "fixed", "fixed-percent", "random-max-percent")
_LONG = ("integer", {"format": "int64"})
_INT = ("integer", {"format": "int32"})
_TIME = ("string", {"format": "date-time"})
_LATENCY = ("string", {"pattern": r"^[0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h)$"})


def _enum(*values: str) -> tuple[str, dict[str, Any]]:
    return "string", {"enum": list(values)}


def _map(values: Any) -> tuple[str, Any]:
    return "map", values


_SELECTOR = {
    "annotationSelectors": _map("string"),
    "expressionSelectors": [{"key!": "string", "operator!": "string", "values": ["string"]}],
    "fieldSelectors": _map("string"),
    "labelSelectors": _map("string"),
    "namespaces": ["string"],
    "nodeSelectors": _map("string"),
    "nodes": ["string"],
    "podPhaseSelectors": ["string"],
    "pods": _map(["string"]),
}
_TARGET = {"mode!": _enum(*MODES), "selector!": _SELECTOR, "value": "string"}
_COMMON = {**_TARGET, "duration": "string", "remoteCluster": "string"}
_OF_CONTAINERS = {**_COMMON, "containerNames": ["string"]}


def _status(instances: Any = None) -> dict[str, Any]:
    record = {
        "events": [{"message": "string", "operation!": "string", "timestamp!": _TIME, "type!": "string"}],
        "id!": "string",
        "injectedCount!": "integer",
        "phase!": "string",
        "recoveredCount!": "integer",
        "selectorKey!": "string",
    }
    fields: dict[str, Any] = {
        "conditions": [{"reason": "string", "status!": "string", "type!": "string"}],
        "experiment!": {"containerRecords": [record], "desiredPhase": _enum("Run", "Stop")},
    }
    return {**fields, "instances": _map(instances)} if instances else fields


_RATIO = {"correlation": "string"}
_TIMESPEC = {"nsec!": _LONG, "sec!": _LONG}
_TABLE: dict[Resource, tuple[dict[str, Any], Any]] = {
    POD_CHAOS: (
        {
            **_OF_CONTAINERS,
            "action!": _enum("pod-kill", "pod-failure", "container-kill"),
            "gracePeriod": ("integer", {"format": "int64", "minimum": 0}),
        },
        None,
    ),
    STRESS_CHAOS: (
        {
            **_OF_CONTAINERS,
            "stressngStressors": "string",
            "stressors": {
                "cpu": {
                    "load": ("integer", {"minimum": 0, "maximum": 100}),
                    "options": ["string"],
                    "workers!": ("integer", {"maximum": 8192}),
                },
                "memory": {
                    "oomScoreAdj": ("integer", {"minimum": -1000, "maximum": 1000, "default": 0}),
                    "options": ["string"],
                    "size": "string",
                    "workers!": ("integer", {"maximum": 8192}),
                },
            },
        },
        {"uid": "string", "startTime": _TIME, "memoryUid": "string", "memoryStartTime": _TIME},
    ),
    NETWORK_CHAOS: (
        {
            **_COMMON,
            "action!": _enum("netem", "delay", "loss", "duplicate", "corrupt", "partition", "bandwidth"),
            "bandwidth": {
                "buffer!": ("integer", {"format": "int32", "minimum": 1}),
                "limit!": ("integer", {"format": "int32", "minimum": 1}),
                "minburst": ("integer", {"format": "int32", "minimum": 0}),
                "peakrate": ("integer", {"format": "int64", "minimum": 0}),
                "rate!": "string",
            },
            "corrupt": {**_RATIO, "corrupt!": "string"},
            "delay": {
                **_RATIO,
                "jitter": _LATENCY,
                "latency!": _LATENCY,
                "reorder": {**_RATIO, "gap!": "integer", "reorder!": "string"},
            },
            "device": "string",
            "direction": ("string", {"default": "to", "enum": ["to", "from", "both"]}),
            "duplicate": {**_RATIO, "duplicate!": "string"},
            "externalTargets": ["string"],
            "loss": {**_RATIO, "loss!": "string"},
            "rate": {"rate!": "string"},
            "target": _TARGET,
            "targetDevice": "string",
        },
        _LONG,
    ),
    IO_CHAOS: (
        {
            **_OF_CONTAINERS,
            "action!": _enum("latency", "fault", "attrOverride", "mistake"),
            "attr": {
                **dict.fromkeys(("atime", "ctime", "mtime"), _TIMESPEC),
                **dict.fromkeys(("blocks", "ino", "size"), _LONG),
                **dict.fromkeys(("gid", "nlink", "rdev", "uid"), _INT),
                "kind": "string",
                "perm": "integer",
            },
            "delay": "string",
            "errno": _INT,
            "methods": ["string"],
            "mistake": {
                "filling": _enum("zero", "random"),
                "maxLength": ("integer", {"format": "int64", "minimum": 1}),
                "maxOccurrences": ("integer", {"format": "int64", "minimum": 1}),
            },
            "path": "string",
            "percent": ("integer", {"default": 100}),
            "volumePath!": "string",
        },
        _LONG,
    ),
}
_COLUMNS = {
    POD_CHAOS: (),
    STRESS_CHAOS: ("duration",),
    NETWORK_CHAOS: ("action", "duration"),
    IO_CHAOS: ("action", "duration"),
}


def install_crds(store: Store) -> None:
    """Define the custom resources, unless they are there already."""
    for resource in _TABLE:
        definition = custom_resource_definition(resource)
        if store.get(CUSTOM_RESOURCE_DEFINITIONS, None, definition["metadata"]["name"]) is None:
            store.create(CUSTOM_RESOURCE_DEFINITIONS, definition)


def custom_resource_definition(resource: Resource) -> Object:
    """The definition of one of Chaos Mesh's custom resources."""
    spec, instances = _TABLE[resource]
    fields = {
        "apiVersion": "string",
        "kind": "string",
        "metadata": {},
        "spec!": spec,
        "status": _status(instances),
    }
    version = {
        "name": VERSION,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": _schema(fields)},
        "additionalPrinterColumns": [
            {"name": name, "type": "string", "jsonPath": f".spec.{name}"} for name in _COLUMNS[resource]
        ],
    }
    names = {
        "kind": resource.kind,
        "listKind": f"{resource.kind}List",
        "plural": resource.plural,
        "singular": resource.singular,
    }
    return {
        "apiVersion": CUSTOM_RESOURCE_DEFINITIONS.api_version,
        "kind": CUSTOM_RESOURCE_DEFINITIONS.kind,
        "metadata": {"name": resource.qualified},
        "spec": {
            "group": GROUP,
            "names": names,
            "scope": "Namespaced",
            "conversion": {"strategy": "None"},
            "versions": [version],
        },
    }


def _schema(field: Any) -> dict[str, Any]:
    """The structural schema of an entry in the table's notation."""
    if isinstance(field, str):
        return {"type": field}
    if isinstance(field, list):
        return {"type": "array", "items": _schema(field[0])}
    if isinstance(field, tuple):
        kind, more = field
        if kind == "map":
            return {"type": "object", "additionalProperties": _schema(more)}
        return {"type": kind, **more}
    schema: dict[str, Any] = {"type": "object"}
    if field:
        schema["properties"] = {name.rstrip("!"): _schema(entry) for name, entry in field.items()}
    required = [name.rstrip("!") for name in field if name.endswith("!")]
    return {**schema, "required": required} if required else schema
