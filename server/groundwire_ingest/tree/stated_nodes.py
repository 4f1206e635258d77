"""What the path of a file decides about its nodes: who may see them, their service, and whether they are tests."""

from collections.abc import Iterable, Iterator, Mapping

from groundwire_index.nodes.node import NodeAccess
from groundwire_ingest.records import SourceEdge, SourceNode
from groundwire_ingest.tree.access_rules import AccessRules
from groundwire_ingest.tree.deploy import DeployAnalysis
from groundwire_ingest.tree.flag_signs import FlagSigns
from groundwire_ingest.tree.folders import folder_of
from groundwire_ingest.tree.services.catalog import ServiceCatalog
from groundwire_ingest.tree.walk import ListedFile


class TreeServices:
    """The services of a tree: one catalogue for each demand, from the files that callers who meet it may see."""

    def __init__(
        self, access: AccessRules, deployments: Mapping[str, DeployAnalysis], files: Iterable[ListedFile]
    ) -> None:
        self._access = access
        self._parts = [part for deployment in deployments.values() for part in deployment.parts]
        self._dockerfiles = [item.path for item in files if item.language == "dockerfile"]
        self._known: dict[NodeAccess, ServiceCatalog] = {}

    def named(self, node: SourceNode) -> SourceNode:
        """A node with the name of its service."""
        demand = self._access.demand_of(node.path)
        if demand not in self._known:
            known = self._access.may_read(node.path)
            self._known[demand] = ServiceCatalog(
                (part for part in self._parts if known(part.path)), map(folder_of, filter(known, self._dockerfiles))
            )
        return self._known[demand].named(node)

    def edges(self) -> Iterator[SourceEdge]:
        """Who may not see an edge's ends does not see the edge."""
        return ServiceCatalog(self._parts, map(folder_of, self._dockerfiles)).edges()


class NodeStatements:
    """States of nodes what their path decides."""

    def __init__(self, access: AccessRules, services: TreeServices, flags: FlagSigns) -> None:
        self._access = access
        self._services = services
        self._flags = flags

    def stated(self, nodes: Iterable[SourceNode]) -> Iterator[SourceNode]:
        """The nodes of a file that has been read, with its access rules, service, and purpose as far as it is known."""
        for node in nodes:
            self._access.keep(node)
            yield self._access.stated(self._flags.marked(self._services.named(node)))
