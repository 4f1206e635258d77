"""Compose files: their services, the environment of each, and the folders that they are built from."""

import posixpath
from collections.abc import Iterator

from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.services.addresses import HOLE, with_defaults
from groundwire_ingest.tree.services.statements import ComposeService, Variable
from groundwire_ingest.tree.services.yaml_values import YamlValue, below, entries, items, plain_name, scalar


def compose_services(document: YamlValue, path: str) -> tuple[ComposeService, ...]:
    """The services of a Compose file, in order; `path` is the file's. A service whose key is no plain name is none."""
    project = folder_of(path)
    return tuple(
        ComposeService(
            name,
            project,
            tuple(dict.fromkeys((name, *_host_names(service)))),
            tuple(_variables(below(service, "environment"))),
            tuple(dict.fromkeys(_build_folders(below(service, "build"), project))),
        )
        for name, service in entries(below(document, "services")).items()
        if plain_name(name)
    )


def _host_names(service: YamlValue) -> Iterator[str]:
    for key in ("container_name", "hostname"):
        name = plain_name(with_defaults(scalar(below(service, key))))
        if name:
            yield name
    for network in entries(below(service, "networks")).values():
        yield from filter(None, map(plain_name, items(below(network, "aliases"))))


def _variables(environment: YamlValue) -> Iterator[Variable]:
    for name, value in entries(environment).items():
        yield Variable(name, scalar(value))
    for item in items(environment):
        name, _, text = scalar(item).partition("=")
        yield Variable(name, text)


def _build_folders(build: YamlValue, project: str) -> Iterator[str]:
    """The folder of the build's context, then that of its Dockerfile; neither when it lies outside of the tree."""
    context = with_defaults(scalar(build) or scalar(below(build, "context")) or "." if build else "")
    if not context or HOLE in context or ":" in context or context.startswith("/"):
        return
    dockerfile = with_defaults(scalar(below(build, "dockerfile")) or "Dockerfile")
    for file in ("Dockerfile", dockerfile):
        folder = posixpath.dirname(posixpath.normpath(posixpath.join(project, context, file)))
        if HOLE not in folder and folder != ".." and not folder.startswith(("../", "/")):
            yield folder
