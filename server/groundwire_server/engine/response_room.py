"""How much a response to a query may still hold, so that it stays below what gRPC clients accept."""

import json

from groundwire_index.limits import RESPONSE_BYTES
from groundwire_index.nodes.node import Node
from groundwire_server.domain.query.query import QueryRequest
from groundwire_server.domain.query.query_result import ServiceContext

HEADROOM_BYTES = 16 * 1024
"""What a response holds besides its matches, its services and what it repeats of the request."""
MATCH_OVERHEAD_BYTES = 512
"""An upper bound on a match's numbers, hash, field tags and lengths."""
STRING_OVERHEAD_BYTES = 8
EDGE_OVERHEAD_BYTES = 32


class ResponseRoom:
    """Bytes that are left; what does not fit is refused whole."""

    def __init__(self, request: QueryRequest) -> None:
        self._left = RESPONSE_BYTES - HEADROOM_BYTES - _repeated_bytes(request)

    def take(self, size: int) -> bool:
        """Takes `size` bytes if they are left, and says whether they were."""
        if size > self._left:
            return False
        self._left -= size
        return True


def _repeated_bytes(request: QueryRequest) -> int:
    """What `meta.routing` tells of the request: a filter alone may name a mebibyte of collections."""
    routed_by = (request.process, request.doc_class, request.workflow_id)
    return sum(map(string_bytes, (*routed_by, *request.filter.collection_ids)))


def node_bytes(node: Node) -> int:
    """An upper bound on what a node adds to a response besides its text."""
    strings = (
        *(node.id, node.local_id, node.kind, node.symbol, node.signature, node.language, node.corpus_type),
        *(node.collection_id, node.case_id, node.document_id, node.document_version_id, node.service_name),
        *(node.repo_name, node.section_path, node.author, node.channel, node.source_uri, node.context_prefix),
        *(node.location.path, json.dumps(node.metadata, ensure_ascii=False)),
    )
    return MATCH_OVERHEAD_BYTES + sum(map(string_bytes, strings))


def string_bytes(value: str) -> int:
    """An upper bound on what a string adds to a response."""
    return len(value.encode()) + STRING_OVERHEAD_BYTES


def context_bytes(context: ServiceContext) -> int:
    """An upper bound on what a service's neighbourhood adds to a response."""
    names = (context.service_name, *context.calls, *context.called_by)
    edges = sum(
        EDGE_OVERHEAD_BYTES + sum(map(string_bytes, (edge.from_service, edge.to_service, edge.edge_type)))
        for edge in context.edges
    )
    return sum(map(string_bytes, names)) + edges + EDGE_OVERHEAD_BYTES
