"""ExpandDependencyTree and FindPaths between protobuf and the domain."""

from groundwire.evidence.evidence_nodes import EvidenceEdge
from groundwire.v1 import retrieval_pb2
from groundwire_server.domain.access.access import AccessContext
from groundwire_server.domain.graph.expansion import Direction, ExpandRequest, Expansion
from groundwire_server.domain.graph.paths import Paths, PathsRequest
from groundwire_server.domain.search.search import NodeLabel
from groundwire_server.domain.validation import Violations
from groundwire_server.rpc.conversions.filter import decode_filter
from groundwire_server.rpc.conversions.location import encode_location
from groundwire_server.rpc.conversions.scope import decode_lifecycle, decode_scopes, decoder_of, encode_scopes
from groundwire_server.rpc.conversions.shared_fields import given_fields, shared_fields

decode_direction = decoder_of(Direction, retrieval_pb2.EdgeDirection, Direction.OUTGOING)
_walk_fields = given_fields(ExpandRequest, retrieval_pb2.ExpandDependencyTreeRequest)


def decode_expand(request: retrieval_pb2.ExpandDependencyTreeRequest, access: AccessContext) -> ExpandRequest:
    """The walk a caller with `access` asks for."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    return ExpandRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        **_walk_fields(request),
        direction=decode_direction(request.direction, "direction", violations),
        filter=decode_filter(request.filter, violations),
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        broken=violations.noted,
    )


def encode_expansion(expansion: Expansion) -> retrieval_pb2.ExpandDependencyTreeResponse:
    """The neighbourhood and how the walk went."""
    return retrieval_pb2.ExpandDependencyTreeResponse(
        seed_ids=expansion.seed_ids,
        nodes=[
            retrieval_pb2.ReachedNode(
                id=node.id,
                depth=node.depth,
                parent_id=node.parent_id,
                is_test=node.is_test,
                is_generated=node.is_generated,
                symbol=node.symbol,
                location=encode_location(node.location),
            )
            for node in expansion.nodes
        ],
        edges=[encode_edge(edge) for edge in expansion.edges],
        debug=retrieval_pb2.ExpandDebug(
            seed_count=expansion.seed_count,
            expanded_count=len(expansion.nodes),
            edges_count=len(expansion.edges),
            truncated=expansion.truncated,
            reason=expansion.reason.value,
        ),
        index=expansion.index,
        scopes=encode_scopes(expansion.scopes).values(),
    )


def encode_edge(edge: EvidenceEdge) -> retrieval_pb2.GraphEdge:
    """An edge of a walk, a path or evidence."""
    return retrieval_pb2.GraphEdge(
        from_id=edge.from_id, to_id=edge.to_id, edge_type=edge.edge_type, confidence=edge.confidence, line=edge.line
    )


_path_fields = given_fields(PathsRequest, retrieval_pb2.FindPathsRequest)
_node_fields = shared_fields(NodeLabel, retrieval_pb2.PathNode)
_debug_fields = shared_fields(Paths, retrieval_pb2.FindPathsDebug)


def decode_paths(request: retrieval_pb2.FindPathsRequest, access: AccessContext) -> PathsRequest:
    """The search for paths that a caller with `access` asks for."""
    violations = Violations()
    scope, scopes = decode_scopes(request, violations)
    return PathsRequest(
        scope=scope,
        scopes=scopes,
        access=access,
        **_path_fields(request),
        direction=decode_direction(request.direction, "direction", violations),
        filter=decode_filter(request.filter, violations),
        lifecycle=decode_lifecycle(request.lifecycle, "lifecycle", violations),
        broken=violations.noted,
    )


def encode_paths(result: Paths) -> retrieval_pb2.FindPathsResponse:
    """The paths and how the search went."""
    return retrieval_pb2.FindPathsResponse(
        paths=[
            retrieval_pb2.DependencyPath(
                node_ids=path.node_ids, hops=map(encode_edge, path.hops), confidence=path.confidence
            )
            for path in result.paths
        ],
        nodes=[
            retrieval_pb2.PathNode(**_node_fields(node), location=encode_location(node.location))
            for node in result.nodes
        ],
        debug=retrieval_pb2.FindPathsDebug(**_debug_fields(result), truncated=result.truncated),
        index=result.index,
        scopes=encode_scopes(result.scopes).values(),
    )
