"""From a system's data to the manifests of its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from pytest_microremed.cluster.kinds import NAMESPACES, Obj
from pytest_microremed.cluster.labels import MANAGED_BY, PART_OF
from pytest_microremed.datafile import SafeLoader
from pytest_microremed.errors import UsageError
from pytest_microremed.systems.system import LOG_PATH, LOG_VOLUME, PROBE_CONTAINER, System

if TYPE_CHECKING:
    from jinja2 import Environment


def render(system: System, namespace: str) -> list[Obj]:
    """The manifests of the system in `namespace`, that one not included, in the order in which to create
    them.

    They are made by the templates of the system's folder and those that all systems share. UsageError with
    the template's name and line if one of them fails.
    """
    from jinja2 import TemplateError, TemplateSyntaxError

    environment = _environment(system)
    objects: list[Obj] = []
    for template in sorted(environment.list_templates(extensions=["j2"])):
        try:
            text = environment.get_template(template).render(
                system=system,
                workloads=list(system.workloads.values()),
                log_path=LOG_PATH,
                log_volume=LOG_VOLUME,
                probe_container=PROBE_CONTAINER,
            )
            documents = list(yaml.load_all(text, SafeLoader))
        except TemplateSyntaxError as error:
            raise UsageError(f"{error.filename}: line {error.lineno}: {error.message}") from None
        except TemplateError as error:
            raise UsageError(f"{template} of system {system.name}: {error.message}") from None
        except yaml.YAMLError as error:
            problem = " ".join(str(error).split())
            raise UsageError(f"{template} of system {system.name} renders to what is no YAML: {problem}") from None
        objects += [_placed(document, system, namespace) for document in documents if document]
    return objects


def namespace_manifest(system: System, namespace: str) -> Obj:
    """The namespace, labelled as the harness's own."""
    # The probe's NET_RAW is more than clusters that enforce a Pod Security Standard by default let in.
    labels = {PART_OF: system.name, **MANAGED_BY, "pod-security.kubernetes.io/enforce": "privileged"}
    return {
        "apiVersion": NAMESPACES.api_version,
        "kind": NAMESPACES.kind,
        "metadata": {"name": namespace, "labels": labels},
    }


def _placed(obj: Obj, system: System, namespace: str) -> Obj:
    meta = obj["metadata"]
    labels = {**meta.get("labels", {}), PART_OF: system.name, **MANAGED_BY}
    return {**obj, "metadata": {**meta, "namespace": namespace, "labels": labels}}


def _environment(system: System) -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

    return Environment(
        loader=FileSystemLoader([system.folder, system.folder.parent / "_shared"]),
        undefined=StrictUndefined,
        autoescape=select_autoescape([]),  # YAML is not HTML
        trim_blocks=True,
        lstrip_blocks=True,
    )
