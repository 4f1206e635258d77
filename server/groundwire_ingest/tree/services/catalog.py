"""The services of a source tree: their folders and nodes, and the edges between them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.services.addresses import addresses
from groundwire_ingest.tree.services.declarations import Declaration, declare
from groundwire_ingest.tree.services.directory import NameTable, ServiceDirectory
from groundwire_ingest.tree.services.statements import (
    ComposeService,
    ConfigMap,
    ConfigReference,
    DeployedPart,
    KubernetesService,
    Route,
    Statement,
    Variable,
    Workload,
)

CALLS_SERVICE = "CallsService"
ROUTES_TO = "RoutesTo"

_CALLEES: Sequence[type[Statement]] = (Workload, KubernetesService, ComposeService)
_TARGETS: Sequence[type[Statement]] = (KubernetesService, Workload, ComposeService)
_MINOR = re.compile("[-_]")


class ServiceCatalog:
    """The statements of a tree's deploy files about its services, in any order.

    `dockerfile_folders` are the folders that hold a Dockerfile, relative to the tree, its root being empty.

    A folder is a service's when Compose builds the service from it or from a Dockerfile in it, and builds no other from
    there. Otherwise it is a service's when it holds a Dockerfile and has the service's name, written with or without
    `-` and `_`, in capitals or not. A name that fits several services so fits the one that it equals, else none.
    """

    def __init__(self, parts: Iterable[DeployedPart], dockerfile_folders: Iterable[str]) -> None:
        self._declarations = declare(parts)
        declared = [item for item in self._declarations if item.service]
        self._service_of_key = _only((key, item.service) for item in declared for key in item.part.keys)
        composed = ((item.statement, item.service) for item in declared if isinstance(item.statement, ComposeService))
        self._service_of_folder = _only((folder, service) for stated, service in composed for folder in stated.folders)
        named: defaultdict[str, set[str]] = defaultdict(set)
        for item in declared:
            named[_loose(item.service)].add(item.service)
        for folder in dockerfile_folders:
            name = folder.rpartition("/")[2]
            fitting = named.get(_loose(name), set())
            fitting = fitting & {name} or fitting
            if name and len(fitting) == 1:
                self._service_of_folder.setdefault(folder, next(iter(fitting)))

    def named(self, node: SourceNode) -> SourceNode:
        """The node with its service: its own, else the one that it declares, else its folder's, else none.

        The innermost folder of a service around a file decides. A node that declares several services has its folder's.
        """
        around = (self._service_of_folder.get(folder, "") for folder in folders_above(node.path))
        name = node.service_name or self._service_of_key.get(node.key) or next(filter(None, around), "")
        return replace(node, service_name=name) if name != node.service_name else node

    def edges(self) -> Iterator[SourceEdge]:
        """The edges between the deploy nodes of services, in the order of the nodes that they leave.

        `CallsService` leads from a workload or Compose service to each service that a variable of its containers names
        as a host, with the confidence of `addresses`; never within one service. `RoutesTo` leads from an Ingress or a
        route of the Gateway API to the services behind it, with confidence 1. The same edge may come more than once.
        """
        edges = _ServiceEdges(self._declarations)
        for item in self._declarations:
            yield from edges.routes(item, item.statement) if isinstance(item.statement, Route) else edges.calls(item)


def _only(stated: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The service of each key or folder that has just one."""
    services: defaultdict[str, set[str]] = defaultdict(set)
    for place, service in stated:
        services[place].add(service)
    return {place: next(iter(names)) for place, names in services.items() if len(names) == 1}


def _loose(name: str) -> str:
    return _MINOR.sub("", name).casefold()


class _ServiceEdges:
    """The edges that leave a declaration, by the directory and the ConfigMaps of a tree."""

    def __init__(self, declarations: Sequence[Declaration]) -> None:
        self._directory = ServiceDirectory(declarations)
        self._config_maps: NameTable[ConfigMap] = NameTable()
        for item in declarations:
            if isinstance(item.statement, ConfigMap):
                name = item.statement.metadata.name
                self._config_maps.add(item.namespace, name, item.part.path, item.key, item.statement)

    def calls(self, caller: Declaration) -> Iterator[SourceEdge]:
        """To the services that the variables of a workload or Compose service name."""
        for variable in self._variables(caller):
            for address in addresses(variable):
                found = self._directory.find(address.host, caller)
                if found is not None and found.declaration.service != caller.service:
                    callee = self._directory.node(found, caller, _CALLEES)
                    yield from _edge(caller, callee, CALLS_SERVICE, address.confidence)

    def routes(self, route: Declaration, statement: Route) -> Iterator[SourceEdge]:
        """To the services behind a route."""
        for backend in statement.backends:
            host = f"{backend.name}.{backend.namespace}" if backend.namespace else backend.name
            found = self._directory.find(host, route)
            if found is not None:
                is_named = isinstance(found.declaration.statement, KubernetesService)
                target = found.declaration if is_named else self._directory.node(found, route, _TARGETS)
                yield from _edge(route, target, ROUTES_TO, 1.0)

    def _variables(self, declaration: Declaration) -> Iterator[Variable]:
        statement = declaration.statement
        if isinstance(statement, Workload | ComposeService):
            yield from statement.variables
        for reference in statement.references if isinstance(statement, Workload) else ():
            yield from self._referenced(reference, declaration)

    def _referenced(self, reference: ConfigReference, caller: Declaration) -> Iterator[Variable]:
        """The values of a ConfigMap of the caller's namespace, else of the only one of that name in the tree."""
        name, path = reference.config_map, caller.part.path
        config = self._config_maps.find_in(caller.namespace, name, path) or self._config_maps.find_only(name, path)
        for entry in config.data if config is not None else ():
            if not reference.key:
                yield entry
            elif entry.name == reference.key:
                yield Variable(reference.variable, entry.value)


def _edge(from_: Declaration, to: Declaration, edge_type: str, confidence: float) -> Iterator[SourceEdge]:
    if from_.key != to.key:
        yield SourceEdge(from_.key, to.key, edge_type, from_.part.origin, confidence)
