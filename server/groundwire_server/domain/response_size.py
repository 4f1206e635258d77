"""The most bytes of the parts of a response on the wire: it must be below the limit of gRPC clients.

A part that does not fit is left out whole. This is decided before its text is read, and before the edges of a node are
looked for. There is no message yet then that an encoder could measure; bounds are a few bytes above what it would say,
and tests compare each of them with it (ADR 48).
"""

import json

from groundwire_index.link_template import LinkTemplate
from groundwire_index.nodes.node import Edge, Location, Node
from groundwire_index.scope import Scope
from groundwire_server.domain.graph.expansion import ExpandedNode
from groundwire_server.domain.graph.paths import DependencyPath
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import ServiceContext
from groundwire_server.domain.search.search import NodeLabel

QUERY_BYTES = 16 * 1024
"""The bytes of a response to a query without its matches, its services and the parts repeated from the request."""
ACTION_BYTES = 2 * 1024
"""The bytes of a response to another action without its repeated fields."""

_STRING, _SKIPPED, _PATH, _EDGE, _PATH_NODE, _EXPANDED_NODE, _TEXT, _MATCH = 8, 16, 16, 32, 112, 120, 192, 608
"""Tags, lengths and numbers of a message, those of its citation too, and a node's hash; of a string its tag and
length."""


class Room:
    """Bytes that are left in a response; what does not fit is refused whole."""

    def __init__(self, size: int) -> None:
        self._left = size

    def take(self, size: int) -> bool:
        """Takes `size` bytes if they are left, and says whether they were."""
        if size > self._left:
            return False
        self._left -= size
        return True


def of_string(value: str) -> int:
    """A string as a field of its own."""
    return _encoded(value) + _STRING


def of_text(strings: int, node_id: str, parent_id: str) -> int:
    """A fetched text; `strings` are the bytes of its text, paths, symbol and link. The id counts for the citation."""
    return strings + _encoded(f"{node_id}{parent_id}") + _TEXT


def of_link(location: Location) -> int:
    """The link of a location."""
    url = location.url
    return of_string(url) if url else 0


def of_link_to(path: str, links: LinkTemplate | None) -> int:
    """The link to some lines of a file."""
    return 0 if links is None else links.most_characters(path) + _STRING


def of_skipped(id_: str) -> int:
    """The entry that says why the text of a node is left out."""
    return _encoded(id_) + _SKIPPED


def of_expanded_node(node: ExpandedNode) -> int:
    """A node that a walk reached, and its id among the seeds."""
    strings = 2 * _encoded(node.id) + _encoded(f"{node.parent_id}{node.symbol}{node.location.path}")
    return strings + of_link(node.location) + _EXPANDED_NODE


def of_edge(edge: Edge) -> int:
    """An edge between reached nodes, or a hop of a path."""
    return _encoded(f"{edge.from_id}{edge.to_id}{edge.edge_type}") + _EDGE


def of_path(path: DependencyPath) -> int:
    """A path without its nodes."""
    return _PATH + sum(map(of_string, path.node_ids)) + sum(map(of_edge, path.hops))


def of_path_node(node: NodeLabel) -> int:
    """A node that lies on paths."""
    return _encoded(f"{node.id}{node.symbol}{node.location.path}") + of_link(node.location) + _PATH_NODE


def of_match(node: Node) -> int:
    """A match, or a parent of one, without its text."""
    strings = (
        *(node.id, node.local_id, node.kind, node.symbol, node.signature, node.language, node.corpus_type),
        *(node.collection_id, node.case_id, node.document_id, node.document_version_id, node.service_name),
        *(node.repo_name, node.section_path, node.author, node.channel, node.source_uri, node.context_prefix),
        *(node.location.path, node.location.path or node.id, json.dumps(node.metadata, ensure_ascii=False)),
    )
    return _MATCH + sum(map(of_string, strings)) + of_link(node.location)


def of_scope(scope: Scope) -> int:
    """The version of a match, or one of those that answered."""
    return sum(map(of_string, scope.names.values())) + _STRING


def of_left_out(scope: Scope) -> int:
    """A retriever that a version has no data for."""
    return of_scope(scope) + _STRING


def of_service(context: ServiceContext) -> int:
    """The neighbourhood of a service."""
    names = (context.service_name, *context.calls, *context.called_by)
    edges = sum(
        _EDGE + sum(map(of_string, (edge.from_service, edge.to_service, edge.edge_type))) for edge in context.edges
    )
    return sum(map(of_string, names)) + edges + _EDGE


def of_request(request: QueryRequest) -> int:
    """The parts of a query's request that `meta.routing` repeats: a filter alone may name a mebibyte of collections."""
    routed_by = (request.process, request.doc_class, request.workflow_id)
    return sum(map(of_string, (*routed_by, *request.filter.collection_ids)))


def _encoded(value: str) -> int:
    return len(value.encode())
