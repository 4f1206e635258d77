"""The services of a source tree: which node belongs to which, and who calls whom."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.services.declarations import declare
from groundwire_ingest.tree.services.edges import ServiceEdges
from groundwire_ingest.tree.services.folders import ServiceFolders
from groundwire_ingest.tree.services.statements import DeployedPart


class ServiceCatalog:
    """What the deploy files of a tree say of its services, in whatever order they come.

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
