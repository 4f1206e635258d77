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

_MINOR = re.compile("[-_]")


class ServiceFolders:
    """The folders that services are built from; the innermost one around a file decides the file's service.

    A folder is a service's when Compose builds the service from it or from a Dockerfile in it, and builds no other from
    there. Otherwise it is a service's when it holds a Dockerfile and has the service's name, written with or without
    `-` and `_`, in capitals or not. A name that fits several services so fits the one that it equals, else none.
    """

    def __init__(self, declarations: Iterable[Declaration], dockerfile_folders: Iterable[str]) -> None:
        built: defaultdict[str, set[str]] = defaultdict(set)
        named: defaultdict[str, set[str]] = defaultdict(set)
        for declaration in declarations:
            if declaration.service:
                named[_loose(declaration.service)].add(declaration.service)
            if isinstance(declaration.statement, ComposeService):
                for folder in declaration.statement.folders:
                    built[folder].add(declaration.service)
        self._services = {folder: next(iter(names)) for folder, names in built.items() if len(names) == 1}
        for folder in dockerfile_folders:
            name = folder.rpartition("/")[2]
            fitting = named.get(_loose(name), set())
            fitting = fitting & {name} or fitting
            if name and len(fitting) == 1:
                self._services.setdefault(folder, next(iter(fitting)))

    def service_of(self, path: str) -> str:
        """The service that the file belongs to; "" for none."""
        return next((self._services[folder] for folder in folders_above(path) if folder in self._services), "")


def _loose(name: str) -> str:
    return _MINOR.sub("", name).casefold()


class ServiceCatalog:
    """The statements of a tree's deploy files about its services, in any order.

    `dockerfile_folders` are the folders that hold a Dockerfile, relative to the tree, its root being empty.
    """

    def __init__(self, parts: Iterable[DeployedPart], dockerfile_folders: Iterable[str]) -> None:
        declarations = declare(parts)
        services: defaultdict[str, set[str]] = defaultdict(set)
        for declaration in declarations:
            if declaration.service:
                for key in declaration.part.keys:
                    services[key].add(declaration.service)
        self._service_of_key = {key: next(iter(names)) for key, names in services.items() if len(names) == 1}
        self._folders = ServiceFolders(declarations, dockerfile_folders)
        self._edges = ServiceEdges(declarations)

    def named(self, node: SourceNode) -> SourceNode:
        """The node with its service: its own, else the one that it declares, else its folder's, else none.

        A node that declares several services has its folder's.
        """
        name = node.service_name or self._service_of_key.get(node.key) or self._folders.service_of(node.path)
        return replace(node, service_name=name) if name != node.service_name else node

    def edges(self) -> Iterator[SourceEdge]:
        """The CallsService and RoutesTo edges; the same one may come more than once."""
        return self._edges.edges()


CALLS_SERVICE = "CallsService"
ROUTES_TO = "RoutesTo"

_CALLEES: Sequence[type[Statement]] = (Workload, KubernetesService, ComposeService)
_TARGETS: Sequence[type[Statement]] = (KubernetesService, Workload, ComposeService)


class ServiceEdges:
    """The edges between the deploy nodes of a tree's services.

    `CallsService` leads from a workload or Compose service to each service that a variable of its containers names
    as a host, with the confidence of `addresses`; never within one service. `RoutesTo` leads from an Ingress or a
    route of the Gateway API to the services behind it, with confidence 1.
    """

    def __init__(self, declarations: Sequence[Declaration]) -> None:
        self._declarations = declarations
        self._directory = ServiceDirectory(declarations)
        self._config_maps: NameTable[ConfigMap] = NameTable()
        for declaration in declarations:
            statement = declaration.statement
            if isinstance(statement, ConfigMap):
                self._config_maps.add(
                    declaration.namespace, statement.metadata.name, declaration.part.path, declaration.key, statement
                )

    def edges(self) -> Iterator[SourceEdge]:
        """Every edge, in the order of the nodes that they leave; the same one may come more than once."""
        for declaration in self._declarations:
            if isinstance(declaration.statement, Route):
                yield from self._routes(declaration, declaration.statement)
            else:
                yield from self._calls(declaration)

    def _calls(self, caller: Declaration) -> Iterator[SourceEdge]:
        for variable in self._variables(caller):
            for address in addresses(variable):
                found = self._directory.find(address.host, caller)
                if found is not None and found.declaration.service != caller.service:
                    callee = self._directory.node(found, caller, _CALLEES)
                    yield from _edge(caller, callee, CALLS_SERVICE, address.confidence)

    def _routes(self, route: Declaration, statement: Route) -> Iterator[SourceEdge]:
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
        if isinstance(statement, Workload):
            for reference in statement.references:
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
