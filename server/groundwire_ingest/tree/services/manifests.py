"""Kubernetes manifests and Helm templates of them: what they say of services, their environment and their routes."""

import re
from collections.abc import Iterator
from dataclasses import replace

from groundwire_ingest.tree.services.addresses import HOLE, MAX_VALUE_CHARACTERS
from groundwire_ingest.tree.services.statements import (
    Backend,
    ConfigMap,
    ConfigReference,
    KubernetesService,
    Metadata,
    OtherManifest,
    Route,
    Statement,
    Variable,
    Workload,
)
from groundwire_ingest.tree.services.yaml_values import (
    YamlValue,
    below,
    entries,
    items,
    plain_name,
    scalar,
    yaml_values,
)
from groundwire_ingest.tree.yaml_tree import YamlError, yaml_documents

_NAME_LABELS = ("app.kubernetes.io/name", "app", "name")
_TEMPLATE = ("spec", "template")
_POD_TEMPLATES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        "DaemonSet Deployment DeploymentConfig Job ReplicaSet ReplicationController Rollout StatefulSet".split(),
        _TEMPLATE,
    ),
    "CronJob": ("spec", "jobTemplate", *_TEMPLATE),
    "Pod": (),
}
_GATEWAY_ROUTES = frozenset({"GRPCRoute", "HTTPRoute", "TCPRoute", "TLSRoute", "UDPRoute"})
_KNATIVE_SERVING = "serving.knative.dev/"


def manifest_statements(manifest: YamlValue) -> tuple[Statement, ...]:
    """The statements of a manifest, or of each item of a List; none without the name of a service or namespace."""
    is_list = scalar(below(manifest, "kind")) == "List"
    stated = map(_statement, items(below(manifest, "items")) if is_list else [manifest])
    return tuple(statement for statement in stated if statement is not None)


def _statement(manifest: YamlValue) -> Statement | None:
    kind = scalar(below(manifest, "kind"))
    is_knative = scalar(below(manifest, "apiVersion")).startswith(_KNATIVE_SERVING)
    template = _TEMPLATE if kind == "Service" and is_knative else _POD_TEMPLATES.get(kind)
    if template is not None:
        return _workload(manifest, template)
    if kind == "Namespace":
        return OtherManifest(Metadata("", plain_name(below(manifest, "metadata", "name")), ""))
    spec = below(manifest, "spec")
    if kind == "Service":
        selector = below(spec, "selector")
        return KubernetesService(_metadata(manifest, selector), _pairs(selector))
    if kind == "Ingress":
        return Route(_metadata(manifest), tuple(_ingress_backends(spec)))
    if kind in _GATEWAY_ROUTES:
        return Route(_metadata(manifest), tuple(_gateway_backends(spec)))
    if kind == "ConfigMap":
        texts = ((key, value) for key, value in entries(below(manifest, "data")).items() if isinstance(value, str))
        kept = (Variable(key, text) for key, text in texts if len(text) <= MAX_VALUE_CHARACTERS)
        return ConfigMap(_metadata(manifest), tuple(kept))
    metadata = _metadata(manifest)
    return OtherManifest(metadata) if kind and metadata.label else None


def _metadata(manifest: YamlValue, pod_labels: YamlValue = "") -> Metadata:
    return Metadata(
        plain_name(below(manifest, "metadata", "name")),
        plain_name(below(manifest, "metadata", "namespace")),
        _label(below(manifest, "metadata", "labels")) or _label(pod_labels),
    )


def _label(labels: YamlValue) -> str:
    return next(filter(None, (plain_name(below(labels, key)) for key in _NAME_LABELS)), "")


def _pairs(labels: YamlValue) -> frozenset[tuple[str, str]]:
    return frozenset((key, value) for key, value in entries(labels).items() if isinstance(value, str))


def _workload(manifest: YamlValue, template: tuple[str, ...]) -> Workload:
    labels = below(manifest, *template, "metadata", "labels")
    pod = below(manifest, *template, "spec")
    containers = (*items(below(pod, "containers")), *items(below(pod, "initContainers")))
    environment = [item for container in containers for item in _environment(container)]
    return Workload(
        _metadata(manifest, labels),
        _pairs(labels),
        tuple(item for item in environment if isinstance(item, Variable)),
        tuple(item for item in environment if isinstance(item, ConfigReference)),
    )


def _environment(container: YamlValue) -> Iterator[Variable | ConfigReference]:
    for item in items(below(container, "env")):
        name, source = scalar(below(item, "name")), below(item, "valueFrom", "configMapKeyRef")
        if plain_name(below(source, "name")):
            yield ConfigReference(plain_name(below(source, "name")), scalar(below(source, "key")), name)
        elif scalar(below(item, "value")):
            yield Variable(name, scalar(below(item, "value")))
    for item in items(below(container, "envFrom")):
        name = plain_name(below(item, "configMapRef", "name"))
        if name:
            yield ConfigReference(name)


def _ingress_backends(spec: YamlValue) -> Iterator[Backend]:
    """Those of networking.k8s.io/v1 and of the versions before it, which say `backend` and `serviceName`."""
    backends = [below(spec, "defaultBackend"), below(spec, "backend")]
    for rule in items(below(spec, "rules")):
        backends.extend(below(path, "backend") for path in items(below(rule, "http", "paths")))
    for backend in backends:
        name = plain_name(below(backend, "service", "name")) or plain_name(below(backend, "serviceName"))
        if name:
            yield Backend(name)


def _gateway_backends(spec: YamlValue) -> Iterator[Backend]:
    for rule in items(below(spec, "rules")):
        for reference in items(below(rule, "backendRefs")):
            name = plain_name(below(reference, "name"))
            if name and scalar(below(reference, "kind")) in ("", "Service"):
                yield Backend(name, plain_name(below(reference, "namespace")))


_DIRECTIVE = re.compile(r"\{\{(?:[^{}]|\{(?!\{)|\}(?!\}))*\}\}")
_HOLES_ALONE = re.compile(rf"^[ \t\r]*(?:{HOLE}[ \t\r]*)+$", re.MULTILINE)


def template_statements(text: str, symbol: str) -> tuple[Statement, ...]:
    """The plain statements of one document of a template.

    Lines of nothing but directives are left out, and no name or value that holds a directive counts. `symbol` is
    `Kind/name` as far as they can be read line by line: all there is when the rest is no YAML. A selector may lack
    the labels that a directive brings, so it links nothing.
    """
    kind, _, name = symbol.partition("/")
    return tuple(
        replace(statement, selector=frozenset()) if isinstance(statement, KubernetesService) else statement
        for statement in manifest_statements(_readable(text) or {"kind": kind, "metadata": {"name": name}})
    )


def _readable(text: str) -> YamlValue:
    """The document with a HOLE for each directive; "" when that is no YAML."""
    without_directives = _DIRECTIVE.sub(lambda match: HOLE + "\n" * match[0].count("\n"), text)
    try:
        documents = yaml_documents(_HOLES_ALONE.sub("", without_directives))
        return yaml_values(documents[:1])[0] if documents else ""
    except YamlError:
        return ""
