"""Edges between services: calls that environments give away, and routes from outside."""

from collections.abc import Iterator, Sequence

from groundwire_ingest.records import SourceEdge
from groundwire_ingest.tree.services.addresses import addresses
from groundwire_ingest.tree.services.declarations import Declaration
from groundwire_ingest.tree.services.directory import NameTable, ServiceDirectory
from groundwire_ingest.tree.services.statements import (
    ComposeService,
    ConfigMap,
    ConfigReference,
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
