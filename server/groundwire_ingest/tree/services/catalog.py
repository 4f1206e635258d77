"""The services of a source tree: their folders and nodes, and the calls between them."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.folders import folders_above
from groundwire_ingest.tree.services.declarations import Declaration, declare
from groundwire_ingest.tree.services.edges import ServiceEdges
from groundwire_ingest.tree.services.statements import ComposeService, DeployedPart

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
