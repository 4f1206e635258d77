"""The services of a source tree: their folders and nodes, and the edges between them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.services.addresses import addresses
from groundwire_ingest.tree.services.declarations import Declaration, declare
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
                called = self._directory.find(address.host, caller)
                if called is not None and called.declaration.service != caller.service:
                    callee = self._directory.node(called, caller, _CALLEES)
                    yield from _edge(caller, callee, CALLS_SERVICE, address.confidence)

    def routes(self, route: Declaration, statement: Route) -> Iterator[SourceEdge]:
        """To the services behind a route."""
        for backend in statement.backends:
            host = f"{backend.name}.{backend.namespace}" if backend.namespace else backend.name
            routed = self._directory.find(host, route)
            if routed is not None:
                is_named = isinstance(routed.declaration.statement, KubernetesService)
                target = routed.declaration if is_named else self._directory.node(routed, route, _TARGETS)
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


Item = TypeVar("Item")


class NameTable(Generic[Item]):
    """The things of a tree that are called by names that need not be unique.

    Nearest to a file are items of the same file, then items below the innermost folder around it; of several the one
    that was added first. A look-up takes one step for each folder of the path.
    """

    def __init__(self) -> None:
        self._nearest: dict[tuple[str | None, str, str], Item] = {}
        self._meanings: defaultdict[str, set[str]] = defaultdict(set)

    def add(self, namespace: str, name: str, path: str, meaning: str, item: Item) -> None:
        """Adds an item of the file `path`; items of one name are distinguished only by `meaning`."""
        self._meanings[name].add(meaning)
        for place in _places(path):
            self._nearest.setdefault((namespace, name, place), item)
            self._nearest.setdefault((None, name, place), item)

    def find_in(self, namespace: str | None, name: str, path: str) -> Item | None:
        """The nearest to `path` of that name in a namespace, None being all of them; None when there is none."""
        declarations = (self._nearest.get((namespace, name, place)) for place in _places(path))
        return next((item for item in declarations if item is not None), None)

    def find_only(self, name: str, path: str) -> Item | None:
        """The nearest of that name in any namespace when all of them mean the same; None otherwise."""
        return self.find_in(None, name, path) if len(self._meanings.get(name, ())) == 1 else None


def _places(path: str) -> Iterator[str]:
    """`path` and the folders around it, innermost first; each folder with a trailing slash, the root empty."""
    yield path
    for folder in folders_above(path.rstrip("/")):
        yield folder and f"{folder}/"


_POD = re.compile(r"[a-z0-9-]+-\d+")


@dataclass(frozen=True, slots=True)
class Found:
    """The meaning of a host's name: the declaration that has the name, and the namespace where it was looked for.

    `namespace` is None when the name was found because all of that name in the tree mean one service.
    """

    declaration: Declaration
    namespace: str | None


class ServiceDirectory:
    """Finds the service that a host's name means, and the node that declares a service.

    Names compare without case. Names in the network (of Kubernetes Services and Compose services) come before the
    names of workloads and of services.
    """

    def __init__(self, declarations: Iterable[Declaration]) -> None:
        self._hosts: NameTable[Declaration] = NameTable()
        self._names: NameTable[Declaration] = NameTable()
        kinds = (Workload, KubernetesService, ComposeService)
        self._nodes: dict[type[Statement], NameTable[Declaration]] = {kind: NameTable() for kind in kinds}
        self._namespaces: set[str] = set()
        for declaration in declarations:
            self._namespaces.add(declaration.namespace)
            if declaration.service and type(declaration.statement) in self._nodes:
                self._add(declaration)

    def find(self, host: str, caller: Declaration) -> Found | None:
        """The meaning of `host` for `caller`; None when it means no service of the tree, or several.

        A name alone is looked for in the caller's namespace, then in the whole tree, where it must mean one service.
        `name.namespace`, `name.namespace.svc` and what may follow are looked for in that namespace, then among the
        manifests that state none. A pod of a StatefulSet (`db-0.db`) is known by its Service.
        """
        name = host.lower()
        resolved = self._find_name(name, caller)
        if resolved is None and "." in name:
            pod, _, service = name.partition(".")
            resolved = self._find_qualified(name.split("."), caller)
            if resolved is None and _POD.fullmatch(pod):
                resolved = self._find_name(service, caller) or self._find_qualified(service.split("."), caller)
        return resolved

    def node(self, resolved: Found, caller: Declaration, kinds: Sequence[type[Statement]]) -> Declaration:
        """The declaration of the service that is nearest to `caller`, of the first of `kinds` that there is."""
        service, path = resolved.declaration.service, caller.part.path
        nodes = (self._nodes[kind].find_in(resolved.namespace, service, path) for kind in kinds)
        return next((node for node in nodes if node is not None), resolved.declaration)

    def _add(self, declaration: Declaration) -> None:
        statement, service, path = declaration.statement, declaration.service, declaration.part.path
        namespace = declaration.namespace
        self._nodes[type(statement)].add(namespace, service, path, service, declaration)
        hosts = statement.hosts if isinstance(statement, ComposeService) else (statement.metadata.name,)
        table = self._names if isinstance(statement, Workload) else self._hosts
        for host in filter(None, hosts):
            table.add(namespace, host.lower(), path, service, declaration)
        self._names.add(namespace, service.lower(), path, service, declaration)

    def _find_name(self, name: str, caller: Declaration) -> Found | None:
        path = caller.part.path
        only = self._hosts.find_only(name, path) or self._names.find_only(name, path)
        return self._find_in(caller.namespace, name, path) or (None if only is None else Found(only, None))

    def _find_qualified(self, labels: Sequence[str], caller: Declaration) -> Found | None:
        name, *rest = labels
        is_cluster_name = rest[1:2] == ["svc"]
        if not rest or (len(rest) > 1 and not is_cluster_name):
            return None
        resolved = self._find_in(rest[0], name, caller.part.path)
        if resolved is None and (is_cluster_name or rest[0] in self._namespaces):
            resolved = self._find_in("", name, caller.part.path)
        return resolved

    def _find_in(self, namespace: str, name: str, path: str) -> Found | None:
        item = self._hosts.find_in(namespace, name, path) or self._names.find_in(namespace, name, path)
        return None if item is None else Found(item, namespace)
